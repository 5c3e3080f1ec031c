/**
 * The two directions of one app-server: lines of JSON over its standard input and output.
 *
 * Its requests are numbered apart from ours; only "has a method" tells a request from an answer. A request of ours is answered
 * once, or given up after its time: some are never answered. What the agent asks and nobody here knows is refused, so that it never
 * waits for nothing. Every line of both directions is handed on as it was, in the order of writing and reading.
 */

import { type Env, type Json, type JsonObject, type Problem, problem } from "@blockyard/kernel";
import { isObject, LineReader, parseJson } from "@blockyard/providers";
import type { Child } from "../../../processes/child.ts";

export type Direction = "in" | "out";

interface Heard {
  /** Every line, before it is acted on. */
  line(dir: Direction, line: string): void;
  notified(method: string, params: JsonObject): void;
  /** A request of the agent. It has to be answered: with `respond` or `refuse`. */
  asked(id: Json, method: string, params: JsonObject): void;
}

interface Waiting {
  /** Told at once, before the line behind it is read. */
  readonly at: ((result: JsonObject) => void) | undefined;
  readonly resolve: (answer: JsonObject | Problem) => void;
  readonly cancel: () => void;
}

const METHOD_NOT_FOUND = -32_601;

export class Connection {
  readonly #child: Pick<Child, "write" | "output" | "closeInput">;
  readonly #env: Env;
  readonly #heard: Heard;
  readonly #lines = new LineReader();
  readonly #waiting = new Map<Json, Waiting>();
  /** Requests of the agent that are not answered: each is answered once. */
  readonly #open = new Set<string>();
  #next = 0;
  #isClosed = false;

  constructor(child: Pick<Child, "write" | "output" | "closeInput">, env: Env, heard: Heard) {
    this.#child = child;
    this.#env = env;
    this.#heard = heard;
  }

  /** The result, or why there is none. `at` is told of a result before any line that follows it. */
  request(
    method: string,
    params: JsonObject,
    ms: number,
    at?: (result: JsonObject) => void,
  ): Promise<JsonObject | Problem> {
    if (this.#isClosed) return Promise.resolve(GONE);
    const id = this.#next++;
    return new Promise((resolve) => {
      const cancel = this.#env.after(ms, () => {
        this.#waiting.delete(id);
        resolve(
          problem("unavailable", `Codex did not answer ${method} within ${Math.round(ms / 1_000)} seconds.`),
        );
      });
      this.#waiting.set(id, { resolve, cancel, at });
      this.#write({ id, method, params });
    });
  }

  notify(method: string, params: JsonObject): void {
    this.#write({ method, params });
  }

  /** Whether the agent still waited for it. */
  respond(id: Json, result: JsonObject): boolean {
    return this.#answer(id, { id, result });
  }

  refuse(id: Json, message: string): boolean {
    return this.#answer(id, { id, error: { code: METHOD_NOT_FOUND, message } });
  }

  /** The agent has taken its request back. */
  withdrawn(id: Json): void {
    this.#open.delete(JSON.stringify(id));
  }

  /** Bytes that the agent has printed. */
  read(bytes: Uint8Array): void {
    for (const { text, omittedBytes } of this.#lines.push(bytes))
      if (text.trim() !== "") this.#line(text, omittedBytes);
  }

  /** Nothing more is written; the agent ends when it has read that. */
  closeInput(): void {
    this.#isClosed = true;
    this.#child.closeInput();
  }

  /** Nothing more comes: whoever waits for an answer waits no more. */
  end(): void {
    this.#isClosed = true;
    for (const { text, torn } of this.#lines.end()) if (text.trim() !== "" && !torn) this.#line(text, 0);
    for (const { resolve, cancel } of this.#waiting.values()) {
      cancel();
      resolve(GONE);
    }
    this.#waiting.clear();
  }

  #line(text: string, omittedBytes: number): void {
    this.#heard.line("out", text);
    const message = omittedBytes > 0 ? undefined : parseJson(text);
    if (!isObject(message)) return;
    const { id, method, params } = message;
    const isNamed = typeof id === "string" || typeof id === "number";
    if (typeof method !== "string") {
      if (isNamed) this.#answered(id, message);
      return;
    }
    if (!isNamed) return this.#heard.notified(method, isObject(params) ? params : {});
    const key = JSON.stringify(id);
    // A number that is still open means one question twice: one answer is all that it gets.
    if (this.#open.has(key)) return;
    this.#open.add(key);
    this.#heard.asked(id, method, isObject(params) ? params : {});
  }

  /** An answer that nobody waits for changes nothing. */
  #answered(id: Json, message: JsonObject): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    waiting.cancel();
    const { error, result } = message;
    if (error === undefined || error === null) {
      const given = isObject(result) ? result : {};
      waiting.at?.(given);
      return waiting.resolve(given);
    }
    const text =
      isObject(error) && typeof error["message"] === "string" ? error["message"] : JSON.stringify(error);
    waiting.resolve(problem("unavailable", text));
  }

  #answer(id: Json, message: JsonObject): boolean {
    if (!this.#open.delete(JSON.stringify(id))) return false;
    this.#write(message);
    return true;
  }

  #write(message: JsonObject): void {
    if (this.#isClosed) return;
    const line = JSON.stringify(message);
    this.#heard.line("in", line);
    this.#child.write(`${line}\n`);
  }
}

const GONE = problem("gone", "Codex has ended.");
