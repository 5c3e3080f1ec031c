/**
 * Parses request bodies as JSON. Short ones are parsed at once; long ones in a thread, so that other requests do not wait. Threads
 * are bounded in time and memory: one that exceeds them is ended, and its body refused. The owner's bodies come first.
 *
 * Invariant: every body is answered exactly once: by the thread, by its end, or by `close`.
 */

import { Worker } from "node:worker_threads";
import { type Problem, problem } from "@blockyard/kernel";
import { LONG_BODY_BYTES, PARSE_MS, PARSER_MB, PARSER_START_MS } from "./limits.ts";
import { type Parsed, parseBytes } from "./strict-json.ts";

/** What the thread says when it has started. */
const READY = "ready";

interface Job {
  readonly bytes: Uint8Array;
  readonly isOwners: boolean;
  readonly settle: (parsed: Parsed) => void;
}

export class JsonParser {
  readonly #program: URL;
  readonly #parseMs: number;
  readonly #queue: Job[] = [];
  #worker: Worker | undefined;
  #job: Job | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** `program`: the thread's, where it is not the one beside this file. */
  constructor(program = new URL("./json-parser.worker.ts", import.meta.url), parseMs = PARSE_MS) {
    this.#program = program;
    this.#parseMs = parseMs;
  }

  /** An empty body is an empty object. */
  parse(bytes: Uint8Array, isOwners: boolean): Promise<Parsed> {
    if (bytes.length <= LONG_BODY_BYTES) return Promise.resolve(parseBytes(bytes));
    if (this.#closed) return Promise.resolve(CLOSED);
    return new Promise((settle) => {
      this.#queue.push({ bytes, isOwners, settle });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#queue.splice(0)) job.settle(CLOSED);
    await this.#end(CLOSED);
  }

  #next(): void {
    if (this.#job !== undefined || this.#queue.length === 0) return;
    const first = Math.max(
      0,
      this.#queue.findIndex(({ isOwners }) => isOwners),
    );
    const [job] = this.#queue.splice(first, 1);
    if (job === undefined) return;
    this.#job = job;
    const isNew = this.#worker === undefined;
    this.#worker ??= this.#start();
    // How long a thread takes to start says nothing about a body.
    this.#within(isNew ? PARSER_START_MS : this.#parseMs);
    this.#worker.postMessage(job.bytes);
  }

  #within(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#end(TOO_LATE), ms);
  }

  #start(): Worker {
    const worker = new Worker(this.#program, { resourceLimits: { maxOldGenerationSizeMb: PARSER_MB } });
    worker.unref();
    worker.on("message", (said: Parsed | typeof READY) => {
      if (worker !== this.#worker) return;
      if (said !== READY) this.#settle(said);
      else if (this.#job) this.#within(this.#parseMs);
    });
    worker.on("error", () => worker === this.#worker && void this.#end(TOO_LARGE));
    return worker;
  }

  /** The thread is gone, or has to go; another one is started for the next body. */
  async #end(why: Problem): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#settle(why);
    await worker?.terminate();
  }

  #settle(parsed: Parsed): void {
    clearTimeout(this.#timer);
    const job = this.#job;
    this.#job = undefined;
    job?.settle(parsed);
    this.#next();
  }
}

const CLOSED = problem("unavailable", "the server is stopping");
const TOO_LATE = problem("too_large", "parsing this body takes too long; send less at once");
const TOO_LARGE = problem("too_large", "parsing this body needs too much memory; send less at once");
