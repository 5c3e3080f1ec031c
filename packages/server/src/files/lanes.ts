/** Jobs by key: those of one key one after the other, and at most so many at one time over all keys. */

export class Lanes {
  readonly #atOnce: number;
  readonly #lanes = new Map<string, Promise<unknown>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Never call it from inside a job of the same key. */
  run<T>(key: string, job: () => Promise<T>): Promise<T> {
    const before = this.#lanes.get(key) ?? Promise.resolve();
    const done = before.then(
      () => this.#alone(job),
      () => this.#alone(job),
    );
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    this.#lanes.set(key, settled);
    void settled.then(() => {
      if (this.#lanes.get(key) === settled) this.#lanes.delete(key);
    });
    return done;
  }

  isBusy(key: string): boolean {
    return this.#lanes.has(key);
  }

  /** When everything that was asked for so far is done. */
  async idle(): Promise<void> {
    while (this.#lanes.size > 0) await Promise.all(this.#lanes.values());
  }

  async #alone<T>(job: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnce) await new Promise<void>((go) => this.#waiting.push(go));
    else this.#running++;
    try {
      return await job();
    } finally {
      // The place is handed on, not given back and taken again: nobody slips in between.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
