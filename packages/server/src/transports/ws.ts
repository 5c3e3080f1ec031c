/**
 * The WebSocket transport: sockets on one side, the kernel's Connection on the other. It parses, bounds and watches; what a
 * frame means is the Connection's business. Nothing is buffered for a socket before its caller is known.
 */

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import {
  type ByeCode,
  Connection,
  encodeFrame,
  isPassing,
  isProblem,
  type Json,
  type Kernel,
  type Presence,
  type Problem,
  patiently,
  type ServerFrame,
} from "@blockyard/kernel";
import { type WebSocket, WebSocketServer } from "ws";
import type { Caller } from "../access/auth.ts";
import { endSocket } from "../access/refused-answer.ts";
import type { Rounds } from "../system/rounds.ts";
import { oneAnswer, type ToolAnswer } from "../system/streamed-answer.ts";
import { type EventQuery, eventQuery, formatted } from "./events.ts";
import {
  BREATH_MS,
  bounds,
  GOODBYE_MS,
  MAX_FRAME_BYTES,
  MAX_SOCKETS,
  MOST_PAUSE_MS,
  MOST_WAIT_MS,
  OWNER_SOCKETS,
  SOCKET_BUFFER_BYTES,
  SOCKET_PING_MS,
  VIEWER_FRAME_BYTES,
  WORKING_FRAMES,
} from "./limits.ts";
import { followLlm } from "./llm-follower.ts";
import { parseStrict } from "./strict-json.ts";

interface WsOptions {
  /** The blocks as a caller may see them. */
  readonly kernelFor: (caller: Caller) => Kernel;
  readonly presence?: Presence;
  readonly call: (
    caller: Caller,
    tool: string,
    input: unknown,
    key?: string,
    signal?: AbortSignal,
  ) => Promise<ToolAnswer>;
  /** A long answer as JSON, made in turn. */
  readonly sliced: (caller: Caller, answer: Json | Problem) => Promise<Buffer | undefined>;
  /** Runs what a caller has asked for when it is its turn. */
  readonly inTurn: <T>(caller: Caller, work: () => Promise<T>, signal?: AbortSignal) => Promise<T | Problem>;
  /** Why a caller may store nothing now. */
  readonly mayStore: (caller: Caller) => Problem | undefined;
  /** Takes a message of so many bytes from what a caller may send; how long until it may send more. */
  readonly charge: (caller: Caller, bytes: number) => number;
  readonly callBytes: (caller: Caller, tool: string) => number | Problem;
  /** Where messages of agents and viewers wait to be looked at. */
  readonly rounds: Rounds;
  /** Told when a caller is answered that it may not. */
  readonly onForbidden: (caller: Caller, message: string) => void;
  /** Told what went wrong inside; the client only learns that it did. */
  readonly onFault: (where: string, error: unknown) => void;
}

/** Close codes: 4000 and up are ours. A client reconnects after the resumable ones. */
const CODES: Readonly<Record<ByeCode, number>> = {
  closing: 4000,
  slow: 4001,
  silent: 4002,
  fault: 4003,
  protocol: 4010,
  invalid: 4011,
  forbidden: 4012,
};

