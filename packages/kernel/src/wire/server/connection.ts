/**
 * The server's end of one connection: a state machine over frames. It knows no socket: whoever owns one gives it an
 * in-order pipe. One bad client never hurts another: what it sends wrong ends its own connection and nothing else.
 *
 * Changes leave in the kernel's next round (see throttle.ts) as long as the client keeps up, which means that nothing of what
 * was sent before waits in the pipe. While something does, they are gathered for `limits.batchMs`, so that the pipe gets
 * fewer and larger frames.
 *
 * Bounds: subscriptions, calls under way, what waits to be sent (see outbox.ts). Nothing is answered before `hello`.
 */

import type { Change } from "../../model/change.ts";
import type { Conversation, Deleted } from "../../model/conversation.ts";
import type { Cursor } from "../../model/cursor.ts";
import type { AgentId, BlockId, ConversationId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import { limits } from "../../model/limits.ts";
import { isProblem, type Problem, problem } from "../../model/problem.ts";
import type { Env } from "../../ports/env.ts";
import type { Text } from "../../text/text.ts";
import type { CallerRole } from "../../tools/access.ts";
import { deletedProblem } from "../../write/deletions.ts";
import type { Kernel } from "../../write/kernel.ts";
import {
  type ByeCode,
  type ClientFrame,
  changesOf,
  clientFrame,
  PROTOCOL,
  type Refused,
  type ServerFrame,
} from "../frame.ts";
import { Feed } from "./feed.ts";
import { Outbox } from "./outbox.ts";
import { RecordWatch } from "./record-watch.ts";
import { SyncedBlocks } from "./synced-blocks.ts";
import { type Throttle, throttleOf } from "./throttle.ts";

export interface Pipe {
  send(frame: ServerFrame): void;
  /** What was sent and has not left yet, in characters or bytes. */
  buffered(): number;
  close(code: ByeCode): void;
}

/** Where cursors come from; ephemeral, so it is not the kernel's. */
export interface Presence {
  listen(listener: (conversation: ConversationId) => void): () => void;
  of(conversation: ConversationId): readonly Cursor[];
}

export interface ConnectionOptions {
  readonly kernel: Kernel;
  readonly pipe: Pipe;
  readonly agent: AgentId;
  readonly role: CallerRole;
  /** Runs a tool of the table as this caller. */
  readonly call: (tool: string, input: unknown, key: string | undefined) => Promise<Json | Problem>;
  /** Runs what costs something when it is this caller's turn; at once, where nobody takes turns. */
  readonly inTurn?: <T>(work: () => Promise<T>) => Promise<T | Problem>;
  /** Why this caller may store nothing now; nobody is kept from it, where this is not said. */
  readonly mayStore?: () => Problem | undefined;
  /** How long an input of a tool may be; a problem where the call is refused anyway. */
  readonly callBytes?: (tool: string) => number | Problem;
  readonly presence?: Presence;
  /** Told what went wrong inside; the client only learns that it did. */
  readonly onFault?: (error: unknown) => void;
}

interface Subscription {
  readonly sub: number;
  readonly feed: Feed;
  readonly outbox: Outbox;
  /** The cursor that the client has after the frames sent so far. */
  seq: number;
  isLive: boolean;
  /** Settled when the verdict has been sent. */
  opening: Promise<void>;
}

const MAX_CALLS = 256;
/** What is around a call. */
const ENVELOPE_BYTES = 1024;
/** After these a client comes back: their reasons can pass. */
const RESUMABLE: readonly ByeCode[] = ["slow", "closing", "silent", "fault"];
/** It was refused, and is asked for again by itself. */
const NOT_OPEN = problem("unavailable", "the conversation is not open on this connection");

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #kernel: Kernel;
  readonly #env: Env;
  readonly #throttle: Throttle;
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #synced: SyncedBlocks;
  readonly #watch: RecordWatch;
  readonly #ends: (() => void)[] = [];
  #greeted = false;
  #closed = false;
  #calls = 0;
  #working = 0;
  #cancelFlush: (() => void) | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#kernel = options.kernel;
    this.#env = options.kernel.env;
    this.#throttle = throttleOf(options.kernel);
    const { kernel, agent, role } = options;
    const send = (frame: ServerFrame) => this.#send(frame);
    const inTurn = <T>(work: () => Promise<T>) => this.#inTurn(work);
    const mayStore = options.mayStore ?? (() => undefined);
    this.#synced = new SyncedBlocks({ kernel, agent, role, send, inTurn, mayStore });
    this.#watch = new RecordWatch({
      env: this.#env,
      throttle: this.#throttle,
      send,
      buffered: () => options.pipe.buffered(),
      guard: (run) => this.#guard(run),
    });
    this.#ends.push(this.#kernel.listen((told) => this.#guard(() => this.#onCommit(told))));
    if (options.presence)
      this.#ends.push(options.presence.listen((conversation) => this.#tellPresenceSoon(conversation)));
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** What the client asked for and is being done now, calls aside: those have a bound of their own. */
  get working(): number {
    return this.#working - this.#calls;
  }

  /** Whether the client has a block open as a CRDT document. */
  hasOpen(block: BlockId): boolean {
    return this.#synced.has(block);
  }

  /** One message from the client, already parsed as JSON of so many bytes. */
  receive(message: unknown, bytes = 0): void {
    if (this.#closed) return;
    const parsed = clientFrame.safeParse(message);
    if (!parsed.success)
      return this.bye("invalid", `not a frame: ${parsed.error.issues[0]?.message ?? "unknown"}`);
    const frame = parsed.data;
    if (!this.#greeted && frame.type !== "hello")
      return this.bye("protocol", "the first frame must be hello");
    const tooLong = frame.type === "call" ? this.#tooLong(frame.tool, bytes) : undefined;
    if (tooLong && frame.type === "call")
      return this.#send({ type: "answer", id: frame.id, problem: tooLong });
    this.#dispatch(frame);
  }

  #tooLong(tool: string, bytes: number): Problem | undefined {
    const maxBytes = bytes > limits.callBytes ? this.#options.callBytes?.(tool) : undefined;
    if (maxBytes === undefined || isProblem(maxBytes) || bytes <= maxBytes + ENVELOPE_BYTES) return undefined;
    return problem("too_large", `a call of ${tool} is limited to ${maxBytes} bytes`, { max_bytes: maxBytes });
  }

  /** Ends the connection with a last word. */
  bye(code: ByeCode, message: string): void {
    if (this.#closed) return;
    this.#send({
      type: "bye",
      code,
      resumable: RESUMABLE.includes(code),
      message,
    });
    this.close();
    this.#options.pipe.close(code);
  }

  /** The pipe is gone. */
  close(): void {
    this.#closed = true;
    this.#cancelFlush?.();
    this.#throttle.leave(this.#sendInRound);
    this.#watch.close();
    for (const end of this.#ends.splice(0)) end();
    for (const { feed } of this.#subscriptions.values()) feed.close();
    this.#subscriptions.clear();
    this.#synced.closeAll();
  }

  /** Sends what is gathered, also behind what still waits in the pipe, as far as that is not full. */
  flush(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    for (const subscription of this.#subscriptions.values()) this.#flushOne(subscription);
  }

  #dispatch(frame: ClientFrame): void {
    switch (frame.type) {
      case "hello":
        return this.#hello(frame.protocol);
      case "subscribe":
        return this.#start(this.#subscribe(frame), (why) => this.#refuse(frame.sub, "subscribe", why));
      case "unsubscribe":
        this.#subscriptions.get(frame.sub)?.feed.close();
        this.#subscriptions.delete(frame.sub);
        return;
      case "page":
        return this.#start(this.#page(frame), (why) => this.#refuse(frame.sub, "page", why));
      case "want":
        return this.#start(this.#want(frame), (why) => this.#refuse(frame.sub, "want", why, frame.blocks));
      case "call":
      case "update":
        return this.#start(frame.type === "call" ? this.#call(frame) : this.#update(frame), (why) =>
          this.#send({ type: "answer", id: frame.id, problem: why }),
        );
      case "sync":
        return this.#start(this.#synced.open(frame), (why) =>
          this.#send({ type: "state", block: frame.block, problem: why }),
        );
      case "unsync":
        return this.#synced.close(frame.block);
      case "watch":
        return this.#watch.start();
      case "ping":
        return this.#send({ type: "pong", n: frame.n });
    }
  }

  /** Work that goes on by itself; a bug in it ends this one request: whoever asked is told, and may ask again. */
  #start(work: Promise<void>, refuse: (why: Problem) => void): void {
    this.#working++;
    work
      .catch((error) => {
        this.#options.onFault?.(error);
        refuse(problem("unavailable", "internal error; see the server's log"));
      })
      .finally(() => this.#working--);
  }

  #refuse(sub: number, of: Refused, why: Problem, blocks?: readonly BlockId[]): void {
    this.#send({ type: "refused", sub, of, problem: why, ...(blocks ? { blocks } : {}) });
  }

  #hello(protocol: number): void {
    if (protocol !== PROTOCOL)
      return this.bye("protocol", `this server speaks protocol ${PROTOCOL}, not ${protocol}`);
    if (this.#greeted) return this.bye("protocol", "hello must be sent only once");
    this.#greeted = true;
    const { agent, role } = this.#options;
    this.#send({ type: "hello", protocol: PROTOCOL, epoch: this.#kernel.store.epoch, agent, role });
  }

  async #subscribe(frame: ClientFrame & { type: "subscribe" }): Promise<void> {
    const { sub, conversation } = frame;
    if (this.#subscriptions.size >= limits.subscriptions) {
      const message = `a connection has at most ${limits.subscriptions} subscriptions`;
      return this.#refuse(sub, "subscribe", problem("busy", message));
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
    subscription.opening = opening.catch(() => undefined); // answers wait for it, whatever becomes of it
    await opening.catch((error) => {
      this.#drop(subscription);
      throw error;
    });
  }

  #drop(subscription: Subscription): void {
    subscription.feed.close();
    if (this.#subscriptions.get(subscription.sub) === subscription)
      this.#subscriptions.delete(subscription.sub);
  }

  async #openFeed(subscription: Subscription, frame: ClientFrame & { type: "subscribe" }): Promise<void> {
    const { sub, feed, outbox } = subscription;
    const { since } = frame;
    const opening = await this.#inTurn(() => feed.open(since, frame.blocks ?? limits.windowBlocks));
    if (this.#closed || this.#subscriptions.get(sub) !== subscription) return;
    if (isProblem(opening)) {
      this.#drop(subscription);
      return this.#refuse(sub, "subscribe", opening);
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

  #inTurn<T>(work: () => Promise<T>): Promise<T | Problem> {
    return this.#options.inTurn ? this.#options.inTurn(work) : work();
  }

  /** Until it is this caller's turn. One that has too much waiting looks again. */
  async #turn(): Promise<void> {
    while (!this.#closed && isProblem(await this.#inTurn(async () => null)))
      await new Promise<void>((resume) => this.#env.after(limits.batchMs, resume));
  }

  /** What goes on by itself. What a bug in it has kept from this client it gets when it resumes; others go on. */
  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#options.onFault?.(error);
      this.bye("fault", "internal error; reconnect and resume");
    }
  }

  #onCommit(told: Change): void {
    if (told.record.deleted) this.#leave(told.record, told.record.deleted);
    for (const { feed } of this.#subscriptions.values()) feed.onCommit(told);
    this.#watch.onCommit(told);
    this.#synced.onCommit(told);
  }

  /** Who looks at a conversation that is deleted is told that it is gone. */
  #leave({ id }: Conversation, deleted: Deleted): void {
    for (const subscription of [...this.#subscriptions.values()]) {
      if (subscription.feed.conversation !== id) continue;
      this.#drop(subscription);
      this.#refuse(subscription.sub, "subscribe", deletedProblem(id, deleted));
    }
  }

  #deliver(subscription: Subscription, change: Change): void {
    subscription.outbox.add(change);
    if (subscription.outbox.chars > limits.queueChars) this.#relieve(subscription);
    if (!this.#closed && !this.#cancelFlush) this.#throttle.join(this.#sendInRound);
  }

  readonly #sendInRound = (): void => {
    this.#guard(() => {
      if (this.#options.pipe.buffered() > 0) this.#gather();
      else this.flush();
    });
  };

  /** Too much waits for a slow client: make it smaller, or cut. */
  #relieve(subscription: Subscription): void {
    subscription.outbox.coalesce();
    if (subscription.outbox.chars > limits.cutChars) {
      this.bye("slow", "changes arrived faster than they were read; reconnect and resume");
    }
  }

  #gather(): void {
    if (this.#closed) return;
    this.#cancelFlush ??= this.#env.after(limits.batchMs, () => this.#guard(() => this.flush()));
  }

  #flushOne(subscription: Subscription): void {
    if (this.#closed || !subscription.isLive || subscription.outbox.isEmpty) return;
    if (this.#options.pipe.buffered() > limits.queueChars) return this.#gather();
    const change = subscription.outbox.take();
    if (!change) return;
    this.#send({ type: "changes", sub: subscription.sub, ...changesOf(change) });
    subscription.seq = change.seq;
  }

  async #page(frame: ClientFrame & { type: "page" }): Promise<void> {
    const subscription = this.#subscriptions.get(frame.sub);
    if (!subscription) return this.#refuse(frame.sub, "page", NOT_OPEN);
    const page = await this.#inTurn(() => subscription.feed.page(frame.before, frame.limit, true));
    if (isProblem(page)) return this.#refuse(frame.sub, "page", page);
    this.#send({ type: "page", sub: frame.sub, ...page });
  }

  async #want(frame: ClientFrame & { type: "want" }): Promise<void> {
    for (const id of frame.blocks) {
      const read = await this.#inTurn(() => this.#kernel.read(id));
      if (this.#closed) return;
      if (isProblem(read)) this.#refuse(frame.sub, "want", read, [id]);
      else await this.#sendText(id, read.block.version, read.text);
    }
  }

  /** A text in pieces, none larger than a frame, waiting while the pipe is full. */
  async #sendText(block: BlockId, version: number, text: Text): Promise<void> {
    const step = limits.frameChars / 4;
    for (let at = 0; ; at += step) {
      while (!this.#closed && this.#options.pipe.buffered() > limits.queueChars) {
        await new Promise<void>((resume) => this.#env.after(limits.batchMs, resume));
      }
      if (at > 0) await this.#turn();
      const last = at + step >= text.length;
      this.#send({
        type: "text",
        block,
        version,
        at,
        text: text.slice(at, Math.min(text.length, at + step)),
        last,
      });
      if (last || this.#closed) return;
    }
  }

  async #call(frame: ClientFrame & { type: "call" }): Promise<void> {
    const { id } = frame;
    if (this.#calls >= MAX_CALLS) {
      return this.#send({
        type: "answer",
        id,
        problem: problem("busy", `${MAX_CALLS} calls are in progress; try again`),
      });
    }
    this.#calls++;
    try {
      const answer = await this.#options.call(frame.tool, frame.input, frame.key);
      await this.#answer(id, answer);
    } finally {
      this.#calls--;
    }
  }

  async #update(frame: ClientFrame & { type: "update" }): Promise<void> {
    await this.#answer(frame.id, await this.#synced.update(frame));
  }

  /** What the call wrote is seen before its answer: the client may rely on it. */
  async #answer(id: number, answer: Json | Problem): Promise<void> {
    await Promise.all([...this.#subscriptions.values()].map(({ opening }) => opening));
    this.flush();
    if (isProblem(answer)) this.#send({ type: "answer", id, problem: answer });
    else this.#send({ type: "answer", id, answer });
  }

  /** Behind the commit that is being told: a cursor that an edit has set stands in the text that the edit has left. */
  #tellPresenceSoon(conversation: ConversationId): void {
    this.#env.soon(() => this.#guard(() => this.#tellPresence(conversation)));
  }

  #tellPresence(conversation: ConversationId): void {
    for (const subscription of this.#subscriptions.values()) {
      if (subscription.feed.conversation === conversation && subscription.isLive)
        this.#sendPresence(subscription);
    }
  }

  #sendPresence({ sub, feed: { conversation } }: Subscription): void {
    const cursors = this.#options.presence?.of(conversation);
    if (cursors) this.#send({ type: "presence", sub, conversation, cursors });
  }

  #send(frame: ServerFrame): void {
    if (!this.#closed) this.#options.pipe.send(frame);
  }
}
