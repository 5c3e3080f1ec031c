/** What Codex asks its client: its requests by the names of the asks that they become, each answered once, or refused. */

import type { BlockEvent, BlockKey, Json, JsonObject } from "@blockyard/kernel";
import type { Answer } from "../../run.ts";
import { OpenAsks } from "../open-asks.ts";
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
  readonly #asks = new OpenAsks<Request>((request) => this.refuse(request));

  constructor(run: string, talk: () => Connection) {
    this.#run = run;
    this.#talk = talk;
  }

  get isOpen(): boolean {
    return this.#asks.isOpen;
  }

  get isFull(): boolean {
    return this.#asks.isFull;
  }

  blockOf(ask: string): BlockKey | undefined {
    return this.#asks.blockOf(ask);
  }

  /** A request has come; its line is not in the conversation yet. */
  add(request: Request): void {
    this.#asks.add(this.#name(request.id), request);
  }

  /** Its line is in the conversation: what became no question to a person is refused. */
  settle({ id }: Request): void {
    this.#asks.settle(this.#name(id));
  }

  refuse({ id, method }: Request): void {
    this.#talk().refuse(id, `Blockyard does not answer ${method.slice(0, 100)}`);
  }

  /** The answer; undefined if nobody waits for it. */
  answer(answer: Answer): JsonObject | undefined {
    const request = this.#asks.take(answer.ask);
    if (request === undefined) return undefined;
    const result = codexAnswer(request.method, request.params, answer);
    return this.#talk().respond(request.id, result) ? result : undefined;
  }

  /** It no longer waits: an answer would reach nobody, and the number may be reused. */
  withdrawn(id: Json): void {
    this.#asks.take(this.#name(id));
    this.#talk().withdrawn(id);
  }

  /** When its turn ends, a thread drops its asks. */
  turnEnded(thread: string): void {
    this.#asks.withdraw(({ params }) => params["threadId"] === thread);
  }

  heard(event: BlockEvent): void {
    this.#asks.heard(event);
  }

  /** As the adapter names it. */
  #name(id: Json): string {
    return `${this.#run}:${JSON.stringify(id)}`;
  }
}
