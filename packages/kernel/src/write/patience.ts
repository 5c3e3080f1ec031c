/**
 * Retries while the store is unavailable: repeats an action with growing delays, as long as the failure is temporary
 * and the buffer may be held. Only for actions that are safe to repeat, or that detect repetition themselves.
 */

import { limits } from "../model/limits.ts";
import { isPassing, isProblem, type Problem } from "../model/problem.ts";
import type { Env } from "../ports/env.ts";
import { Retry } from "../ports/retry.ts";
import { StoreError, type StoreErrorCode } from "../ports/store-rules.ts";
import { unreadProblem } from "./outcome.ts";

/** What a store says that will be away for long: waiting does not help. */
const FINAL: readonly StoreErrorCode[] = ["closed", "corrupt", "version", "locked", "lost"];

/** What it comes to at last, or the last refusal. What is not the store's failure is thrown on. */
export async function patiently<T>(
  env: Env,
  run: () => Promise<T | Problem>,
  forMs: number = limits.holdMs,
): Promise<T | Problem> {
  const retry = new Retry(env);
  const untilMs = env.monotonic() + forMs;
  for (;;) {
    const answer = await tried(run);
    if (!isProblem(answer) || !isPassing(answer) || env.monotonic() >= untilMs) return answer;
    if (answer.details?.["final"] === true || answer.details?.["stopping"] === true) return answer;
    await new Promise<void>((resume) => retry.later(resume));
  }
}

async function tried<T>(run: () => Promise<T | Problem>): Promise<T | Problem> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const refused = unreadProblem(error);
    if (!FINAL.includes(error.code)) return refused;
    return { ...refused, details: { ...refused.details, final: true } };
  }
}
