/**
 * The WebSocket face: sockets on one side, the kernel's Connection on the other. It parses, bounds and watches; what a
 * frame means is the Connection's business. Nothing is buffered for a socket before its caller is known.
 */

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import {
  type ByeCode,
  Connection,
  type Json,
  type Kernel,
  type Presence,
  type Problem,
} from "@blockyard/kernel";
import { type WebSocket, WebSocketServer } from "ws";
import type { Caller } from "../auth.ts";
import type { Log } from "../log.ts";

export interface WsOptions {
  readonly kernel: Kernel;
  readonly presence?: Presence;
  readonly call: (caller: Caller, tool: string, input: unknown, key?: string) => Promise<Json | Problem>;
  readonly log: Log;
}

const MAX_FRAME = 1024 * 1024;
const MAX_SOCKETS = 500;
const PING_MS = 15_000;
const HARD_BUFFER = 16 * 1024 * 1024;

/** Close codes: 4000 and up are ours. A client reconnects after the resumable ones. */
const CODES: Readonly<Record<ByeCode, number>> = {
  closing: 4000,
  slow: 4001,
  silent: 4002,
  protocol: 4010,
  invalid: 4011,
  forbidden: 4012,
};

export class WsFace {
  readonly #options: WsOptions;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME, perMessageDeflate: false });
  readonly #open = new Map<WebSocket, Connection>();
  readonly #alive = new WeakSet<WebSocket>();
  readonly #watch: NodeJS.Timeout;

  constructor(options: WsOptions) {
    this.#options = options;
    this.#watch = setInterval(() => this.#check(), PING_MS);
    this.#watch.unref();
  }

  get count(): number {
    return this.#open.size;
  }

  /** An upgrade that the guard has let in. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, caller: Caller): void {
    if (this.#open.size >= MAX_SOCKETS) {
      socket.end("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n");
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (ws) => this.#accept(ws, caller));
  }

  /** Says goodbye to everybody, with a code after which clients come back. */
  async close(): Promise<void> {
    clearInterval(this.#watch);
    for (const connection of this.#open.values()) {
      connection.flush();
      connection.bye("closing", "the server stops; reconnect and resume");
    }
    this.#server.close();
    for (const ws of this.#open.keys()) setTimeout(() => ws.terminate(), 1_000).unref();
  }

  #accept(ws: WebSocket, caller: Caller): void {
    const { kernel, presence, call } = this.#options;
    const connection = new Connection({
      kernel,
      agent: caller.agent,
      role: caller.role,
      ...(presence ? { presence } : {}),
      call: (tool, input, key) => call(caller, tool, input, key),
      pipe: {
        send: (frame) => this.#send(ws, JSON.stringify(frame)),
        buffered: () => ws.bufferedAmount,
        close: (code) => ws.close(CODES[code], code),
      },
    });
    this.#open.set(ws, connection);
    this.#alive.add(ws);
    ws.on("pong", () => this.#alive.add(ws));
    ws.on("message", (data, isBinary) => this.#receive(ws, connection, data as Buffer, isBinary));
    ws.on("close", () => this.#gone(ws, connection));
    ws.on("error", () => this.#gone(ws, connection));
  }

  #receive(ws: WebSocket, connection: Connection, data: Buffer, isBinary: boolean): void {
    this.#alive.add(ws);
    if (isBinary) return connection.bye("invalid", "frames are text");
    let message: unknown;
    try {
      message = JSON.parse(data.toString("utf8"));
    } catch {
      return connection.bye("invalid", "a frame must be JSON");
    }
    connection.receive(message);
  }

  #send(ws: WebSocket, text: string): void {
    if (ws.readyState !== ws.OPEN) return;
    ws.send(text);
    if (ws.bufferedAmount > HARD_BUFFER) ws.terminate(); // it reads nothing at all; it can resume later
  }

  /** Liveness by ping: who has not answered since the last round is gone. */
  #check(): void {
    for (const [ws, connection] of this.#open) {
      if (!this.#alive.has(ws)) {
        connection.close();
        ws.terminate();
        continue;
      }
      this.#alive.delete(ws);
      ws.ping();
    }
  }

  #gone(ws: WebSocket, connection: Connection): void {
    connection.close();
    this.#open.delete(ws);
  }
}
