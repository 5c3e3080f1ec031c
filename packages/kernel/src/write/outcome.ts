/**
 * The outcome of a write whose commit failed or got no answer: reading the store tells, or it stays unknown. The problem "nothing
 * was written" is made only here, and only if that is certain.
 */

import { limits } from "../model/limits.ts";
import { type Problem, problem } from "../model/problem.ts";
import type { Env } from "../ports/env.ts";
import { readMissed, wasTaken } from "../ports/missed.ts";
import type { Commit, Store } from "../ports/store.ts";
import { StoreError } from "../ports/store-rules.ts";
import type { Queued } from "./write.ts";

/** Clients may try another server; callers inside this process stop waiting. */
const STOPPING = { stopping: true };

type Outcome = "written" | "not written" | "unknown";

/**
 * The outcome of a commit that failed. It may have taken effect with only the answer lost; reading the store tells. Until then
 * nothing can be planned.
 */
export async function outcomeOf(env: Env, store: Store, commit: Commit, error: unknown): Promise<Outcome> {
  // It was not even tried.
  if (isClosed(error)) return "not written";
  if (error instanceof StoreError && error.isUncertain) return "unknown";
  const late = new Promise<"unknown">((done) =>
    env.after(limits.outcomeTries * limits.outcomeMs, () => done("unknown")),
  );
  return Promise.race([late, looked(env, store, commit)]);
}

async function looked(env: Env, store: Store, commit: Commit): Promise<Outcome> {
  for (let tries = 0; tries < limits.outcomeTries; tries++) {
    if (tries > 0) await new Promise<void>((done) => env.after(limits.outcomeMs, done));
    const outcome = await lookFor(store, commit);
    if (outcome !== undefined) return outcome;
  }
  return "unknown";
}

/** The outcome, asked for as long as writes may be held. `meanwhile` runs before each pause. */
export async function lateOutcomeOf(
  env: Env,
  store: Store,
  commit: Commit,
  meanwhile: () => void,
): Promise<Outcome | undefined> {
  let outcome: Outcome | undefined;
  const untilMs = env.monotonic() + limits.holdMs;
  while (outcome === undefined && env.monotonic() < untilMs) {
    meanwhile();
    await new Promise<void>((done) => env.after(limits.outcomeWaitMs, done));
    outcome = await lookFor(store, commit);
  }
  return outcome;
}

/** Undefined if the store does not answer. */
async function lookFor(
  store: Store,
  { conversation, expectedSeq, ops }: Commit,
): Promise<Outcome | undefined> {
  try {
    const missed = await readMissed(store, conversation, expectedSeq);
    const isThere = missed === undefined ? false : wasTaken(missed, ops);
    if (isThere === undefined) return "unknown"; // and it never will be
    return isThere ? "written" : "not written";
  } catch (unread) {
    return isClosed(unread) ? "unknown" : undefined;
  }
}

/**
 * The answer for a write that could not be (re)tried. If its key could not be looked up, it may be a repeated request that
 * was already written.
 */
export function refusalOf({ isInDoubt, isNew }: Queued, error: unknown): Problem {
  return isInDoubt || !isNew ? uncertainProblem(error) : storageProblem(error);
}

function isClosed(error: unknown): boolean {
  return error instanceof StoreError && error.code === "closed";
}

export function storageProblem(error: unknown): Problem {
  // A closed store stays closed: no retries.
  if (isClosed(error)) return problem("unavailable", "the server is stopping, nothing was written", STOPPING);
  const reason = reasonOf(error);
  return problem("storage", `the store failed, nothing was written: ${reason}`, { reason });
}

/** For reads, which have no outcome to find out. */
export function unreadProblem(error: unknown): Problem {
  if (isClosed(error)) return problem("unavailable", "the server is stopping", STOPPING);
  const reason = reasonOf(error);
  return problem("storage", `the store could not be read; try again: ${reason}`, { reason });
}

export function uncertainProblem(error: unknown): Problem {
  const reason = reasonOf(error);
  const message = `the store did not answer, so this may or may not be written: ${reason}. Resend it with the same key and it is done once`;
  return problem("uncertain", message, { reason });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
