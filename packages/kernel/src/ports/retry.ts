/**
 * Retries with growing delays: half of each delay is random, so that many clients that were refused at one moment do
 * not return at one moment. It does not know what is retried; the caller says whether it succeeded.
 */

import { limits } from "../model/limits.ts";
import type { Env } from "./env.ts";

export class Retry {
  readonly #env: Env;
  #tries = 0;
  #cancel: (() => void) | undefined;

  constructor(env: Env) {
    this.#env = env;
  }

  /** Runs it after the next pause. While one waits already, nothing is added. */
  later(run: () => void): void {
    if (this.#cancel) return;
    const longestMs = Math.min(limits.retryMostMs, limits.retryFirstMs * 2 ** this.#tries);
    this.#tries = Math.min(this.#tries + 1, limits.retryDoublings);
    const waitMs = longestMs * (0.5 + this.#env.random() / 2 ** 33);
    this.#cancel = this.#env.after(waitMs, () => {
      this.#cancel = undefined;
      run();
    });
  }

  /** Nothing is tried any more; the pauses go on from where they were. */
  cancel(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** It has worked, or is not wanted any more: the next pause is the shortest again. */
  over(): void {
    this.cancel();
    this.#tries = 0;
  }
}
