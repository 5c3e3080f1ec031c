/**
 * The pace of one kernel's connections: when they send what they have gathered. It is no queue: what waits, and whether
 * the client at the other end keeps up, each connection knows for itself.
 *
 * Everybody who has something to send is served in one round, straight after what was committed: before the program does
 * anything else, since the next commit may hold it up. Then as long as rounds take, at most `limits.batchMs`, nothing is
 * sent: telling never takes more than half of the time, whatever the number of connections, and the more it takes the
 * more commits one frame carries. Served in the same round, connections that follow one conversation have gathered the
 * same, so that it is encoded once.
 *
 * What rounds take is the shorter of the last two: one that the machine interrupted says nothing.
 *
 * A round takes no time in a virtual environment: there the pace follows from the commits alone.
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
