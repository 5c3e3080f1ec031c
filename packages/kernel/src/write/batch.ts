/**
 * A batch: writes of one conversation that are planned together and committed as one. This file plans it with what is in memory;
 * the queue commits it and handles the outcome.
 *
 * Writes are planned in order. One that cannot be planned yet ends the batch, so that nothing overtakes it.
 */

import type { Json } from "../model/json.ts";
import { limits } from "../model/limits.ts";
import { isProblem, problem } from "../model/problem.ts";
import type { Env } from "../ports/env.ts";
import type { Commit } from "../ports/store.ts";
import type { BaseState } from "./base-state.ts";
import { refusedWrite } from "./deletions.ts";
import { Draft } from "./draft.ts";
import { type DraftedUnit, Missing } from "./draft-base.ts";
import type { MissingPart } from "./missing.ts";
import type { Queued } from "./write.ts";

export interface Batch {
  readonly planned: readonly Queued[];
  /** Undefined if a piece took the fast path. */
  readonly draft: Draft | undefined;
  readonly units: readonly DraftedUnit[];
  /** Undefined if no plan made an op. */
  readonly commit: Commit | undefined;
  /** What the next write needs. */
  readonly missing: MissingPart | undefined;
}

/** Plans waiting writes in order, until something is missing or the batch is full. */
export function planBatch(env: Env, base: BaseState, waiting: readonly Queued[]): Batch {
  base.planning = waiting[0];
  const draft = new Draft(base);
  let missing: MissingPart | undefined;
  let count = 0;
  while (count < waiting.length && count < limits.queuedWrites && draft.ops.length < limits.opsPerCommit) {
    const write = waiting[count] as Queued;
    if (!write.isNew) break; // its key was not looked up yet
    base.planning = write;
    const answer = plan(env, base, draft, write);
    if (answer instanceof Missing) {
      missing = { what: answer.what, write };
      break;
    }
    write.answer = answer;
    count++;
  }
  const planned = count === waiting.length ? waiting : waiting.slice(0, count);
  if (draft.invalidated.size > 0) base.dropTexts(draft.invalidated);
  const commit = draft.ops.length > 0 ? commitOfDraft(base, draft) : undefined;
  return { planned, draft, units: draft.units, commit, missing };
}

function plan(env: Env, base: BaseState, draft: Draft, write: Queued): unknown {
  const refused = base.removed ?? refusedWrite(base.committed !== undefined, draft.record, write);
  if (refused) return refused;
  const before = draft.ops.length;
  try {
    const answer = draft.plan(write.agent, env.now(), write);
    if (write.key !== undefined && !isProblem(answer) && draft.ops.length > before) {
      draft.answered(write.key, (answer ?? null) as Json);
    }
    return answer;
  } catch (thrown) {
    if (thrown instanceof Missing) return thrown;
    // A bug in one plan must not affect the others: the draft has rolled it back.
    return problem(
      "unavailable",
      `internal error: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
    );
  }
}

function commitOfDraft({ conversation }: BaseState, draft: Draft): Commit {
  const { ops, record, answers } = draft;
  const expectedSeq = record.seq - ops.length;
  const { changedBlocks: blocks, changedTurns: turns } = draft;
  return { conversation, expectedSeq, ops, blocks, record, turns, answers };
}
