/**
 * Searching off the main thread, so that no pattern, whatever it costs, holds up anybody but who asked for it. The
 * thread ends a search at its deadline by itself. If it does not, the caller is answered a little later all the same; and
 * if it is still not back after that, it is ended, and another one is started. A thread that hardly gets a processor,
 * because the machine has other things to do, has some more time.
 *
 * Invariant: every request is answered exactly once: by the thread, by the deadline, or by `close`.
 */

import { Worker } from "node:worker_threads";
import type { MatchAnswer, Matcher, SearchAnswer, SearchQuery } from "@blockyard/kernel";
import { limits, type Problem, problem } from "@blockyard/kernel/plain";
import { ThreadGate } from "../system/thread-gate.ts";
import {
  CHANGED_ROWS,
  INDEXED_ROWS,
  SEARCH_GIVE_UP_MS,
  SEARCH_GRACE_MS,
  STARTED_ROWS,
  THREAD_MB,
  THREAD_PREPARE_MS,
  THREAD_TIME_MS,
  YOUNG_THREAD_MB,
} from "./limits.ts";
import { type Changes, type MemtableBlock, type Reply, type Request, starved } from "./message.ts";

interface Job {
  readonly request: Request;
  readonly deadlineMs: number;
  readonly isOwners: boolean;
  readonly settle: (answer: SearchAnswer | MatchAnswer | Problem) => void;
  isAnswered: boolean;
  /** When the thread began with it, by the clock, and what the thread had had of a processor until then. */
  begunMs: number;
  busyMs: number | undefined;
}

interface Thread {
  readonly worker: Worker;
  readonly gate: ThreadGate;
  /** Whether it has loaded the database once. */
  isLoaded: boolean;
}

interface SearchPoolOptions {
  /** The database; without one there are only texts to match. */
  readonly path?: string;
  readonly report?: (message: string) => void;
  /** Journal rows before the one that it gives are in the tables. */
  readonly flushedBefore?: () => number;
  /** The thread's program: it knows the store that it reads. */
  readonly program: URL;
}

export class SearchPool {
  readonly #path: string | undefined;
  readonly #report: (message: string) => void;
  readonly #flushedBefore: () => number;
  readonly #program: URL;
  readonly #queue: Job[] = [];
  #thread: Thread | undefined;
  #job: Job | undefined;
  #timer: NodeJS.Timeout | undefined;
  #changed: Set<number> | undefined = new Set();
  #hasRemoved = false;
  #closed = false;
  /** How often a thread had to be ended. */
  kills = 0;

  constructor({ path, report = () => {}, flushedBefore = () => 0, program }: SearchPoolOptions) {
    this.#path = path;
    this.#flushedBefore = flushedBefore;
    this.#report = report;
    this.#program = program;
  }

