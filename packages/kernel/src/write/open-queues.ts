/**
 * The write queues of the conversations that are open here, bounded in number: the least recently used leaves first. A
 * queue with followers or pending work stays.
 */

import type { Change } from "../model/change.ts";
import type { ConversationId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { Env } from "../ports/env.ts";
import type { Store } from "../ports/store.ts";
import type { TextCache } from "../text/text-cache.ts";
import { Scheduler } from "./scheduler.ts";
import { WriteQueue } from "./write-queue.ts";

/** Of the queues that may be open, those that stay when the others are let go of. */
const KEPT_SHARE = 0.75;

export class OpenQueues {
  readonly #env: Env;
  readonly #store: Store;
  readonly #texts: TextCache;
  readonly #emit: (change: Change) => void;
  readonly #scheduler: Scheduler;
  readonly #queues = new Map<ConversationId, WriteQueue>();
  #uses = 0;
  /** Conversations of which somebody must hear everything, with how many do. Empty where one node has the store. */
  readonly #followed = new Map<ConversationId, number>();

  constructor(env: Env, store: Store, texts: TextCache, emit: (change: Change) => void) {
    this.#env = env;
    this.#store = store;
    this.#texts = texts;
    this.#emit = emit;
    this.#scheduler = new Scheduler(env);
  }

  get(conversation: ConversationId): WriteQueue | undefined {
    return this.#queues.get(conversation);
  }

  open(conversation: ConversationId): WriteQueue {
    const known = this.#queues.get(conversation);
    if (known) {
      known.usedAt = ++this.#uses;
      return known;
    }
    if (this.#queues.size >= limits.openConversations) this.#forgetIdle();
    const queue = new WriteQueue(
      conversation,
      this.#env,
      this.#store,
      this.#texts,
      this.#scheduler,
      this.#emit,
    );
    queue.usedAt = ++this.#uses;
    this.#queues.set(conversation, queue);
    return queue;
  }

  forget(conversation: ConversationId): void {
    this.#queues.delete(conversation);
  }

  /** Where each conversation stands, as far as is known here. */
  seqs(): ReadonlyMap<ConversationId, number> {
    const seqs = new Map<ConversationId, number>();
    for (const [id, { record }] of this.#queues) seqs.set(id, record?.seq ?? 0);
    return seqs;
  }

  /** Its queue stays until the returned function is called. */
  follow(id: ConversationId): () => void {
    this.#followed.set(id, (this.#followed.get(id) ?? 0) + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = (this.#followed.get(id) ?? 1) - 1;
      if (left === 0) this.#followed.delete(id);
      else this.#followed.set(id, left);
    };
  }

  isFollowed(id: ConversationId): boolean {
    return this.#followed.has(id);
  }

  /** Waits until nothing is under way. */
  async drain(): Promise<void> {
    await Promise.all(
      [...this.#queues.values()]
        .filter((queue) => !queue.idle)
        .map((queue) => queue.write({ agent: "kernel", plan: () => null })),
    );
  }

  /** Lets go of a good part at once: looking at all of them takes time. */
  #forgetIdle(): void {
    const idle = [...this.#queues.values()].filter(
      (queue) => queue.idle && !this.#followed.has(queue.conversation),
    );
    idle.sort((a, b) => a.usedAt - b.usedAt);
    const spare = this.#queues.size - limits.openConversations * KEPT_SHARE;
    for (const queue of idle.slice(0, spare)) this.#queues.delete(queue.conversation);
  }
}
