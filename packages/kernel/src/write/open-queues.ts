/**
 * The write queues of the conversations that are open here. Their number is bounded: the least recently used are dropped first,
 * except those that someone follows or that have work to do.
 */

import type { Change } from "../model/change.ts";
import type { ConversationId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { Env } from "../ports/env.ts";
import type { Store } from "../ports/store.ts";
import type { TextCache } from "../text/text-cache.ts";
import { Scheduler } from "./scheduler.ts";
import { WriteQueue } from "./write-queue.ts";

/** The share of queues that stay when idle ones are dropped. */
const KEPT_SHARE = 0.75;

export class OpenQueues {
  readonly #env: Env;
  readonly #store: Store;
  readonly #texts: TextCache;
  readonly #emit: (change: Change) => void;
  readonly #scheduler: Scheduler;
  readonly #queues = new Map<ConversationId, WriteQueue>();
  #uses = 0;
  /** Followed conversations, with the number of followers. Empty with a single node. */
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

  /** The seq of each open conversation, as known here. */
  seqs(): ReadonlyMap<ConversationId, number> {
    const seqs = new Map<ConversationId, number>();
    for (const [id, { record }] of this.#queues) seqs.set(id, record?.seq ?? 0);
    return seqs;
  }

  /** Keeps the queue open until the returned function is called. */
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

  /** Waits until nothing is in flight. */
  async drain(): Promise<void> {
    await Promise.all(
      [...this.#queues.values()]
        .filter((queue) => !queue.idle)
        .map((queue) => queue.write({ agent: "kernel", plan: () => null })),
    );
  }

  /** Drops many at once, because it has to look at all of them. */
  #forgetIdle(): void {
    const idle = [...this.#queues.values()].filter(
      (queue) => queue.idle && !this.#followed.has(queue.conversation),
    );
    idle.sort((a, b) => a.usedAt - b.usedAt);
    const spare = this.#queues.size - limits.openConversations * KEPT_SHARE;
    for (const queue of idle.slice(0, spare)) this.#queues.delete(queue.conversation);
  }
}
