/**
 * Whose call comes next. The owner's begin at once. Those of agents and viewers wait, each caller in a queue of its own: a few
 * of one caller are under way at a time, callers take turns, one works while others wait for something, nothing begins while the
 * owner waits for an answer, and between two beginnings the process rests about as long as it was busy, so that whatever they ask
 * for, about half of it is left for the owner. What takes long is done in pieces, each in a turn of its own. What waits for a connection that has closed is forgotten.
 *
 * Invariant: every call is answered exactly once: by its work, as busy where its queue is full, or as gone.
 */

import { performance } from "node:perf_hooks";
import { limits, type Problem, problem } from "@blockyard/kernel";
import type { Caller } from "../access/auth.ts";
import { OwnerFirst } from "../system/owner-first.ts";
import { LONGEST_REST_MS, REST_LOOK_MS, RESTED_MS } from "./limits.ts";

interface Waiting {
  begin(): void;
}

interface Queue {
  running: number;
  /** What has begun already and goes on with its next piece: before anything new of the same caller. */
  readonly next: Set<Waiting>;
  readonly waiting: Set<Waiting>;
}

/** Work that a caller has asked for. `turn`: what takes long waits here between two pieces. */
type Work<T> = (turn: () => Promise<void>) => Promise<T>;

interface Care {
  /** Nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
  /** It ends what the same caller has asked for before, and is never too much. */
  readonly isNext?: boolean;
}

/** How busy this process has been and how long it has rested, since it began. */
interface LoopTime {
  readonly active: number;
  readonly idle: number;
}

export class CallScheduler {
  readonly #queues = new Map<string, Queue>();
  readonly #loopTime: () => LoopTime;
  readonly #owner: OwnerFirst;
  #last: LoopTime = { active: 0, idle: 0 };
  #lastMs = Number.NEGATIVE_INFINITY;
  #isLooking = false;
  /** The calls that work, and how long the process had rested when they began. */
  readonly #working = new Map<Waiting, number>();

  constructor(owner = new OwnerFirst(), loopTime: () => LoopTime = () => performance.eventLoopUtilization()) {
    this.#owner = owner;
    this.#loopTime = loopTime;
  }

  run<T>(caller: Caller, work: Work<T>, { signal, isNext = false }: Care = {}): Promise<T | Problem> {
    if (caller.role === "owner") return work(async () => undefined).finally(this.#owner.begin());
    if (signal?.aborted) return Promise.resolve(GONE);
    const who = `${caller.role} ${caller.agent}`;
    const queue = this.#queues.get(who) ?? { running: 0, next: new Set(), waiting: new Set() };
    if (!isNext && queue.waiting.size >= limits.callerQueue) return Promise.resolve(BUSY);
    this.#queues.set(who, queue);
    const place = isNext ? queue.next : queue.waiting;
    return new Promise((settle, fail) => {
      const forget = () => {
        if (!place.delete(waiting)) return;
        settle(GONE);
        this.#leave(who, queue);
      };
      const waiting: Waiting = {
        begin: () => {
          signal?.removeEventListener("abort", forget);
          place.delete(waiting);
          queue.running++;
          this.#working.set(waiting, this.#loopTime().idle);
          work(() => this.#turn(queue, waiting))
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
      place.add(waiting);
      this.#look();
    });
  }

  /** Work that has begun waits for its next turn. It does not count as working meanwhile. */
  #turn(queue: Queue, working: Waiting): Promise<void> {
    this.#working.delete(working);
    return new Promise((goOn) => {
      const waiting: Waiting = {
        begin: () => {
          queue.next.delete(waiting);
          this.#working.set(working, this.#loopTime().idle);
          goOn();
        },
      };
      queue.next.add(waiting);
      this.#look();
    });
  }

  /** Calls that wait or are under way, of all agents and viewers. */
  get pending(): number {
    let pending = 0;
    for (const { running, next, waiting } of this.#queues.values())
      pending += running + next.size + waiting.size;
    return pending;
  }

  #leave(who: string, queue: Queue): void {
    if (queue.running + queue.next.size + queue.waiting.size === 0) this.#queues.delete(who);
  }

  /** Begins one call, in a later round of the loop: what has come in meanwhile comes before it. */
  #look(afterMs = 0): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const look = () => {
      this.#isLooking = false;
      const next = this.#next();
      if (!next) return;
      if (!this.#hasRested()) return this.#look(REST_LOOK_MS);
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
      const [next] = queue.next;
      if (next) return [who, queue, next];
      const [first] = queue.waiting;
      if (first && queue.running < limits.callerCalls) return [who, queue, first];
    }
    return undefined;
  }

  #hasRested(): boolean {
    if (performance.now() - this.#lastMs >= LONGEST_REST_MS) return true;
    if (this.#owner.isWaiting) return false;
    const now = this.#loopTime();
    for (const [call, idle] of this.#working) if (now.idle - idle >= RESTED_MS) this.#working.delete(call);
    if (this.#working.size > 0) return false;
    return now.idle - this.#last.idle >= now.active - this.#last.active;
  }
}

const BUSY = problem(
  "busy",
  `${limits.callerQueue} of your calls are already queued; wait for their results, then try again`,
  { waiting: limits.callerQueue, retry_ms: 1_000 },
);
const GONE = problem("unavailable", "the connection was closed");
