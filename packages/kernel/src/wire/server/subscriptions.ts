/**
 * The conversations that one client follows: opens their feeds, gathers their changes and sends them.
 *
 * While the client keeps up (the pipe is empty), changes are sent in the kernel's next round (see throttle.ts). Otherwise they are
 * gathered for `limits.batchMs`, so that the pipe gets fewer and larger frames. What waits for one client is bounded (see
 * outbox.ts): beyond that its connection ends.
 */

import type { Change } from "../../model/change.ts";
import type { Conversation, Deleted } from "../../model/conversation.ts";
import type { Cursor } from "../../model/cursor.ts";
import type { BlockId, ConversationId } from "../../model/ids.ts";
import { limits } from "../../model/limits.ts";
import { isProblem, type Problem, problem } from "../../model/problem.ts";
import { deletedProblem } from "../../write/deletions.ts";
import type { Kernel } from "../../write/kernel.ts";
import { type ByeCode, type ClientFrame, changesOf, type Refused, type ServerFrame } from "../frame.ts";
import { Feed } from "./feed.ts";
import { Outbox } from "./outbox.ts";
import { type Throttle, throttleOf } from "./throttle.ts";

interface SubscriptionsOptions {
  readonly kernel: Kernel;
  readonly send: (frame: ServerFrame) => void;
  /** What was sent but has not left yet. */
  readonly buffered: () => number;
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T | Problem>;
  readonly cursorsOf: (conversation: ConversationId) => readonly Cursor[] | undefined;
  /** Runs background work: an exception ends this connection and no other. */
  readonly guard: (run: () => void) => void;
  readonly bye: (code: ByeCode, message: string) => void;
}

interface Subscription {
  readonly sub: number;
  readonly feed: Feed;
  readonly outbox: Outbox;
  /** The seq that the client has reached with the frames sent so far. */
  seq: number;
  isLive: boolean;
  /** Resolves when the verdict has been sent. */
  opening: Promise<void>;
}

