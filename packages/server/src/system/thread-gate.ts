/**
 * Lets a thread be terminated from outside while it works. Node aborts the whole program if a thread is terminated
 * between creating a zlib stream and initializing it. So such a thread passes this gate before it compresses or
 * decompresses, and the terminating thread waits until it has left the gate, and closes it.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { GATE_LOOK_MS } from "./limits.ts";

const OPEN = 0;
const PASSED = 1;
/** Passed, and to be shut by whoever comes out of it. */
const CLOSING = 2;
const SHUT = 3;

/** Of a worker that has ended. */
const NO_THREAD = -1;

export class ThreadGate {
  /** For the thread, in which a gate is made of it. */
  readonly shared: Int32Array<SharedArrayBuffer>;

  constructor(shared = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))) {
    this.shared = shared;
  }

  /** In the thread. One that is being ended does not come back from here. */
  pass<T>(work: () => T): T {
    if (this.#change(OPEN, PASSED) === SHUT) this.#stay();
    try {
      return work();
    } finally {
      if (this.#change(PASSED, OPEN) === CLOSING) this.#stay();
    }
  }

  /** Ends the thread that has this gate. */
  async end(worker: Worker): Promise<void> {
    while (worker.threadId !== NO_THREAD) {
      const was = this.#change(OPEN, SHUT);
      if (was === OPEN || was === SHUT) break;
      this.#change(PASSED, CLOSING);
      await sleep(GATE_LOOK_MS);
    }
    await worker.terminate();
  }

  #stay(): never {
    Atomics.store(this.shared, 0, SHUT);
    for (;;) Atomics.wait(this.shared, 0, SHUT);
  }

  /** What it was. */
  #change(from: number, to: number): number {
    return Atomics.compareExchange(this.shared, 0, from, to);
  }
}
