/**
 * Encodes frames as text. A change for many subscribers is encoded once: its frames differ only in the subscription number,
 * which comes first.
 *
 * The encoded text is cached as long as the change exists.
 */

import type { ServerFrame } from "./frame.ts";

type Changes = ServerFrame & { readonly type: "changes" };

interface Encoded {
  /** The source of the text, to detect a different frame with the same ops. */
  readonly from: Omit<Changes, "type" | "sub">;
  /** Without its first brace. */
  readonly tail: string;
  /** The last complete frame: clients often choose the same number. */
  sub: number;
  text: string;
}

const encoded = new WeakMap<Changes["ops"], Encoded>();

export function encodeFrame(frame: ServerFrame): string {
  return frame.type === "changes" ? encodeChanges(frame) : JSON.stringify(frame);
}

function encodeChanges({ type: _type, sub, ...from }: Changes): string {
  let known = encoded.get(from.ops);
  if (!known || !isSame(known.from, from)) {
    const tail = JSON.stringify(from).slice(1);
    known = { from, tail, sub, text: head(sub) + tail };
    encoded.set(from.ops, known);
  } else if (known.sub !== sub) {
    known.sub = sub;
    known.text = head(sub) + known.tail;
  }
  return known.text;
}

function head(sub: number): string {
  return `{"type":"changes","sub":${sub},`;
}

function isSame(a: Encoded["from"], b: Encoded["from"]): boolean {
  return (
    a.seq === b.seq &&
    a.ops === b.ops &&
    a.blocks === b.blocks &&
    a.turns === b.turns &&
    a.record === b.record
  );
}