/** Its subscription was refused; the client retries that by itself. */
const NOT_OPEN = problem("unavailable", "the conversation is not open on this connection");

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #kernel: Kernel;
  readonly #throttle: Throttle;
  readonly #subscriptions = new Map<number, Subscription>();
  #cancelFlush: (() => void) | undefined;
  #isClosed = false;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    this.#kernel = options.kernel;
    this.#throttle = throttleOf(options.kernel);
  }

  async open(frame: ClientFrame & { type: "subscribe" }): Promise<void> {
    const { sub, conversation } = frame;
    if (this.#subscriptions.size >= limits.subscriptions) {
      const message = `a connection has at most ${limits.subscriptions} subscriptions`;
      return this.refuse(sub, "subscribe", problem("busy", message));
    }
    const outbox = new Outbox();
    const deliver = (change: Change) => this.#deliver(subscription, change);
    const feed = new Feed(this.#kernel, { conversation, isBrief: frame.brief === true }, deliver);
    const subscription: Subscription = {
      sub,
      feed,
      outbox,
      seq: 0,
      isLive: false,
      opening: Promise.resolve(),
    };
    this.#subscriptions.get(sub)?.feed.close();
    this.#subscriptions.set(sub, subscription);
    const opening = this.#openFeed(subscription, frame);
    subscription.opening = opening.catch(() => undefined); // answers wait for it, even if it fails
    await opening.catch((error) => {
      this.#drop(subscription);
      throw error;
    });
  }

  close(sub: number): void {
    this.#subscriptions.get(sub)?.feed.close();
    this.#subscriptions.delete(sub);
  }

  /** The connection has ended. */
  closeAll(): void {
    this.#isClosed = true;
    this.#cancelFlush?.();
    this.#throttle.leave(this.#sendInRound);
    for (const { feed } of this.#subscriptions.values()) feed.close();
    this.#subscriptions.clear();
  }

  /** Resolves when all pending verdicts have been sent. */
  async opened(): Promise<void> {
    await Promise.all([...this.#subscriptions.values()].map(({ opening }) => opening));
  }

  async page(frame: ClientFrame & { type: "page" }): Promise<void> {
    const subscription = this.#subscriptions.get(frame.sub);
    if (!subscription) return this.refuse(frame.sub, "page", NOT_OPEN);
    const page = await this.#options.inTurn(() => subscription.feed.page(frame.before, frame.limit, true));
    if (isProblem(page)) return this.refuse(frame.sub, "page", page);
    this.#send({ type: "page", sub: frame.sub, ...page });
  }

  refuse(sub: number, of: Refused, why: Problem, blocks?: readonly BlockId[]): void {
    this.#send({ type: "refused", sub, of, problem: why, ...(blocks ? { blocks } : {}) });
  }

  onCommit(change: Change): void {
    if (change.record.deleted) this.#endDeleted(change.record, change.record.deleted);
    for (const { feed } of this.#subscriptions.values()) feed.onCommit(change);
  }

  /** Sends gathered changes now, unless the pipe is full. */
  flush(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    for (const subscription of this.#subscriptions.values()) this.#flushOne(subscription);
  }

  sendPresence(conversation: ConversationId): void {
    for (const subscription of this.#subscriptions.values()) {
      if (subscription.feed.conversation === conversation && subscription.isLive)
        this.#sendPresence(subscription);
    }
  }

  #drop(subscription: Subscription): void {
    subscription.feed.close();
    if (this.#subscriptions.get(subscription.sub) === subscription)
      this.#subscriptions.delete(subscription.sub);
  }

  async #openFeed(subscription: Subscription, frame: ClientFrame & { type: "subscribe" }): Promise<void> {
    const { sub, feed, outbox } = subscription;
    const { since } = frame;
    const opening = await this.#options.inTurn(() => feed.open(since, frame.blocks ?? limits.windowBlocks));
    if (this.#isClosed || this.#subscriptions.get(sub) !== subscription) return;
    if (isProblem(opening)) {
      this.#drop(subscription);
      return this.refuse(sub, "subscribe", opening);
    }
    const { epoch } = this.#kernel.store;
    const { change, ...verdict } = opening;
    subscription.seq = opening.seq;
    this.#send({ type: "verdict", sub, epoch, ...verdict });
    subscription.isLive = true;
    if (change) outbox.add(change);
    feed.live(change ? change.seq : opening.seq);
    this.#flushOne(subscription);
    this.#sendPresence(subscription);
  }

  /** Ends subscriptions of a deleted conversation, with the reason. */
  #endDeleted({ id }: Conversation, deleted: Deleted): void {
    for (const subscription of [...this.#subscriptions.values()]) {
      if (subscription.feed.conversation !== id) continue;
      this.#drop(subscription);
      this.refuse(subscription.sub, "subscribe", deletedProblem(id, deleted));
    }
  }

  #deliver(subscription: Subscription, change: Change): void {
    subscription.outbox.add(change);
    if (subscription.outbox.chars > limits.queueChars) this.#makeRoom(subscription);
    if (!this.#isClosed && !this.#cancelFlush) this.#throttle.join(this.#sendInRound);
  }

  readonly #sendInRound = (): void => {
    this.#options.guard(() => {
      if (this.#options.buffered() > 0) this.#gather();
      else this.flush();
    });
  };

  /** Too much waits for a slow client: coalesces it, or ends the connection. */
  #makeRoom(subscription: Subscription): void {
    subscription.outbox.coalesce();
    if (subscription.outbox.chars > limits.cutChars) {
      this.#options.bye("slow", "changes arrived faster than they were read; reconnect and resume");
    }
  }

  #gather(): void {
    if (this.#isClosed) return;
    const { env } = this.#kernel;
    this.#cancelFlush ??= env.after(limits.batchMs, () => this.#options.guard(() => this.flush()));
  }

  #flushOne(subscription: Subscription): void {
    if (this.#isClosed || !subscription.isLive || subscription.outbox.isEmpty) return;
    if (this.#options.buffered() > limits.queueChars) return this.#gather();
    const change = subscription.outbox.take();
    if (!change) return;
    this.#send({ type: "changes", sub: subscription.sub, ...changesOf(change) });
    subscription.seq = change.seq;
  }

  #sendPresence({ sub, feed: { conversation } }: Subscription): void {
    const cursors = this.#options.cursorsOf(conversation);
    if (cursors) this.#send({ type: "presence", sub, conversation, cursors });
  }

  #send(frame: ServerFrame): void {
    this.#options.send(frame);
  }
}
