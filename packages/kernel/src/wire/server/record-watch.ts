/**
 * The records of conversations that a client watches, for its list: the newest of each, gathered for a moment. It tells
 * nothing of blocks.
 *
 * A client that reads slowly gets records later, never more than one of each conversation.
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
  /** What was sent and has not left yet. */
  readonly buffered: () => number;
  /** Runs what goes on by itself. */
  readonly guard: (run: () => void) => void;
}

export class RecordWatch {
  readonly #options: WatchOptions;
  /** Records that changed and have not been told; undefined where nobody watches. */
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
    this.#options.throttle.leave(this.#tellInRound);
    this.#cancel?.();
  }

  onCommit({ conversation, record, ops }: Change): void {
    if (!this.#changed) return;
    this.#changed.set(conversation, record);
    // Whether something runs is seen beside the conversation itself: the list does not lag behind it.
    if (ops.some(({ body }) => body.type === "turn")) this.#options.throttle.join(this.#tellInRound);
    else this.#arm();
  }

  readonly #tellInRound = (): void => {
    this.#cancel?.();
    this.#options.guard(() => this.#tell());
  };

  #arm(): void {
    if (this.#isClosed) return;
    const { env, guard } = this.#options;
    this.#cancel ??= env.after(limits.watchMs, () => guard(() => this.#tell()));
  }

  #tell(): void {
    this.#cancel = undefined;
    if (!this.#changed || this.#changed.size === 0) return;
    if (this.#options.buffered() > limits.queueChars) return this.#arm();
    const records = [...this.#changed.values()];
    this.#changed.clear();
    this.#options.send({ type: "records", records });
  }
}
