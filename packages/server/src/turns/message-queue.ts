/**
 * The queued messages of this node, by conversation, in order. In memory only: waiting.ts stores their blocks.
 */

import type { ConversationId } from "@blockyard/kernel";
import type { Queued } from "./steering.ts";

export class MessageQueue {
  readonly #queues = new Map<ConversationId, readonly Queued[]>();

  add(conversation: ConversationId, queued: Queued): void {
    this.#set(conversation, [...this.#of(conversation), queued]);
  }

  /** Before all others. */
  putFirst(conversation: ConversationId, queued: readonly Queued[]): void {
    this.#set(conversation, [...queued, ...this.#of(conversation)]);
  }

  first(conversation: ConversationId): Queued | undefined {
    return this.#of(conversation)[0];
  }

  removeFirst(conversation: ConversationId): void {
    this.#set(conversation, this.#of(conversation).slice(1));
  }

  take(conversation: ConversationId, isMeant: (each: Queued) => boolean = () => true): readonly Queued[] {
    const all = this.#of(conversation);
    this.#set(
      conversation,
      all.filter((each) => !isMeant(each)),
    );
    return all.filter(isMeant);
  }

  /** All of all conversations. */
  takeAll(): readonly Queued[] {
    const all = [...this.#queues.values()].flat();
    this.#queues.clear();
    return all;
  }

  /** `order`: the ids of turns. */
  sort(conversation: ConversationId, order: readonly string[]): void {
    const rank = ({ id }: Queued) => order.indexOf(id);
    this.#set(
      conversation,
      this.#of(conversation).toSorted((a, b) => rank(a) - rank(b)),
    );
  }

  #of(conversation: ConversationId): readonly Queued[] {
    return this.#queues.get(conversation) ?? [];
  }

  #set(conversation: ConversationId, queue: readonly Queued[]): void {
    if (queue.length === 0) this.#queues.delete(conversation);
    else this.#queues.set(conversation, queue);
  }
}
