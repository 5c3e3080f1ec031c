/**
 * Sends a watching client the changed records of all conversations, for its list. Records are gathered for a moment, and only
 * the newest of each is sent. It sends no blocks.
 *
 * A slow client gets records later, but never more than one per conversation.
 */

import type { Change } from "../../model/change.ts";
import type { Conversation } from "../../model/conversation.ts";
import type { ConversationId } from "../../model/ids.ts";
import { limits } from "../../model/limits.ts";
import type { Env } from "../../ports/env.ts";
import type { ServerFrame } from "../frame.ts";
import type { Throttle } from "./throttle.ts";

interface WatchOptions {
  readonly env: Env;
  readonly throttle: Throttle;
  readonly send: (frame: ServerFrame) => void;
  /** What was sent but has not left yet. */
  readonly buffered: () => number;
  /** Runs background work. */
  readonly guard: (run: () => void) => void;
}

export class RecordWatch {
  readonly #options: WatchOptions;
  /** Changed records that were not sent yet; undefined if the client does not watch. */
  #changed: Map<ConversationId, Conversation> | undefined;
  #isClosed = false;
  #cancel: (() => void) | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#changed ??= new Map();
  }

  close(): void {
    this.#isClosed = true;
    this.#options.throttle.leave(this.#sendInRound);
    this.#cancel?.();
  }

  onCommit({ conversation, record, ops }: Change): void {
    if (!this.#changed) return;
    this.#changed.set(conversation, record);
    // The list shows which conversations are running, next to the conversation itself: it must not lag behind.
    if (ops.some(({ body }) => body.type === "turn")) this.#options.throttle.join(this.#sendInRound);
    else this.#arm();
  }

  readonly #sendInRound = (): void => {
    this.#cancel?.();
    this.#options.guard(() => this.#send());
  };

  #arm(): void {
    if (this.#isClosed) return;
    const { env, guard } = this.#options;
    this.#cancel ??= env.after(limits.watchMs, () => guard(() => this.#send()));
  }

  #send(): void {
    this.#cancel = undefined;
    if (!this.#changed || this.#changed.size === 0) return;
    if (this.#options.buffered() > limits.queueChars) return this.#arm();
    const records = [...this.#changed.values()];
    this.#changed.clear();
    this.#options.send({ type: "records", records });
  }
}
