/**
 * An environment in which nothing happens by itself: virtual time, seeded randomness. The same seed and the same calls
 * give the same run. For simulations and tests, of this package and of those that build on it.
 */

import type { Env } from "../ports/env.ts";

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export class VirtualEnv implements Env {
  /** Wall clock minus monotonic clock: change it to make the clock jump. */
  wallOffset = 1_700_000_000_000;
  #time = 0;
  #order = 0;
  #timers: Timer[] = [];
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = random32(seed);
  }

  now(): number {
    return this.wallOffset + Math.floor(this.#time);
  }

  monotonic(): number {
    return this.#time;
  }

  random(): number {
    return this.#next();
  }

  soon(run: () => void): void {
    Promise.resolve().then(run);
  }

  after(delayMs: number, run: () => void): () => void {
    const timer: Timer = { at: this.#time + delayMs, order: this.#order++, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Time until the next timer, if there is one. */
  get untilNext(): number | undefined {
    const next = this.#nextTimer();
    return next && next.at - this.#time;
  }

  /** Moves time on, running what falls due, in order. Between two timers, promises settle. */
  async advance(ms: number): Promise<void> {
    const end = this.#time + ms;
    await settle();
    for (let timer = this.#nextTimer(); timer && timer.at <= end; timer = this.#nextTimer()) {
      const due = timer;
      this.#timers = this.#timers.filter((other) => other !== due);
      this.#time = Math.max(this.#time, due.at);
      due.run();
      await settle();
    }
    this.#time = end;
  }

  #nextTimer(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (!first || timer.at < first.at || (timer.at === first.at && timer.order < first.order))
        first = timer;
    }
    return first;
  }
}

/** Lets everything run that waits only on promises. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 100; i++) await Promise.resolve();
}

/** A small seeded generator of unsigned 32-bit numbers (xorshift with a Weyl sequence). */
export function random32(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  let weyl = 0;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    weyl = (weyl + 0x6d2b79f5) | 0;
    let mixed = (state + weyl) | 0;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
