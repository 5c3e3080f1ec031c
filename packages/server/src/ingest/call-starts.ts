/**
 * When the calls of an agent start. An agent's stream says that a call's input is whole, and only then, if at all, that it asks
 * for leave: a moment later, in another line. So a start is held back for that moment. A call that asks starts when it has
 * its leave (turns.ts writes that with the answer); any other one at the end of the moment, or as soon as something comes of it.
 *
 * Nothing in the stream of Claude Code says that a call has begun to run, and its hooks may take longer than the moment. So a
 * call may be told as started and ask then: it waits from there on, and starts once more when it has its leave. Of an agent
 * that asks nobody, nothing is held back.
 */

import { askOf, type BlockEvent, type BlockKey, type Env } from "@blockyard/kernel";
import { START_HELD_MS } from "./limits.ts";

type Meta = BlockEvent & { readonly type: "block-meta" };

export class CallStarts {
  readonly #env: Env;
  readonly #write: (event: BlockEvent) => void;
  readonly #neverAsks: boolean;
  /** Calls that may still ask, and how to wait no longer. */
  readonly #held = new Map<BlockKey, () => void>();

  constructor(env: Env, write: (event: BlockEvent) => void, neverAsks = false) {
    this.#env = env;
    this.#write = write;
    this.#neverAsks = neverAsks;
  }

  /** The events to write now. */
  take(events: readonly BlockEvent[]): readonly BlockEvent[] {
    return this.#neverAsks ? events : events.flatMap((event) => this.#one(event));
  }

  /** Nothing more comes. */
  end(): readonly BlockEvent[] {
    return [...this.#held.keys()].flatMap((key) => this.#started(key));
  }

  #one(event: BlockEvent): readonly BlockEvent[] {
    if (event.type === "block-start" && event.parent !== undefined)
      return [...this.#started(event.parent), event];
    if (event.type === "block-end") return [...this.#started(event.key), event];
    if (event.type !== "block-meta") return [event];
    const { stage, ...rest } = event.metadata;
    const ask = askOf(rest);
    if (ask?.state === "asked") {
      this.#forget(event.key);
      return [{ ...event, metadata: rest }];
    }
    if (rest["waiting"] !== undefined) return [...this.#started(event.key), event];
    if (stage !== "running" || ask !== undefined) return [event];
    this.#hold(event.key);
    return Object.keys(rest).length === 0 ? [] : [{ ...event, metadata: rest }];
  }

  #hold(key: BlockKey): void {
    this.#forget(key);
    const cancel = this.#env.after(START_HELD_MS, () => {
      for (const event of this.#started(key)) this.#write(event);
    });
    this.#held.set(key, cancel);
  }

  #started(key: BlockKey): readonly Meta[] {
    if (!this.#forget(key)) return [];
    return [{ type: "block-meta", key, metadata: { stage: "running" } }];
  }

  #forget(key: BlockKey): boolean {
    this.#held.get(key)?.();
    return this.#held.delete(key);
  }
}
