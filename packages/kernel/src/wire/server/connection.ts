/**
 * The server's end of one connection: a state machine over frames. It knows no socket: the owner of one passes in an ordered
 * pipe. One bad client never affects another: an invalid frame ends only its own connection.
 *
 * This file handles requests: each has one answer, none is answered before `hello`, and calls in progress are bounded.
 * subscriptions.ts delivers changes.
 */

import type { Change } from "../../model/change.ts";
import type { Cursor } from "../../model/cursor.ts";
import type { AgentId, BlockId, ConversationId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import { limits } from "../../model/limits.ts";
import { isProblem, type Problem, problem } from "../../model/problem.ts";
import type { Env } from "../../ports/env.ts";
import type { Text } from "../../text/text.ts";
import type { CallerRole } from "../../tools/access.ts";
import type { Kernel } from "../../write/kernel.ts";
import { type ByeCode, type ClientFrame, clientFrame, PROTOCOL, type ServerFrame } from "../frame.ts";
import { RecordWatch } from "./record-watch.ts";
import { Subscriptions } from "./subscriptions.ts";
import { SyncedBlocks } from "./synced-blocks.ts";
import { throttleOf } from "./throttle.ts";

interface Pipe {
  send(frame: ServerFrame): void;
  /** What was sent but has not left yet, in characters or bytes. */
  buffered(): number;
  close(code: ByeCode): void;
}

/** The source of cursors. They are ephemeral, so it is not the kernel. */
export interface Presence {
  listen(listener: (conversation: ConversationId) => void): () => void;
  of(conversation: ConversationId): readonly Cursor[];
}

interface ConnectionOptions {
  readonly kernel: Kernel;
  readonly pipe: Pipe;
  readonly agent: AgentId;
  readonly role: CallerRole;
  /** Runs a tool of the table as this caller. */
  readonly call: (tool: string, input: unknown, key: string | undefined) => Promise<Json | Problem>;
  /** Runs expensive work when it is this caller's turn; by default at once. */
  readonly inTurn?: <T>(work: () => Promise<T>) => Promise<T | Problem>;
  /** Why this caller may not store anything now; by default everyone may. */
  readonly mayStore?: () => Problem | undefined;
  /** How long a tool's input may be; a problem if the call is refused anyway. */
  readonly callBytes?: (tool: string) => number | Problem;
  readonly presence?: Presence;
  /** Called with internal errors; the client gets no details. */
  readonly onFault?: (error: unknown) => void;
}

/** After these a client reconnects: the reasons are temporary. */
const RESUMABLE: readonly ByeCode[] = ["slow", "closing", "silent", "fault"];
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #kernel: Kernel;
  readonly #env: Env;
  readonly #subscriptions: Subscriptions;
  readonly #synced: SyncedBlocks;
  readonly #watch: RecordWatch;
  readonly #ends: (() => void)[] = [];
  #greeted = false;
  #closed = false;
  #calls = 0;
  #working = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#kernel = options.kernel;
    this.#env = options.kernel.env;
    const { kernel, agent, role } = options;
    const send = (frame: ServerFrame) => this.#send(frame);
    const guard = (run: () => void) => this.#guard(run);
    const buffered = () => options.pipe.buffered();
    this.#subscriptions = new Subscriptions({
      ...{ kernel, send, buffered, guard },
      inTurn: (work) => this.#inTurn(work),
      cursorsOf: (conversation) => options.presence?.of(conversation),
      bye: (code, message) => this.bye(code, message),
    });
    const inTurn = <T>(work: () => Promise<T>) => this.#inTurn(work);
    const mayStore = options.mayStore ?? (() => undefined);
    this.#synced = new SyncedBlocks({ kernel, agent, role, send, inTurn, mayStore });
    this.#watch = new RecordWatch({ env: this.#env, throttle: throttleOf(kernel), send, buffered, guard });
    this.#ends.push(this.#kernel.listen((change) => this.#guard(() => this.#onCommit(change))));
    if (options.presence)
      this.#ends.push(options.presence.listen((conversation) => this.#sendPresenceSoon(conversation)));
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Requests in progress, except calls, which have a bound of their own. */
  get working(): number {
    return this.#working - this.#calls;
  }

  /** Whether the client has a block open as a CRDT document. */
  hasOpen(block: BlockId): boolean {
    return this.#synced.has(block);
  }

  /** One message from the client, already parsed; `bytes` is its length as JSON. */
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
    if (maxBytes === undefined || isProblem(maxBytes) || bytes <= maxBytes + limits.envelopeBytes)
      return undefined;
    return problem("too_large", `a call to ${tool} is limited to ${maxBytes} bytes`, { max_bytes: maxBytes });
  }

  /** Sends `bye` and ends the connection. */
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
    this.#watch.close();
    for (const end of this.#ends.splice(0)) end();
    this.#subscriptions.closeAll();
    this.#synced.closeAll();
  }

  /** Sends gathered changes now, unless the pipe is full. */
  flush(): void {
    this.#subscriptions.flush();
  }

  #dispatch(frame: ClientFrame): void {
    switch (frame.type) {
      case "hello":
        return this.#hello(frame.protocol);
      case "subscribe":
        return this.#start(this.#subscriptions.open(frame), (why) =>
          this.#subscriptions.refuse(frame.sub, "subscribe", why),
        );
      case "unsubscribe":
        return this.#subscriptions.close(frame.sub);
      case "page":
        return this.#start(this.#subscriptions.page(frame), (why) =>
          this.#subscriptions.refuse(frame.sub, "page", why),
        );
      case "want":
        return this.#start(this.#want(frame), (why) =>
          this.#subscriptions.refuse(frame.sub, "want", why, frame.blocks),
        );
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

  /** Runs a request in the background. An exception refuses this request only; the client may ask again. */
  #start(work: Promise<void>, refuse: (why: Problem) => void): void {
    this.#working++;
    work
      .catch((error) => {
        this.#options.onFault?.(error);
        refuse(problem("unavailable", "internal error; see the server's log"));
      })
      .finally(() => this.#working--);
  }

  #hello(protocol: number): void {
    if (protocol !== PROTOCOL)
      return this.bye("protocol", `this server speaks protocol ${PROTOCOL}, not ${protocol}`);
    if (this.#greeted) return this.bye("protocol", "hello must be sent only once");
    this.#greeted = true;
    const { agent, role } = this.#options;
    this.#send({ type: "hello", protocol: PROTOCOL, epoch: this.#kernel.store.epoch, agent, role });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T | Problem> {
    return this.#options.inTurn ? this.#options.inTurn(work) : work();
  }

  /** Waits for this caller's turn, and tries again while its queue is full. */
  async #turn(): Promise<void> {
    while (!this.#closed && isProblem(await this.#inTurn(async () => null)))
      await new Promise<void>((resume) => this.#env.after(limits.batchMs, resume));
  }

  /** Runs background work. An exception ends this connection; the client resumes and misses nothing. */
  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#options.onFault?.(error);
      this.bye("fault", "internal error; reconnect and resume");
    }
  }

  #onCommit(change: Change): void {
    this.#subscriptions.onCommit(change);
    this.#watch.onCommit(change);
    this.#synced.onCommit(change);
  }

  async #want(frame: ClientFrame & { type: "want" }): Promise<void> {
    for (const id of frame.blocks) {
      const read = await this.#inTurn(() => this.#kernel.read(id));
      if (this.#closed) return;
      if (isProblem(read)) this.#subscriptions.refuse(frame.sub, "want", read, [id]);
      else await this.#sendText(id, read.block.version, read.text);
    }
  }

  /** Sends a text in pieces that fit into frames, waiting while the pipe is full. */
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
    if (this.#calls >= limits.connectionCalls) {
      return this.#send({
        type: "answer",
        id,
        problem: problem("busy", `${limits.connectionCalls} calls are in progress; try again`),
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

  /** The call's own changes are sent before its answer: clients rely on that. */
  async #answer(id: number, answer: Json | Problem): Promise<void> {
    await this.#subscriptions.opened();
    this.flush();
    if (isProblem(answer)) this.#send({ type: "answer", id, problem: answer });
    else this.#send({ type: "answer", id, answer });
  }

  /** After the commit that is being sent: a cursor set by an edit refers to the text after the edit. */
  #sendPresenceSoon(conversation: ConversationId): void {
    this.#env.soon(() => this.#guard(() => this.#subscriptions.sendPresence(conversation)));
  }

  #send(frame: ServerFrame): void {
    if (!this.#closed) this.#options.pipe.send(frame);
  }
}
