/**
 * The turns of a log. It has no results: a turn lasts from its prompt to the next one, its usage is that of its
 * messages, each counted once. The cost is stated for the session alone, so a turn has one only where it is the only
 * one since the last statement.
 */

import {
  addUsage,
  type BlockEvent,
  type JsonObject,
  NO_USAGE,
  type Reason,
  type Usage,
} from "@blockyard/kernel";
import { given, listOf, numberOf, objectOf, textOf, timeOf, wordsOf } from "../read.ts";
import { costSince, isZero } from "../usage.ts";
import { lineKey, type Out, type State } from "./state.ts";
import { openTurn } from "./turn.ts";
import { closeTurnBlocks } from "./turn-end.ts";

export interface LogTurns {
  /** Usage per message of the open turn. */
  usage: Map<string, Usage>;
  models: Set<string>;
  startedAt: number | undefined;
  lastAt: number | undefined;
  stopReason: string | undefined;
  /** Its error, if any. */
  failure: { readonly reason: Reason; readonly error?: string } | undefined;
  /** Of the open turn alone, if it is stated. */
  cost: number | undefined;
  totalCost: number | undefined;
  /** Turns since the last statement. */
  unstated: number;
}

export function newLogTurns(): LogTurns {
  return { ...emptyTurn(), totalCost: undefined, unstated: 0 };
}

function emptyTurn() {
  return {
    usage: new Map<string, Usage>(),
    models: new Set<string>(),
    startedAt: undefined,
    lastAt: undefined,
    stopReason: undefined,
    failure: undefined,
    cost: undefined,
  };
}

export function openLogTurn(state: State, out: Out, turns: LogTurns, record: JsonObject): void {
  closeLogTurn(state, out, turns, undefined);
  const uuid = textOf(record.uuid) ?? `prompt-${state.nextTurn}`;
  const at = timeOf(record.timestamp);
  openTurn(state, out, { name: `${state.prefix}turn-${uuid}`, at });
  Object.assign(turns, emptyTurn(), { startedAt: at });
  turns.unstated++;
}

export function closeLogTurn(state: State, out: Out, turns: LogTurns, reason: Reason | undefined): void {
  const turn = state.turns.pop();
  if (turn === undefined) return;
  closeTurnBlocks(state, out, turn.ordinal, reason ?? turns.failure?.reason);
  const usage = [...turns.usage.values()].reduce(addUsage, NO_USAGE);
  const failure = turns.failure;
  out.push({
    type: "turn-end",
    turn: turn.name,
    status: failure === undefined ? "done" : "error",
    ...given({
      reason: failure?.reason,
      error: failure?.error,
      stopReason: turns.stopReason,
      usage: isZero(usage) ? undefined : usage,
      costUsd: turns.cost,
      durationMs: durationOf(turns),
      models: turns.models.size === 0 ? undefined : [...turns.models],
      native: turns.totalCost === undefined ? undefined : { totalCostUSD: turns.totalCost },
      at: turns.lastAt,
    }),
  });
}

export function addCost(turns: LogTurns, record: JsonObject): void {
  const total = numberOf(record.totalCostUSD);
  if (total === undefined) return;
  const since = costSince(total, turns.totalCost);
  // Several turns since the last statement: their shares are not stated.
  if (turns.unstated === 1) turns.cost = since;
  else if (turns.unstated === 0 && turns.cost !== undefined) turns.cost += since;
  turns.unstated = 0;
  turns.totalCost = total;
}

function durationOf(turns: LogTurns): number | undefined {
  if (turns.startedAt === undefined || turns.lastAt === undefined) return undefined;
  return Math.max(0, turns.lastAt - turns.startedAt);
}

/** A record's information about its turn. */
export function noteRecord(turns: LogTurns, record: JsonObject, events: readonly BlockEvent[]): void {
  for (const event of events) {
    if (event.type !== "message-usage") continue;
    turns.usage.set(event.messageId, event.usage);
    if (event.model !== undefined) turns.models.add(event.model);
  }
  if (record.type !== "assistant" && record.type !== "user") return;
  turns.lastAt = timeOf(record.timestamp) ?? turns.lastAt;
  if (record.isSidechain === true) return;
  if (record.type === "assistant") noteAnswer(turns, record);
  else if (isInterruption(record)) turns.failure = { reason: "interrupted" };
}

function noteAnswer(turns: LogTurns, record: JsonObject): void {
  const message = objectOf(record.message);
  turns.stopReason = wordsOf(message.stop_reason) ?? turns.stopReason;
  const isError = record.isApiErrorMessage === true;
  const error = wordsOf(objectOf(listOf(message.content)[0]).text);
  turns.failure = isError ? given({ reason: "failed" as const, error }) : undefined;
}

function isInterruption(record: JsonObject): boolean {
  const first = objectOf(listOf(objectOf(record.message).content)[0]);
  return (textOf(first.text) ?? "").startsWith("[Request interrupted by user");
}

/** The CLI stopped because it was told to stop then. */
export function limitReached(state: State, out: Out, turns: LogTurns, record: JsonObject): void {
  const most = numberOf(objectOf(record.attachment).maxTurns);
  const text = `Reached maximum number of turns${most === undefined ? "" : ` (${most})`}`;
  turns.failure = { reason: "truncated", error: text };
  const key = lineKey(state, record.uuid);
  const metadata = { code: "error_max_turns" };
  out.push({ type: "block-start", key, kind: "error", role: "system", metadata, text });
  out.push({ type: "block-end", key, status: "error", reason: "failed" });
}
