/**
 * The scheduler: which write queues have work, and which wait for the same commit. One call of the environment's `soon`
 * runs all queues that arrived together, and one answer of the store reaches every queue in its batch. With many
 * streams, a call or a promise for each would cost more than its work.
 */

import type { Env } from "../ports/env.ts";
import type { CommitAnswer } from "../ports/store.ts";

export interface Runnable {
  /** `at`: what time it is. */
  run(at: number): void;
  /** What became of the commit that it waits for. */
  answered(answer: CommitAnswer): void;
  unanswered(error: unknown): void;
}

export class Scheduler {
  readonly #env: Env;
  #due: Runnable[] = [];
  /** The answer that was waited for last, and by whom. */
  #answer: Promise<CommitAnswer> | undefined;
  #waiting: Runnable[] = [];

  constructor(env: Env) {
    this.#env = env;
  }

  add(due: Runnable): void {
    if (this.#due.push(due) === 1) this.#env.soon(this.#run);
  }

  /** A store that writes commits together gives them one promise. */
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
