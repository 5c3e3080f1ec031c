/**
 * A debouncing timer: each key is due `quietMs` after its last request, and no later than `mostMs` after its first
 * request since it was last done. It does not know what is done.
 */

import type { Env } from "@blockyard/kernel";

interface Due {
  readonly first: number;
  readonly cancel: () => void;
}

export class FlushClock {
  readonly #env: Env;
  readonly #run: (key: string) => void;
  readonly #due = new Map<string, Due>();

  constructor(env: Env, run: (key: string) => void) {
    this.#env = env;
    this.#run = run;
  }

  ask(key: string, quietMs: number, mostMs: number): void {
    const now = this.#env.monotonic();
    const known = this.#due.get(key);
    known?.cancel();
    const first = known?.first ?? now;
    const delay = Math.max(0, Math.min(quietMs, first + mostMs - now));
    const cancel = this.#env.after(delay, () => {
      this.#due.delete(key);
      this.#run(key);
    });
    this.#due.set(key, { first, cancel });
  }

  /** It is being done now. */
  drop(key: string): void {
    this.#due.get(key)?.cancel();
    this.#due.delete(key);
  }

  has(key: string): boolean {
    return this.#due.has(key);
  }

  close(): void {
    for (const { cancel } of this.#due.values()) cancel();
    this.#due.clear();
  }
}
