/**
 * The throttle of one kernel's connections: when they send their batched changes. It is no queue: each connection knows
 * what it has to send, and whether its client keeps up.
 *
 * All connections with something to send are served in one round, right after a commit and before the program does
 * anything else, because the next commit may hold it up. After a round nothing is sent for as long as a round takes, at
 * most `limits.batchMs`. So sending never takes more than half of the time, whatever the number of connections, and the
 * longer it takes, the more commits one frame carries. Connections that follow one conversation and are served in the
 * same round have the same batch, so it is encoded once.
 *
 * A round's duration is the shorter of the last two, because the machine may have interrupted one.
 *
 * In a virtual environment a round takes no time: there only the commits set the pace.
 */

import { limits } from "../../model/limits.ts";
import type { Env } from "../../ports/env.ts";

const throttles = new WeakMap<object, Throttle>();

/** The pace that all connections of one kernel share. */
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
      // A bug, and it stops the program; but not before the others have been served.
      this.#env.soon(() => {
        throw error;
      });
    }
  }
}
