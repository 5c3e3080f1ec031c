/**
 * Conversations in which something waits here for another node's turn. Each is followed until no other node runs a turn
 * in it; then the waiting callers are notified once. It starts nothing itself.
 */

import { type ConversationId, isProblem, type Kernel } from "@blockyard/kernel";
import { AWAITED_LOOK_MS } from "./limits.ts";
import type { RemoteTurns } from "./remote-turns.ts";

export class AwaitedTurns {
  readonly #kernel: Kernel;
  readonly #remote: RemoteTurns;
  readonly #onOver: (conversation: ConversationId) => void;
  /** With how to stop following them. */
  readonly #awaited = new Map<ConversationId, () => void>();
  #isClosed = false;

  constructor(kernel: Kernel, remote: RemoteTurns, onOver: (conversation: ConversationId) => void) {
    this.#kernel = kernel;
    this.#remote = remote;
    this.#onOver = onOver;
  }

  has(conversation: ConversationId): boolean {
    return this.#awaited.has(conversation);
  }

  async add(conversation: ConversationId): Promise<void> {
    if (this.#awaited.has(conversation)) return;
    this.#awaited.set(conversation, () => undefined);
    const unfollow = await this.#kernel.follow(conversation);
    if (isProblem(unfollow)) return void this.#awaited.delete(conversation);
    this.#awaited.set(conversation, unfollow);
    this.#kernel.env.soon(() => void this.#look(conversation));
  }

  /** Turns of a conversation have changed. */
  onChange(conversation: ConversationId): void {
    if (this.#awaited.has(conversation)) void this.#look(conversation);
  }

  close(): void {
    this.#isClosed = true;
    for (const unfollow of this.#awaited.values()) unfollow();
  }

  async #look(conversation: ConversationId): Promise<void> {
    const running = await this.#remote.runningIn(conversation);
    const unfollow = this.#awaited.get(conversation);
    if (unfollow === undefined || this.#isClosed) return;
    if (isProblem(running))
      return void this.#kernel.env.after(AWAITED_LOOK_MS, () => void this.#look(conversation));
    if (running.length > 0) return;
    this.#awaited.delete(conversation);
    unfollow();
    this.#onOver(conversation);
  }
}
