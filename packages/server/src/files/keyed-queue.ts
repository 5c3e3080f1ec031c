/** Jobs by key: those of one key one after the other, and at most so many at one time over all keys. */

export class KeyedQueue {
  readonly #atOnce: number;
  readonly #keyedQueue = new Map<string, Promise<unknown>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Never call it from inside a job of the same key. */
  run<T>(key: string, job: () => Promise<T>): Promise<T> {
    const before = this.#keyedQueue.get(key) ?? Promise.resolve();
    const done = before.then(
      () => this.#alone(job),
      () => this.#alone(job),
    );
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    this.#keyedQueue.set(key, settled);
    void settled.then(() => {
      if (this.#keyedQueue.get(key) === settled) this.#keyedQueue.delete(key);
    });
    return done;
  }

  isBusy(key: string): boolean {
    return this.#keyedQueue.has(key);
  }

  /** Resolves when all work so far is done. */
  async idle(): Promise<void> {
    while (this.#keyedQueue.size > 0) await Promise.all(this.#keyedQueue.values());
  }

  async #alone<T>(job: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnce) await new Promise<void>((go) => this.#waiting.push(go));
    else this.#running++;
    try {
      return await job();
    } finally {
      // The slot is passed on, not released and taken again: no other job can get in between.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
