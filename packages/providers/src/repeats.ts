/**
 * The same error again and again is one error that says how often: of error blocks that follow each other with the same
 * words, the first stays open and counts in `times`, the others make no block.
 *
 * Between any adapter and whoever takes its events. Holds at most one `block-end` back, until the next event shows
 * whether the error comes again; `end` gives it out.
 */

import type { BlockEvent, BlockKey } from "@blockyard/kernel";

type Start = Extract<BlockEvent, { type: "block-start" }>;
type End = Extract<BlockEvent, { type: "block-end" }>;

interface Held {
  readonly key: BlockKey;
  readonly look: string;
  end: End | undefined;
  times: number;
}

export class Repeats {
  /** The error that is open, or has ended and may come again. */
  #held: Held | undefined;
  /** A repeat: its events are dropped. */
  #again: BlockKey | undefined;

  push(event: BlockEvent, out: BlockEvent[]): void {
    if (event.type === "message-usage") out.push(event);
    else if (event.type === "block-start") this.#start(event, out);
    else if (event.type === "block-end") this.#end(event, out);
    else if ("key" in event && event.key === this.#again) return;
    else {
      if (!("key" in event && event.key === this.#held?.key)) this.end(out);
      out.push(event);
    }
  }

  /** Nothing more comes. */
  end(out: BlockEvent[]): void {
    if (this.#held?.end !== undefined) out.push(this.#held.end);
    this.#held = undefined;
  }

  #start(event: Start, out: BlockEvent[]): void {
    const look = event.kind === "error" ? lookOf(event) : "";
    const held = this.#held;
    if (look !== "" && held?.end !== undefined && held.look === look) {
      held.times++;
      this.#again = event.key;
      out.push({ type: "block-meta", key: held.key, metadata: { times: held.times } });
      return;
    }
    this.end(out);
    out.push(event);
    if (look !== "") this.#held = { key: event.key, look, end: undefined, times: 1 };
  }

  #end(event: End, out: BlockEvent[]): void {
    if (event.key === this.#again) {
      this.#again = undefined;
      // How the last of them ended counts.
      if (this.#held !== undefined) this.#held.end = { ...event, key: this.#held.key };
      return;
    }
    if (event.key === this.#held?.key && event.text === undefined) {
      this.#held.end = event;
      return;
    }
    this.end(out);
    out.push(event);
  }
}

export function withoutRepeats(events: readonly BlockEvent[]): readonly BlockEvent[] {
  const repeats = new Repeats();
  const out: BlockEvent[] = [];
  for (const event of events) repeats.push(event, out);
  repeats.end(out);
  return out;
}

function lookOf({ text, parent, role, metadata }: Start): string {
  return text === undefined || text === ""
    ? ""
    : JSON.stringify([text, parent, role, metadata.code, metadata.notice]);
}