  /** Searches the database's tables with the memtable over them. */
  async search(query: SearchQuery, memtable: readonly MemtableBlock[]): Promise<SearchAnswer | Problem> {
    const deadlineMs = bounded(query.deadlineMs);
    const bounds = { ...query, deadlineMs };
    const request = {
      type: "search",
      query: bounds,
      memtable,
      changed: undefined,
      flushedBefore: 0,
    } as const;
    return (await this.#ask(request, deadlineMs, query.isOwners !== false)) as SearchAnswer | Problem;
  }

  /** Matches texts for the owner, and for others. */
  readonly matcher = this.#matcherFor(true);
  readonly guestMatcher = this.#matcherFor(false);

  #matcherFor(isOwners: boolean): Matcher {
    return async (text, query, askedMs) => {
      const deadlineMs = bounded(askedMs);
      const request = { type: "match", text, query, deadlineMs } as const;
      return (await this.#ask(request, deadlineMs, isOwners)) as MatchAnswer | Problem;
    };
  }

  /** Says that a block's row has changed in the tables. */
  changed(row: number): void {
    if (this.#changed === undefined) return;
    this.#changed.add(row);
    if (this.#changed.size > CHANGED_ROWS) this.#changed = undefined;
  }

  /** Lets the index catch up where enough has changed. To be called when the changed rows can be read. */
  index(): void {
    const changed = this.#changed?.size ?? CHANGED_ROWS;
    if (changed >= (this.#thread === undefined ? STARTED_ROWS : INDEXED_ROWS)) this.indexNow();
  }

  /** Says that rows were removed for ever: the index lets go of their text. */
  removed(): void {
    this.#hasRemoved = true;
    this.indexNow();
  }

  /** Lets the index catch up, however much has changed. */
  indexNow(): void {
    if (this.#closed) return;
    this.#thread ??= this.#start();
    this.#thread.worker.postMessage({ type: "index", ...this.#changes(this.#thread) } satisfies Request);
    this.#thread.isLoaded = true;
  }

  /** Ends the threads. Who still waits is answered `unavailable`. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const waiting = [...(this.#job === undefined ? [] : [this.#job]), ...this.#queue.splice(0)];
    this.#job = undefined;
    for (const job of waiting) answer(job, problem("unavailable", "The search was closed."));
    const thread = this.#thread;
    this.#thread = undefined;
    if (thread !== undefined) await ended(thread);
  }

  /** The owner's come before those of all others, which have only some of the places to wait in. */
  #ask(
    request: Request,
    deadlineMs: number,
    isOwners: boolean,
  ): Promise<SearchAnswer | MatchAnswer | Problem> {
    if (this.#closed) return Promise.resolve(problem("unavailable", "The search was closed."));
    const alike = this.#queue.filter((job) => job.isOwners === isOwners).length;
    const most = isOwners ? limits.queuedSearches : limits.guestSearches;
    if (alike >= most) {
      const message = `${most} searches are already queued; try again in a moment.`;
      return Promise.resolve(problem("busy", message, { waiting: most, retry_ms: limits.searchDeadlineMs }));
    }
    return new Promise((settle) => {
      const job = { request, deadlineMs, isOwners, settle, isAnswered: false, begunMs: 0, busyMs: undefined };
      const firstOther = this.#queue.findIndex((other) => !other.isOwners);
      if (isOwners && firstOther >= 0) this.#queue.splice(firstOther, 0, job);
      else this.#queue.push(job);
      this.#next();
    });
  }

  #next(): void {
    if (this.#job !== undefined || this.#closed) return;
    const job = this.#queue.shift();
    if (job === undefined) return;
    this.#job = job;
    this.#thread ??= this.#start();
    this.#timer = setTimeout(() => this.#expire(), THREAD_PREPARE_MS);
    this.#send(this.#thread, job.request);
  }

  #send(thread: Thread, request: Request): void {
    thread.worker.postMessage(request.type === "match" ? request : { ...request, ...this.#changes(thread) });
  }

  #changes({ isLoaded }: Thread): Changes {
    const changed = isLoaded && this.#changed !== undefined ? [...this.#changed] : undefined;
    this.#changed = new Set();
    const hasRemoved = this.#hasRemoved;
    this.#hasRemoved = false;
    return { changed, flushedBefore: this.#flushedBefore(), ...(hasRemoved ? { hasRemoved } : {}) };
  }

  #onReply(thread: Thread, reply: Reply): void {
    if (reply.type === "note") {
      this.#report(reply.message);
      return;
    }
    const job = this.#job;
    if (thread !== this.#thread || job === undefined) return;
    clearTimeout(this.#timer);
    if (reply.type === "begun") {
      if (job.request.type === "search") thread.isLoaded = true;
      this.#begun(thread, job);
      return;
    }
    if (reply.type === "failed") {
      // It may not have taken in what has changed.
      this.#changed = undefined;
      this.#report(`a search failed: ${reply.stack ?? reply.message}`);
    }
    this.#settle(
      reply.type === "answer" ? reply.answer : problem("storage", `The search failed: ${reply.message}`),
    );
  }

  #begun({ worker }: Thread, job: Job): void {
    job.begunMs = performance.now();
    void busyMs(worker).then((busy) => {
      job.busyMs = busy;
    });
    this.#timer = setTimeout(() => void this.#late(worker, job), job.deadlineMs + SEARCH_GRACE_MS);
  }

  async #late(worker: Worker, job: Job): Promise<void> {
    const busy = await busyMs(worker);
    if (job !== this.#job) return;
    const passedMs = performance.now() - job.begunMs;
    const usedMs = busy === undefined || job.busyMs === undefined ? 0 : busy - job.busyMs;
    // It ends by itself when it has had its time, and then it has something to give.
    if (usedMs < job.deadlineMs + SEARCH_GRACE_MS && passedMs < starved.ms) {
      this.#timer = setTimeout(() => void this.#late(worker, job), THREAD_TIME_MS);
      return;
    }
    answer(job, timeout(job));
    this.#timer = setTimeout(() => this.#expire(), SEARCH_GIVE_UP_MS);
  }

  #expire(): void {
    this.kills++;
    this.#replace();
    this.#thread = this.#start();
    this.#settle(timeout(this.#job as Job));
  }

  /** The thread has ended by itself: out of memory, or a bug in it. */
  #ended(thread: Thread, error: Error | undefined): void {
    if (thread !== this.#thread) return;
    this.#report(`the search thread ended: ${error?.stack ?? "no reason given"}`);
    this.#replace();
    if (this.#job === undefined) return;
    clearTimeout(this.#timer);
    const isMemory = (error as { code?: unknown } | undefined)?.code === "ERR_WORKER_OUT_OF_MEMORY";
    this.#settle(
      isMemory
        ? problem("too_large", `The pattern needs more than ${THREAD_MB} MB on this text.`)
        : problem("storage", "The search ended without a result."),
    );
  }

  #replace(): void {
    const old = this.#thread;
    this.#thread = undefined;
    void old?.gate.end(old.worker);
  }

  #settle(result: SearchAnswer | MatchAnswer | Problem): void {
    answer(this.#job as Job, result);
    this.#job = undefined;
    this.#next();
  }

  #start(): Thread {
    const gate = new ThreadGate();
    const worker = new Worker(this.#program, {
      workerData: { path: this.#path, gate: gate.shared },
      execArgv: ["--disable-warning=ExperimentalWarning"],
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MB, maxYoungGenerationSizeMb: YOUNG_THREAD_MB },
    });
    const thread: Thread = { worker, gate, isLoaded: false };
    // A program that has nothing else to do ends, whether or not there are threads to search with.
    worker.unref();
    worker.on("message", (reply: Reply) => this.#onReply(thread, reply));
    worker.on("error", (error) => this.#ended(thread, error));
    worker.on("exit", () => this.#ended(thread, undefined));
    return thread;
  }
}

/** Lets a thread end between two steps of its work; one that does not come back is ended in the middle of it. */
async function ended({ worker, gate }: Thread): Promise<void> {
  const exited = new Promise((done) => worker.once("exit", done));
  worker.ref();
  worker.postMessage({ type: "end" } satisfies Request);
  const timer = setTimeout(() => void gate.end(worker), SEARCH_GIVE_UP_MS);
  await exited;
  clearTimeout(timer);
}

/** How long a thread has had a processor. Unknown: it did not answer. */
async function busyMs(worker: Worker): Promise<number | undefined> {
  const asked = worker.cpuUsage().then(
    ({ user, system }) => (user + system) / 1_000,
    () => undefined,
  );
  const given = new Promise<undefined>((done) => setTimeout(() => done(undefined), THREAD_TIME_MS).unref());
  return await Promise.race([asked, given]);
}

function bounded(deadlineMs: number): number {
  return Math.min(deadlineMs, limits.searchDeadlineMs);
}

function answer(job: Job, result: SearchAnswer | MatchAnswer | Problem): void {
  if (!job.isAnswered) job.settle(result);
  job.isAnswered = true;
}

function timeout({ deadlineMs }: Job): Problem {
  const message = `The search timed out after ${deadlineMs} ms. Use a simpler pattern or search fewer blocks.`;
  return problem("timeout", message, { deadline_ms: deadlineMs });
}
