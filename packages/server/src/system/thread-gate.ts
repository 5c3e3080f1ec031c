/**
 * Lets a thread be ended from outside while it works. Node aborts the whole program where a thread is terminated between making
 * a stream of zlib's and setting it up. So a thread that can be ended passes this gate before it compresses or decompresses, and
 * whoever ends it waits until it is not behind the gate, and shuts it.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";

const OPEN = 0;
const PASSED = 1;
const SHUT = 2;

const LOOK_MS = 1;
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
    if (Atomics.compareExchange(this.shared, 0, OPEN, PASSED) === SHUT) Atomics.wait(this.shared, 0, SHUT);
    try {
      return work();
    } finally {
      Atomics.store(this.shared, 0, OPEN);
    }
  }

  /** Ends the thread that has this gate. */
  async end(worker: Worker): Promise<void> {
    while (worker.threadId !== NO_THREAD && Atomics.compareExchange(this.shared, 0, OPEN, SHUT) === PASSED)
      await sleep(LOOK_MS);
    await worker.terminate();
  }
}
