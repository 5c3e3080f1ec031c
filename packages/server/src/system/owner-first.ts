/**
 * Whether the owner waits for an answer right now. Then nothing of others begins: an owner's call takes several rounds of the process, and
 * would otherwise wait for something of theirs in each of them. Only for a moment: calls that take long, or wait for
 * something themselves, keep nobody from working.
 */

import { performance } from "node:perf_hooks";
import { OWNER_CALL_MS } from "./limits.ts";

export class OwnerFirst {
  readonly #now: () => number;
  /** The waiting calls, and when they came. */
  readonly #waiting = new Map<symbol, number>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A call of the owner's has arrived; call the returned function when it is answered. */
  begin(): () => void {
    const call = Symbol("call");
    this.#waiting.set(call, this.#now());
    return () => this.#waiting.delete(call);
  }

  get isWaiting(): boolean {
    const since = this.#now() - OWNER_CALL_MS;
    for (const [call, atMs] of this.#waiting) {
      if (atMs > since) return true;
      this.#waiting.delete(call);
    }
    return false;
  }
}
