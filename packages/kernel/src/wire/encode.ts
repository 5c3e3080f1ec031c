/**
 * Frames as encoded text. A change that goes to many subscribers is encoded once: the frames differ only in the number
 * of each client's subscription, which comes before the shared part.
 *
 * The encoded text is cached for as long as the change itself lives.
 */

import type { ServerFrame } from "./frame.ts";

type Changes = ServerFrame & { readonly type: "changes" };

interface Encoded {
  /** What the text was made of, to be sure that it is asked for the same. */
  readonly from: Omit<Changes, "type" | "sub">;
  /** Without its first brace. */
  readonly tail: string;
  /** The last frame that was made of it; clients often choose the same number. */
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
