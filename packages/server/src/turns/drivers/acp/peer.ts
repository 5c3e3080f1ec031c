/**
 * One end of JSON-RPC over lines: requests with their answers, notifications, and requests of the other side. It does no I/O: lines
 * come in by `take`, and go out by `write`.
 *
 * Every request of the other side is answered exactly once, what nobody knows with -32601, so that it never waits. What was not
 * asked is not answered: an id that is open already, an id that is none. Answers to nothing, and lines that are no messages, are
 * passed over. Every line of both directions is told, as it is.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { type Direction, isObject, parseJson } from "@blockyard/providers";
import { METHOD_CHARS, OPEN_REQUESTS } from "./limits.ts";

interface Failure {
  readonly code: number | undefined;
  readonly message: string;
  readonly data?: Json;
}

export type Reply = { readonly result: Json } | { readonly error: Failure; readonly isClosed?: boolean };

/** Answers a request of the other side; called again, it does nothing. */
export type Respond = (answer: { readonly result: Json } | { readonly error: Failure }) => void;

type Id = { readonly id: number | string };
type Asked = { readonly method: string; readonly params: JsonObject };

/** What JSON-RPC lets one side send: a request, a notification, an answer. */
type Message = { readonly jsonrpc: "2.0" } & (Asked | (Id & (Asked | Parameters<Respond>[0])));

interface PeerOptions {
  readonly write: (line: string) => void;
  /** Receives every line, before it is processed. */
  readonly onLine: (dir: Direction, line: string) => void;
  /** False: the method is unknown here. */
  readonly onRequest: (method: string, params: JsonObject, id: string, respond: Respond) => boolean;
  readonly onNotification: (method: string, params: JsonObject) => void;
}

const METHOD_NOT_FOUND = -32601;

export class Peer {
  readonly #options: PeerOptions;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  /** Unanswered requests of the agent. */
  readonly #open = new Set<string>();
  #next = 0;
  #isClosed = false;

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  request(method: string, params: JsonObject): Promise<Reply> {
    if (this.#isClosed) return Promise.resolve(closed("the agent has ended"));
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ jsonrpc: "2.0", id, method, params });
    });
  }

  notify(method: string, params: JsonObject): void {
    if (!this.#isClosed) this.#send({ jsonrpc: "2.0", method, params });
  }

  /** A line of the other side. */
  take(line: string): void {
    if (line.trim() === "") return;
    this.#options.onLine("out", line);
    const message = parseJson(line);
    if (!isObject(message)) return;
    const { id, method } = message;
    if (typeof method !== "string") return this.#answered(message);
    const params = isObject(message.params) ? message.params : {};
    if (id === undefined) return this.#options.onNotification(method, params);
    if (typeof id === "number" || typeof id === "string") this.#asked(id, method, params);
  }

  /** Nothing more comes: waiting callers are told. */
  close(why: string): void {
    this.#isClosed = true;
    for (const resolve of this.#waiting.values()) resolve(closed(why));
    this.#waiting.clear();
    this.#open.clear();
  }

  #answered({ id, result, error }: JsonObject): void {
    const resolve = typeof id === "number" ? this.#waiting.get(id) : undefined;
    if (resolve === undefined) return;
    this.#waiting.delete(id as number);
    resolve(isObject(error) ? { error: failureOf(error) } : { result: result ?? null });
  }

  #asked(id: number | string, method: string, params: JsonObject): void {
    const key = JSON.stringify(id);
    if (this.#open.has(key)) return;
    this.#open.add(key);
    const respond: Respond = (answer) => {
      if (!this.#open.delete(key) || this.#isClosed) return;
      this.#send({ jsonrpc: "2.0", id, ...answer });
    };
    const isTaken = this.#open.size <= OPEN_REQUESTS && this.#options.onRequest(method, params, key, respond);
    if (!isTaken)
      respond({
        error: { code: METHOD_NOT_FOUND, message: `Method not found: ${method.slice(0, METHOD_CHARS)}` },
      });
  }

  #send(message: Message): void {
    const line = JSON.stringify(message);
    this.#options.onLine("in", line);
    this.#options.write(line);
  }
}

function closed(message: string): Reply {
  return { error: { code: undefined, message }, isClosed: true };
}

function failureOf(error: JsonObject): Failure {
  const code = typeof error.code === "number" ? error.code : undefined;
  const message = typeof error.message === "string" ? error.message : "the agent answered with an error";
  return { code, message, ...(error.data === undefined ? {} : { data: error.data }) };
}
