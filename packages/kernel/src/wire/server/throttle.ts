/**
 * The throttle of one kernel's connections: when they send what they have gathered. It is not a queue: each connection keeps what
 * waits, and knows whether its client keeps up.
 *
 * All connections with something to send are served in one round, right after a commit and before anything else. Then
 * nothing is sent for as long as that round took, at most `limits.batchMs`: sending never takes more than half of the time,
 * however many connections there are, and the longer it takes the more commits fit into one frame. Connections that follow
 * the same conversation have gathered the same changes in a round, so they are encoded once.
 *
 * The duration of a round is the shorter of the last two, because the machine may have interrupted one.
 *
 * In a virtual environment a round takes no time: there the pace depends on the commits alone.
 */

import { limits } from "../../model/limits.ts";
import type { Env } from "../../ports/env.ts";

const throttles = new WeakMap<object, Throttle>();

/** The throttle that all connections of one kernel share. */
export function throttleOf(kernel: { readonly env: Env }): Throttle {
  let throttle = throttles.get(kernel);
  if (!throttle) {
    throttle = new Throttle(kernel.env);
    throttles.set(kernel, throttle);
  }
  return throttle;
}

export class Throttle {
  readonly #env: Env;
  readonly #due = new Set<() => void>();
  #isArmed = false;
  #lastMs = 0;
  #restUntil = Number.NEGATIVE_INFINITY;

  constructor(env: Env) {
    this.#env = env;
  }

  /** Calls `send` once, in the next round. */
  join(send: () => void): void {
    this.#due.add(send);
    if (this.#isArmed) return;
    this.#isArmed = true;
    const restMs = this.#restUntil - this.#env.monotonic();
    if (restMs > 0) this.#env.after(restMs, () => this.#round());
    else void Promise.resolve().then(() => this.#round());
  }

  leave(send: () => void): void {
    this.#due.delete(send);
  }

  #round(): void {
    this.#isArmed = false;
    const due = [...this.#due];
    this.#due.clear();
    const startMs = this.#env.monotonic();
    for (const send of due) this.#serve(send);
    const endMs = this.#env.monotonic();
    this.#restUntil = endMs + Math.min(endMs - startMs, this.#lastMs, limits.batchMs);
    this.#lastMs = endMs - startMs;
  }

  #serve(send: () => void): void {
    try {
      send();
    } catch (error) {
      // A bug: rethrown after the others have been served.
      this.#env.soon(() => {
        throw error;
      });
    }
  }
}
