/**
 * One view's pending requests: its opening, a page of older blocks, texts. All of them are sent again after a
 * reconnect, and retried with growing delays while the server refuses them temporarily. So a view is live in the end
 * whatever happened in between, without anybody asking twice.
 *
 * It knows no socket: frames go out through `send`, which drops them while there is no connection.
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

  /** It is open: what was asked for on another connection, or not at all for want of one, is asked for now. */
  opened(isWanted: (block: BlockId) => boolean): void {
    this.#opening.over();
    for (const id of this.#wanted) if (!isWanted(id)) this.#wanted.delete(id);
    this.#sendPage();
    this.#sendWanted();
  }

  /** Resolves when a page has come, or will never. One page is asked for at a time: who asks meanwhile gets that one. */
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

  /** The page has come, or what it would have been a page of is gone. */
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

  /** The text is here, or there is none to be had. */
  got(block: BlockId): void {
    if (this.#wanted.delete(block) && this.#wanted.size === 0) this.#wanting.over();
  }

  /** The connection is gone: nothing is tried until there is another. */
  disconnected(): void {
    for (const retry of [this.#opening, this.#paging, this.#wanting]) retry.over();
  }

  /** Nobody wants the view any more. */
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
