/**
 * The pending requests of one view: its opening, a page of older blocks, texts. All are repeated after a reconnect, and with
 * growing pauses after temporary problems. So a view always becomes live in the end, and its users ask once.
 *
 * It knows no socket: `send` takes frames, and drops them while there is no connection.
 */

import type { BlockId } from "../../model/ids.ts";
import { limits } from "../../model/limits.ts";
import type { Env } from "../../ports/env.ts";
import { Retry } from "../../ports/retry.ts";
import type { ClientFrame } from "../frame.ts";

interface Page {
  readonly before: number;
  readonly limit: number;
  readonly done: (() => void)[];
}

export class Requests {
  readonly #sub: number;
  readonly #send: (frame: ClientFrame) => void;
  readonly #opening: Retry;
  readonly #paging: Retry;
  readonly #wanting: Retry;
  #page: Page | undefined;
  readonly #wanted = new Set<BlockId>();

  constructor(env: Env, sub: number, send: (frame: ClientFrame) => void) {
    this.#sub = sub;
    this.#send = send;
    this.#opening = new Retry(env);
    this.#paging = new Retry(env);
    this.#wanting = new Retry(env);
  }

  /** The server cannot open the view now. */
  openLater(open: () => void): void {
    this.#opening.later(open);
  }

  /** The view is open: repeats requests that were lost with another connection, or never sent. */
  opened(isWanted: (block: BlockId) => boolean): void {
    this.#opening.over();
    for (const id of this.#wanted) if (!isWanted(id)) this.#wanted.delete(id);
    this.#sendPage();
    this.#sendWanted();
  }

  /** Resolves when a page has arrived, or never will. Requests that overlap share one page. */
  page(before: number, limit: number): Promise<void> {
    return new Promise((done) => {
      if (this.#page) {
        this.#page.done.push(done);
        return;
      }
      this.#page = { before, limit, done: [done] };
      this.#sendPage();
    });
  }

  pageLater(): void {
    this.#paging.later(() => this.#sendPage());
  }

  /** The page has arrived, or is no longer needed. */
  paged(): void {
    const page = this.#page;
    this.#page = undefined;
    this.#paging.over();
    for (const done of page?.done ?? []) done();
  }

  want(blocks: readonly BlockId[]): void {
    const fresh = blocks.filter((id) => !this.#wanted.has(id));
    for (const id of fresh) this.#wanted.add(id);
    this.#sendTexts(fresh);
  }

  wantLater(): void {
    this.#wanting.later(() => this.#sendWanted());
  }

  /** The text has arrived, or cannot be read. */
  got(block: BlockId): void {
    if (this.#wanted.delete(block) && this.#wanted.size === 0) this.#wanting.over();
  }

  /** The connection is lost: no retries until there is another. */
  disconnected(): void {
    for (const retry of [this.#opening, this.#paging, this.#wanting]) retry.over();
  }

  /** The view was closed. */
  close(): void {
    this.disconnected();
    this.#wanted.clear();
    this.paged();
  }

  #sendPage(): void {
    if (!this.#page) return;
    const { before, limit } = this.#page;
    this.#send({ type: "page", sub: this.#sub, before, limit });
  }

  #sendWanted(): void {
    this.#sendTexts([...this.#wanted]);
  }

  #sendTexts(blocks: readonly BlockId[]): void {
    for (let at = 0; at < blocks.length; at += limits.pageBlocks)
      this.#send({ type: "want", sub: this.#sub, blocks: blocks.slice(at, at + limits.pageBlocks) });
  }
}
