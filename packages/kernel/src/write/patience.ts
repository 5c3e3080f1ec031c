/**
 * Retries with growing pauses while a store is unreachable: as long as the problem is temporary, and at most `holdMs`. Only for
 * operations that may run twice, or that detect it themselves.
 */

import { limits } from "../model/limits.ts";
import { isPassing, isProblem, type Problem } from "../model/problem.ts";
import type { Env } from "../ports/env.ts";
import { Retry } from "../ports/retry.ts";
import { StoreError, type StoreErrorCode } from "../ports/store-rules.ts";
import { unreadProblem } from "./outcome.ts";

/** Store errors that waiting does not help with. */
const FINAL: readonly StoreErrorCode[] = ["closed", "corrupt", "version", "locked", "lost"];

/** The result, or the last problem. Errors that are not the store's are rethrown. */
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