export class WsTransport {
  readonly #options: WsOptions;
  readonly #servers: Readonly<Record<Caller["role"], WebSocketServer>> = {
    owner: socketServer(MAX_FRAME_BYTES, true),
    agent: socketServer(MAX_FRAME_BYTES),
    viewer: socketServer(VIEWER_FRAME_BYTES),
  };
  readonly #open = new Map<WebSocket, Connection>();
  /** Sockets that only listen to `llm_*` events, and how each stops. */
  readonly #listening = new Map<WebSocket, () => void>();
  readonly #alive = new WeakSet<WebSocket>();
  readonly #sockets = new WeakMap<WebSocket, Socket>();
  /** How many bytes a paused one had taken at the last look. */
  readonly #taken = new WeakMap<WebSocket, number>();
  readonly #watch: NodeJS.Timeout;
  /** Long answers that are encoded already, for as long as they are there. */
  readonly #sliced = new WeakMap<object, Buffer>();
  /** The last changes that were sent: whoever follows the same conversation gets the same bytes. */
  #last = { text: "", bytes: Buffer.alloc(0) };

  constructor(options: WsOptions) {
    this.#options = options;
    this.#watch = setInterval(() => this.#check(), SOCKET_PING_MS);
    this.#watch.unref();
  }

  get count(): number {
    return this.#open.size + this.#listening.size;
  }

  /** Whether somebody has a block open as a document to edit. */
  hasOpen(block: string): boolean {
    return [...this.#open.values()].some((connection) => connection.hasOpen(block));
  }

  /** An upgrade that the guard has let in. False: no socket answers at this address. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, caller: Caller, url: URL): boolean {
    const events = /^\/v1\/conversations\/([^/]{1,80})\/events$/.exec(url.pathname)?.[1];
    if (url.pathname !== "/v1/feed" && events === undefined) return false;
    if (this.count >= (caller.role === "owner" ? MAX_SOCKETS : MAX_SOCKETS - OWNER_SOCKETS)) {
      endSocket(socket, 503);
      return true;
    }
    const query = eventQuery(Object.fromEntries(url.searchParams));
    this.#servers[caller.role].handleUpgrade(request, socket, head, (ws) => {
      this.#sockets.set(ws, request.socket);
      if (events === undefined) this.#accept(ws, caller);
      else
        this.#sendEvents(ws, caller, events, query).catch((error) => {
          this.#options.onFault("socket", error);
          goodbye(ws, "fault");
        });
    });
    return true;
  }

  /** Says goodbye to everybody, with a code after which clients come back. */
  async close(): Promise<void> {
    clearInterval(this.#watch);
    for (const connection of this.#open.values()) {
      connection.flush();
      connection.bye("closing", "the server is stopping; reconnect and resume");
    }
    for (const ws of this.#listening.keys()) goodbye(ws, "closing");
    for (const server of Object.values(this.#servers)) server.close();
    const open = [...this.#open.keys(), ...this.#listening.keys()];
    await Promise.all(
      open.map((ws) => ws.readyState === ws.CLOSED || new Promise((gone) => ws.once("close", gone))),
    );
  }

  #accept(ws: WebSocket, caller: Caller): void {
    const { kernelFor, presence } = this.#options;
    const gone = new AbortController();
    ws.once("close", () => gone.abort());
    const connection = new Connection({
      kernel: kernelFor(caller),
      agent: caller.agent,
      role: caller.role,
      ...(presence ? { presence } : {}),
      call: (tool, input, key) => this.#call(caller, tool, input, key, gone.signal),
      inTurn: (work) => this.#options.inTurn(caller, work, gone.signal),
      mayStore: () => this.#options.mayStore(caller),
      callBytes: (tool) => this.#options.callBytes(caller, tool),
      onFault: (error) => this.#options.onFault("socket", error),
      pipe: {
        send: (frame) => this.#sendFrame(ws, caller, frame),
        buffered: () => ws.bufferedAmount,
        close: (code) => goodbye(ws, code),
      },
    });
    this.#open.set(ws, connection);
    this.#watchPongs(ws);
    ws.on("message", (data, isBinary) => this.#receive(ws, caller, connection, data as Buffer, isBinary));
    ws.on("close", () => this.#gone(ws, connection));
    ws.on("error", () => this.#gone(ws, connection));
  }

  /** Pings are answered by themselves: who sends them and reads no answer would have them all kept. */
  #watchPongs(ws: WebSocket): void {
    this.#alive.add(ws);
    ws.on("pong", () => this.#alive.add(ws));
    ws.on("ping", () => cutIfDeaf(ws));
  }

  #receive(ws: WebSocket, caller: Caller, connection: Connection, data: Buffer, isBinary: boolean): void {
    if (connection.isClosed) return; // what it sent before is not looked at
    this.#alive.add(ws);
    const waitMs = this.#options.charge(caller, data.length);
    if (waitMs > MOST_WAIT_MS)
      return connection.bye("slow", "messages arrived too fast; reconnect and resume");
    if (isBinary) return connection.bye("invalid", "frames must be text");
    if (caller.role === "owner") return this.#read(ws, connection, data, waitMs);
    this.#options.rounds.enter(() => {
      if (!connection.isClosed) this.#read(ws, connection, data, waitMs);
    });
  }

  #read(ws: WebSocket, connection: Connection, data: Buffer, waitMs: number): void {
    const message = parseStrict(data.toString("utf8"));
    if (isProblem(message)) return connection.bye("invalid", `a frame must be JSON: ${message.message}`);
    connection.receive(message.json, data.length);
    if (ws.isPaused || (waitMs === 0 && connection.working <= WORKING_FRAMES)) return;
    // That a client has gone shows only in what is read.
    this.#breathe(ws, connection, Math.min(Math.max(BREATH_MS, waitMs), MOST_PAUSE_MS));
  }

  /** Reads on when enough has been done, and its caller may send more. */
  #breathe(ws: WebSocket, connection: Connection, afterMs: number): void {
    ws.pause();
    const look = () => {
      if (ws.readyState !== ws.OPEN) return;
      if (connection.working > WORKING_FRAMES / 2) return void setTimeout(look, BREATH_MS).unref();
      this.#alive.add(ws);
      this.#taken.delete(ws);
      ws.resume();
    };
    setTimeout(look, afterMs).unref();
  }

  async #call(
    caller: Caller,
    tool: string,
    input: unknown,
    key: string | undefined,
    signal: AbortSignal,
  ): Promise<Json | Problem> {
    const instead = `on this socket follow a conversation with a subscribe frame, or POST to /v1/tools/${tool}`;
    const answer = await oneAnswer(tool, await this.#options.call(caller, tool, input, key, signal), instead);
    return this.#prepared(caller, answer);
  }

  /** A long answer is JSON before it is sent: its frame only goes around it. */
  async #prepared(caller: Caller, answer: Json | Problem): Promise<Json | Problem> {
    const sliced = await this.#options.sliced(caller, answer);
    if (sliced && typeof answer === "object" && answer !== null) this.#sliced.set(answer, sliced);
    return answer;
  }

  /** `llm_*` events on a socket of their own: it only tells. */
  async #sendEvents(
    ws: WebSocket,
    caller: Caller,
    conversation: string,
    query: EventQuery | Problem,
  ): Promise<void> {
    const done = { stop: undefined as (() => void) | undefined, isOver: false };
    const end = () => {
      done.isOver = true;
      this.#listening.delete(ws);
      done.stop?.();
    };
    this.#listening.set(ws, end);
    this.#watchPongs(ws);
    ws.on("message", () => goodbye(ws, "invalid"));
    ws.on("close", end);
    ws.on("error", end);
    const { env } = this.#options.kernelFor(caller);
    const follow = (asked: EventQuery) =>
      patiently(env, () => this.#followLlm(ws, caller, conversation, asked));
    const following = isProblem(query) ? query : await follow(query);
    if (isProblem(following)) {
      this.#send(ws, JSON.stringify(following));
      goodbye(ws, isPassing(following) ? "closing" : "invalid");
    } else if (done.isOver) following.stop();
    else {
      done.stop = () => following.stop();
      following.opened.catch(() => goodbye(ws, "closing"));
    }
  }

  #followLlm(ws: WebSocket, caller: Caller, conversation: string, { format, ...start }: EventQuery) {
    const sendEvent = (message: object) => {
      if (format === "blocks") this.#send(ws, JSON.stringify(message));
    };
    return followLlm(this.#options.kernelFor(caller), conversation, start, {
      write: (events) => {
        for (const event of events) {
          const data = formatted(event, format);
          if (data) this.#send(ws, JSON.stringify(data));
        }
      },
      reset: () => sendEvent({ type: "llm_reset" }),
      opened: (cursor) => sendEvent({ type: "llm_cursor", cursor }),
      ready: async () => {
        await this.#options.inTurn(caller, async () => undefined);
        while (ws.readyState === ws.OPEN && ws.bufferedAmount > bounds.readyBytes)
          await new Promise((look) => setTimeout(look, bounds.readyMs).unref());
      },
      slow: () => goodbye(ws, "slow"),
    });
  }

  #sendFrame(ws: WebSocket, caller: Caller, frame: ServerFrame): void {
    const refused = "problem" in frame && frame.problem.problem === "forbidden" ? frame.problem : undefined;
    // A page asks over its socket first and is told to sign: that is its way, no refusal. What comes unsigned over HTTP is one.
    if (refused && refused.details?.["needs"] !== "proof") this.#options.onForbidden(caller, refused.message);
    const answer = frame.type === "answer" && "answer" in frame ? frame.answer : undefined;
    const sliced = typeof answer === "object" && answer !== null ? this.#sliced.get(answer) : undefined;
    if (sliced && frame.type === "answer") return this.#send(ws, answerFrame(frame.id, sliced));
    const text = encodeFrame(frame);
    this.#send(ws, frame.type === "changes" ? this.#bytesOf(text) : text);
  }

  #bytesOf(text: string): Buffer {
    if (this.#last.text !== text) this.#last = { text, bytes: Buffer.from(text) };
    return this.#last.bytes;
  }

  #send(ws: WebSocket, data: string | Buffer): void {
    if (ws.readyState !== ws.OPEN) return;
    ws.send(data, { binary: false });
    cutIfDeaf(ws);
  }

  /** Liveness by ping: who has not answered since the last round is gone. */
  #check(): void {
    for (const ws of [...this.#open.keys(), ...this.#listening.keys()]) {
      if (ws.isPaused ? this.#isStuck(ws) : !this.#alive.has(ws)) {
        ws.terminate();
        continue;
      }
      if (ws.isPaused) continue;
      this.#alive.delete(ws);
      ws.ping();
    }
  }

  /** From one that is paused nothing is read, its answer neither: it lives if it has taken some of what waits for it. */
  #isStuck(ws: WebSocket): boolean {
    const socket = this.#sockets.get(ws);
    if (!socket) return false;
    const before = this.#taken.get(ws);
    const taken = socket.bytesWritten - socket.writableLength;
    this.#taken.set(ws, taken);
    return ws.bufferedAmount > 0 && before === taken;
  }

  #gone(ws: WebSocket, connection: Connection): void {
    connection.close();
    this.#open.delete(ws);
  }
}

function answerFrame(id: number, answer: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`{"type":"answer","id":${id},"answer":`), answer, Buffer.from("}")]);
}

/** Longer messages are refused by their first bytes. */
function socketServer(maxPayload: number, isOwners = false): WebSocketServer {
  // Of what agents and viewers have sent at once, one message is looked at in each round of the loop.
  const allowSynchronousEvents = isOwners;
  return new WebSocketServer({
    noServer: true,
    maxPayload,
    perMessageDeflate: false,
    allowSynchronousEvents,
  });
}

/** It reads nothing at all; it can resume later. */
function cutIfDeaf(ws: WebSocket): void {
  if (ws.bufferedAmount > SOCKET_BUFFER_BYTES) ws.terminate();
}

function goodbye(ws: WebSocket, code: ByeCode): void {
  ws.close(CODES[code], code);
  const cut = setTimeout(() => ws.terminate(), GOODBYE_MS).unref();
  ws.once("close", () => clearTimeout(cut)); // or it would be kept until then
}
