/**
 * What the agent asks its client, between its request and the answer: each request becomes an ask on a block, or is refused. One
 * request is answered once, by whoever is first; an answer to what was withdrawn, or never asked, reaches nobody.
 */

import { askOf, type BlockEvent, type BlockKey, type Json, type JsonObject } from "@blockyard/kernel";
import type { Answer } from "../../run.ts";
import { bounds } from "../limits.ts";
import { codexAnswer } from "./answer.ts";
import type { Connection } from "./connection.ts";

interface Request {
  readonly id: Json;
  readonly method: string;
  readonly params: JsonObject;
}

export class Questions {
  readonly #talk: () => Connection;
  readonly #run: string;
  /** Requests of the agent, by the name of the ask that each became. */
  readonly #requests = new Map<string, Request>();
  /** Asks that nobody has answered, each with its block. */
  readonly #asked = new Map<string, BlockKey>();

  constructor(run: string, talk: () => Connection) {
    this.#run = run;
    this.#talk = talk;
  }

  /** Somebody is waited for. */
  get isOpen(): boolean {
    return this.#asked.size > 0;
  }

  /** Nobody can answer more at a time. */
  get isFull(): boolean {
    return this.#requests.size >= bounds.openAsks;
  }

  blockOf(ask: string): BlockKey | undefined {
    return this.#asked.get(ask);
  }

  /** A request has come; its line is not in the conversation yet. */
  add(request: Request): void {
    this.#requests.set(this.#name(request.id), request);
  }

  /** Its line is in the conversation: what became no question to a person is refused, so that the agent never waits for nothing. */
  settle(request: Request): void {
    const name = this.#name(request.id);
    if (!this.#asked.has(name) && this.#requests.delete(name)) this.refuse(request);
  }

  refuse({ id, method }: Request): void {
    this.#talk().refuse(id, `Blockyard does not answer ${method.slice(0, 100)}`);
  }

  /** What was answered; undefined where nobody waits for it. */
  answer(answer: Answer): JsonObject | undefined {
    const request = this.#requests.get(answer.ask);
    this.#requests.delete(answer.ask);
    this.#asked.delete(answer.ask);
    if (request === undefined) return undefined;
    const result = codexAnswer(request.method, request.params, answer);
    return this.#talk().respond(request.id, result) ? result : undefined;
  }

  withdrawn(id: Json): void {
    this.#requests.delete(this.#name(id));
    this.#asked.delete(this.#name(id));
  }

  heard(event: BlockEvent): void {
    if (event.type !== "block-meta" && event.type !== "block-end") return;
    const ask = askOf(event.metadata);
    if (ask === undefined) return event.type === "block-end" ? this.#over(event.key) : undefined;
    if (ask.state === "asked") this.#asked.set(ask.id, event.key);
    else this.#asked.delete(ask.id);
  }

  /** What was asked about has ended without an answer: nobody can give one any more. */
  #over(key: BlockKey): void {
    for (const [name, about] of this.#asked) {
      if (about !== key) continue;
      const request = this.#requests.get(name);
      this.#asked.delete(name);
      this.#requests.delete(name);
      if (request) this.refuse(request);
    }
  }

  /** As the adapter names it. */
  #name(id: Json): string {
    return `${this.#run}:${JSON.stringify(id)}`;
  }
}
