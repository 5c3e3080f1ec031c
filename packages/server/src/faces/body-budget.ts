/**
 * How much of what one caller sends is held at once, over all its requests: each body has a bound of its own, and without
 * this one a caller could send as many of them as there are connections. Callers do not share, so that nobody can use up
 * what another needs.
 *
 * What counts is what a request says it will send; one that does not say may send as much as its route takes.
 */

import type { IncomingMessage } from "node:http";

export class BodyBudget {
  readonly #mostBytes: number;
  readonly #held = new Map<string, number>();

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** How to give back what was taken; undefined if there is not enough. */
  take(who: string, { headers }: IncomingMessage, maxBytes: number): (() => void) | undefined {
    const said =
      headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : maxBytes;
    const bytes = Math.min(said, maxBytes);
    const held = (this.#held.get(who) ?? 0) + bytes;
    if (held > this.#mostBytes) return undefined;
    this.#held.set(who, held);
    return () => {
      const left = (this.#held.get(who) ?? 0) - bytes;
      if (left > 0) this.#held.set(who, left);
      else this.#held.delete(who);
    };
  }
}
