/**
 * What an agent asks its host, between its request and the answer, by the names of the asks. A request becomes an ask on a block, or is
 * refused, so that the agent never waits for nothing; one request is answered once. Where the block ends without an answer, or
 * another ask takes the place of this one, nobody can answer any more: it is refused then.
 */

import { askOf, type BlockEvent, type BlockKey } from "@blockyard/kernel";
import { bounds } from "./limits.ts";

export class OpenAsks<Request> {
  readonly #refuse: (request: Request) => void;
  /** What the agent waits for. */
  readonly #requests = new Map<string, Request>();
  /** The block that shows each ask. */
  readonly #shown = new Map<string, BlockKey>();
  /** Names of asks that are over. Used again, somebody could answer what they do not see. */
  readonly #used = new Set<string>();

  constructor(refuse: (request: Request) => void) {
    this.#refuse = refuse;
  }

  /** A person is awaited. */
  get isOpen(): boolean {
    return this.#requests.size > 0;
  }

  /** More cannot be answered at a time. */
  get isFull(): boolean {
    return this.#requests.size >= bounds.openAsks;
  }

  has(name: string): boolean {
    return this.#requests.has(name);
  }

  blockOf(name: string): BlockKey | undefined {
    return this.#requests.has(name) ? this.#shown.get(name) : undefined;
  }

  /** A request has come; its line is not in the conversation yet. */
  add(name: string, request: Request): void {
    this.#requests.set(name, request);
  }

  /** Its line is in the conversation: a request without a block by now never gets one. */
  settle(name: string): void {
    if (!this.#shown.has(name) || this.#used.has(name)) this.#over(name);
  }

  /** The request that is being answered, or no longer waits; undefined if nobody waits for it. */
  take(name: string): Request | undefined {
    const request = this.#requests.get(name);
    this.#requests.delete(name);
    if (this.#shown.delete(name)) this.#used.add(name);
    for (const oldest of this.#used) {
      if (this.#used.size <= bounds.usedAsks) break;
      this.#used.delete(oldest);
    }
    return request;
  }

  /** Nobody waits for these any more: an answer would reach nobody. */
  withdraw(isMeant: (request: Request) => boolean): void {
    for (const [name, request] of this.#requests) if (isMeant(request)) this.take(name);
  }

  refuseAll(): void {
    for (const name of [...this.#requests.keys()]) this.#over(name);
  }

  heard(event: BlockEvent): void {
    if (event.type !== "block-start" && event.type !== "block-meta" && event.type !== "block-end") return;
    const ask = askOf(event.metadata);
    if (ask?.state === "asked") this.#shown.set(ask.id, event.key);
    else if (ask !== undefined) this.#over(ask.id);
    if (event.type !== "block-end") return;
    for (const [name, key] of this.#shown) if (key === event.key) this.#over(name);
  }

  #over(name: string): void {
    const request = this.take(name);
    if (request !== undefined) this.#refuse(request);
  }
}
