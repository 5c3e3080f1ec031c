/**
 * How a search thread keeps its time. Its clock counts the time that the thread has had a processor: on a busy machine, a
 * pattern is not slow because its thread has to wait. Waiting counts as well, but little: what was found in the
 * meantime is given before the caller is told that nothing came. For search threads only.
 */

import { Script } from "node:vm";
import { type Clock, type Guard, matchWithin } from "@blockyard/kernel/search";
import { DEADLINE_LOOK_MS } from "./limits.ts";
import { starved } from "./message.ts";

/** A deadline of 250 ms has passed after 1.5 s of nothing but waiting. */
const WAITING = 1 / 6;
let lookedMs = 0;
let busyMs = 0;
let countedMs = 0;

export const busyClock: Clock = () => {
  const nowMs = performance.now();
  if (nowMs - lookedMs < DEADLINE_LOOK_MS) return countedMs;
  const { user, system } = process.threadCpuUsage();
  const nowBusyMs = (user + system) / 1_000;
  countedMs += Math.max(nowBusyMs - busyMs, (nowMs - lookedMs) * WAITING);
  lookedMs = nowMs;
  busyMs = nowBusyMs;
  return countedMs;
};

/** A script's limit is wall-clock time. If the thread had hardly any CPU time, the work is repeated with more. */
export const stoppable: Guard = <T extends object>(work: () => T, leftMs: number) => {
  const startMs = busyClock();
  const done = within(work, leftMs);
  const usedMs = busyClock() - startMs;
  if (done !== undefined || usedMs > leftMs * starved.share) return done;
  return within(work, Math.min((leftMs - usedMs) / starved.share ** 2, starved.ms));
};

/** The first match of all loads and compiles what every one needs: no pattern should pay for that with its time. */
export function warmUp(): void {
  const query = { pattern: "a+|b", literal: false, ignoreCase: true, contextLines: 0, maxMatches: 1 };
  matchWithin("a", query, starved.ms, busyClock, stoppable);
}

/**
 * The only way to stop a running function from its own thread: a script with a time limit. The code under it touches
 * nothing but the text and the current pattern, so that nothing is left half done.
 */
const held: { work: () => object; result: object | undefined } = { work: () => held, result: undefined };
const script = new Script("globalThis.runHeldWork()");
Object.defineProperty(globalThis, "runHeldWork", {
  value: () => {
    held.result = held.work();
  },
});

function within<T extends object>(work: () => T, limitMs: number): T | undefined {
  held.work = work;
  held.result = undefined;
  try {
    script.runInThisContext({ timeout: Math.ceil(limitMs) });
    return held.result as T | undefined;
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return undefined;
    throw error;
  }
}
