/**
 * The turns of a rollout log: marked by events from 0.130 on, derived from the user's prompts before. Tokens are
 * counted for the thread; a turn's share is the increase during the turn.
 */

import type { BlockEvent, JsonObject } from "@blockyard/kernel";
import { cutCall, wholeBlock } from "../call.ts";
import { isObject } from "../framing/json.ts";
import { given, numberOf, objectOf, textOf } from "../read.ts";
import { usageSince } from "../usage.ts";
import { failureMetadata, readFailure } from "./failure.ts";
import type { LogRecord } from "./log-index.ts";
import { at, keyOf, PROVIDER, type Reading } from "./log-reading.ts";
import { codexUsage } from "./usage.ts";

export function startTurn(reading: Reading, record: LogRecord, id: string | undefined): void {
  endTurn(reading, reading.index.hasTasks ? { status: "error", reason: "interrupted" } : { status: "done" });
  const turn = keyOf(reading, id ?? `turn-${record.ordinal}`);
  reading.turn = { id: turn, before: reading.total, hasOutput: false, isAborted: false };
  reading.out.push({
    type: "turn-start",
    turn,
    provider: PROVIDER,
    ...given({
      sessionId: reading.index.thread,
      model: reading.index.models.get(record.ordinal) ?? reading.model,
      at: reading.at,
    }),
  });
}

export function countTokens(reading: Reading, payload: JsonObject): void {
  const total = objectOf(payload.info).total_token_usage;
  if (isObject(total)) reading.total = codexUsage(total);
}

export function completeTurn(reading: Reading, record: LogRecord): void {
  const { payload } = record;
  const message = textOf(objectOf(payload.error).message);
  if (message === undefined && isUnanswered(reading, payload))
    return endTurn(reading, { status: "error", reason: "failed", error: UNANSWERED, ...duration(payload) });
  if (message === undefined) return endTurn(reading, { status: "done", ...duration(payload) });
  const failure = readFailure(message);
  const info = objectOf(payload.error).codex_error_info;
  const code = failure.code ?? textOf(info) ?? Object.keys(objectOf(info))[0];
  const details = failure.details ?? (isObject(info) ? info : undefined);
  const metadata = { ...failureMetadata(failure), ...given({ code, details }) };
  const key = keyOf(reading, `error-${record.ordinal}`);
  const block = { ...at(reading), key, kind: "error", role: "system", metadata, text: failure.text } as const;
  reading.out.push(...wholeBlock(block, { status: "error", reason: "failed" }));
  endTurn(reading, { status: "error", reason: "failed", error: failure.text, ...duration(payload) });
}

const UNANSWERED = "Codex ended the turn without an answer. This log does not say why.";

/** Before 0.143 a turn that failed is logged as complete, without a message. So is one that only compacted, or was refused. */
function isUnanswered({ turn, compacted, total }: Reading, payload: JsonObject): boolean {
  if (payload.last_agent_message !== null || turn === undefined || turn.hasOutput || compacted) return false;
  return (total?.output ?? 0) === (turn.before?.output ?? 0);
}

type TurnEnd = Pick<Extract<BlockEvent, { type: "turn-end" }>, "status" | "reason" | "error" | "durationMs">;

export function endTurn(reading: Reading, end: TurnEnd): void {
  const { turn } = reading;
  const isCut = closeCalls(reading);
  reading.turn = undefined;
  if (turn === undefined) return;
  const usage = reading.total === undefined ? undefined : usageSince(reading.total, turn.before);
  // Versions without marks do not say how a turn has ended: one that was broken off, or gave no answer, did not end well.
  const isBroken = isCut || turn.isAborted || !turn.hasOutput;
  const really: TurnEnd =
    isBroken && end.status === "done" && !reading.index.hasTasks
      ? { status: "error", reason: "interrupted" }
      : end;
  reading.out.push({ type: "turn-end", turn: turn.id, ...really, ...given({ usage, at: reading.at }) });
}

function closeCalls(reading: Reading): boolean {
  for (const call of reading.open.values()) reading.out.push(cutCall(call.key));
  const some = reading.open.size > 0;
  reading.open.clear();
  return some;
}

/** Versions without marks do not say how a turn has ended; newer ones always do, unless they were killed. */
export function endThread(reading: Reading): void {
  endTurn(reading, reading.index.hasTasks ? { status: "error", reason: "interrupted" } : { status: "done" });
}

export function duration(payload: JsonObject): { durationMs?: number } {
  const ms = numberOf(payload.duration_ms);
  return ms === undefined || ms < 0 ? {} : { durationMs: ms };
}
