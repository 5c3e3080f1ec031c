/**
 * Rounds: which write queues have something to do. One call of the environment's `soon` runs all that came together, since
 * with many streams a call for each would cost more than what it calls.
 */

import type { Env } from "./env.ts";

export interface Runnable {
  run(): void;
}

export class Rounds {
  readonly #env: Env;
  #due: Runnable[] = [];

  constructor(env: Env) {
    this.#env = env;
  }

  add(due: Runnable): void {
    if (this.#due.push(due) === 1) this.#env.soon(this.#run);
  }

  readonly #run = (): void => {
    const due = this.#due;
    this.#due = [];
    for (const each of due) each.run();
  };
}
