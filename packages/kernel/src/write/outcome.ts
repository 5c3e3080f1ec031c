/**
 * What became of a write, where the store has not said so: found out by reading, or told as not known. A problem that says
 * that nothing was written is made here, and nowhere without knowing it.
 */

import { limits } from "../model/limits.ts";
import { type Problem, problem } from "../model/problem.ts";
import type { Env } from "../ports/env.ts";
import { readMissed, wasTaken } from "../ports/missed.ts";
import type { Commit, Store } from "../ports/store.ts";
import { StoreError } from "../ports/store-rules.ts";
import type { Queued } from "./write.ts";

/** Clients may ask the next server; whoever lives inside of this one waits for nothing any more. */
const STOPPING = { stopping: true };

type Outcome = "written" | "not written" | "unknown";

/**
 * What became of a commit that failed: it may have taken effect all the same, and only its answer was lost. Reading tells.
 * Until then nothing can be planned, and nobody can be told whether to try again.
 */
export async function outcomeOf(env: Env, store: Store, commit: Commit, error: unknown): Promise<Outcome> {
  // Then it was not even tried.
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

/** What became of it after all, asked for as long as writes may be held. `meanwhile` runs before each pause. */
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

/** Undefined where the store does not say. */
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
 * What to answer a write that could not be tried (again). With a key that could not be looked for it may be one that is sent
 * again, and was written the first time.
 */
export function refusalOf({ isInDoubt, isNew }: Queued, error: unknown): Problem {
  return isInDoubt || !isNew ? uncertainProblem(error) : storageProblem(error);
}

function isClosed(error: unknown): boolean {
  return error instanceof StoreError && error.code === "closed";
}

export function storageProblem(error: unknown): Problem {
  // Nothing is tried again on a store that was closed: it stays closed.
  if (isClosed(error)) return problem("unavailable", "the server is stopping, nothing was written", STOPPING);
  const reason = reasonOf(error);
  return problem("storage", `the store failed, nothing was written: ${reason}`, { reason });
}

/** A read that failed has no outcome. */
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
