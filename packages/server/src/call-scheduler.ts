/**
 * Whose call comes next. The owner's begin at once. Those of agents and viewers wait, each caller in a queue of its own: a few
 * of one caller are under way at a time, callers take turns, one works while others wait for something, and between two
 * beginnings the process rests about as long as it was busy, so that whatever they ask for, about half of it is left for the
 * owner. What waits for a connection that has closed is forgotten.
 *
 * Invariant: every call is answered exactly once: by its work, as busy where its queue is full, or as gone.
 */

import { performance } from "node:perf_hooks";
import { limits, type Problem, problem } from "@blockyard/kernel";
import type { Caller } from "./auth.ts";

interface Waiting {
  begin(): void;
}

interface Queue {
  running: number;
  readonly waiting: Set<Waiting>;
}

/** How busy this process has been and how long it has rested, since it began. */
export interface LoopTime {
  readonly active: number;
  readonly idle: number;
}

/** A call during which the process has rested for so long waits for something, and others may begin. */
const WAITS_MS = 20;
/** However busy the process is, somebody's turn comes after this. */
const REST_MS = 250;
/** How often it is looked whether there was rest enough. */
const LOOK_MS = 2;

export class CallScheduler {
  readonly #queues = new Map<string, Queue>();
  readonly #loopTime: () => LoopTime;
  #last: LoopTime = { active: 0, idle: 0 };
  #lastMs = Number.NEGATIVE_INFINITY;
  #isLooking = false;
  /** The calls that work, and how long the process had rested when they began. */
  readonly #working = new Map<Waiting, number>();

  constructor(loopTime: () => LoopTime = () => performance.eventLoopUtilization()) {
    this.#loopTime = loopTime;
  }

  /** `signal`: nobody waits for the answer any more. */
  run<T>(caller: Caller, work: () => Promise<T>, signal?: AbortSignal): Promise<T | Problem> {
    if (caller.role === "owner") return work();
    if (signal?.aborted) return Promise.resolve(GONE);
    const who = `${caller.role} ${caller.agent}`;
    const queue = this.#queues.get(who) ?? { running: 0, waiting: new Set() };
    if (queue.waiting.size >= limits.callerQueue) return Promise.resolve(BUSY);
    this.#queues.set(who, queue);
    return new Promise((settle, fail) => {
      const forget = () => {
        if (!queue.waiting.delete(waiting)) return;
        settle(GONE);
        this.#leave(who, queue);
      };
      const waiting: Waiting = {
        begin: () => {
          signal?.removeEventListener("abort", forget);
          queue.waiting.delete(waiting);
          queue.running++;
          this.#working.set(waiting, this.#loopTime().idle);
          work()
            .then(settle, fail)
            .finally(() => {
              queue.running--;
              this.#working.delete(waiting);
              this.#leave(who, queue);
              this.#look();
            });
        },
      };
      signal?.addEventListener("abort", forget, { once: true });
      queue.waiting.add(waiting);
      this.#look();
    });
  }

  /** Calls that wait or are under way, of all agents and viewers. */
  get pending(): number {
    let pending = 0;
    for (const { running, waiting } of this.#queues.values()) pending += running + waiting.size;
    return pending;
  }

  #leave(who: string, queue: Queue): void {
    if (queue.running === 0 && queue.waiting.size === 0) this.#queues.delete(who);
  }

  /** Begins one call, in a later round of the loop: what has come in meanwhile comes before it. */
  #look(afterMs = 0): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const look = () => {
      this.#isLooking = false;
      const next = this.#next();
      if (!next) return;
      if (!this.#hasRested()) return this.#look(LOOK_MS);
      this.#last = this.#loopTime();
      this.#lastMs = performance.now();
      // Behind those of its own caller, and its caller behind all others.
      const [who, queue, waiting] = next;
      this.#queues.delete(who);
      this.#queues.set(who, queue);
      waiting.begin();
      this.#look();
    };
    if (afterMs === 0) setImmediate(look);
    else setTimeout(look, afterMs);
  }

  #next(): [string, Queue, Waiting] | undefined {
    for (const [who, queue] of this.#queues) {
      const [first] = queue.waiting;
      if (first && queue.running < limits.callerCalls) return [who, queue, first];
    }
    return undefined;
  }

  #hasRested(): boolean {
    if (performance.now() - this.#lastMs >= REST_MS) return true;
    const now = this.#loopTime();
    for (const [call, idle] of this.#working) if (now.idle - idle >= WAITS_MS) this.#working.delete(call);
    if (this.#working.size > 0) return false;
    return now.idle - this.#last.idle >= now.active - this.#last.active;
  }
}

const BUSY = problem(
  "busy",
  `${limits.callerQueue} calls of yours are waiting already; wait for their answers, then try again`,
  { waiting: limits.callerQueue, retry_ms: 1_000 },
);
const GONE = problem("unavailable", "the connection was closed");
