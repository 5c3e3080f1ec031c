/**
 * The scheduler: runs write queues that have work, and passes on the store's answers. One call of `env.soon` runs all queues that
 * became due together, and one promise answers all queues whose writes the store commits together: with many streams, one call
 * or promise per queue would cost more than the work itself.
 */

import type { Env } from "../ports/env.ts";
import type { CommitAnswer } from "../ports/store.ts";

export interface Runnable {
  /** `at`: the current time. */
  run(at: number): void;
  /** The result of the commit that it waits for. */
  answered(answer: CommitAnswer): void;
  unanswered(error: unknown): void;
}

export class Scheduler {
  readonly #env: Env;
  #due: Runnable[] = [];
  /** The answer that was awaited last, and the queues that wait for it. */
  #answer: Promise<CommitAnswer> | undefined;
  #waiting: Runnable[] = [];

  constructor(env: Env) {
    this.#env = env;
  }

  add(due: Runnable): void {
    if (this.#due.push(due) === 1) this.#env.soon(this.#run);
  }

  /** A store that groups commits returns the same promise for all of them. */
  wait(answer: Promise<CommitAnswer>, queue: Runnable): void {
    if (answer === this.#answer) {
      this.#waiting.push(queue);
      return;
    }
    const waiting = [queue];
    this.#answer = answer;
    this.#waiting = waiting;
    answer.then(
      (given) => {
        this.#forget(answer);
        for (const each of waiting) each.answered(given);
      },
      (error) => {
        this.#forget(answer);
        for (const each of waiting) each.unanswered(error);
      },
    );
  }

  #forget(answer: Promise<CommitAnswer>): void {
    if (this.#answer !== answer) return;
    this.#answer = undefined;
    this.#waiting = [];
  }

  readonly #run = (): void => {
    const due = this.#due;
    this.#due = [];
    const at = this.#env.now();
    for (const each of due) each.run(at);
  };
}
