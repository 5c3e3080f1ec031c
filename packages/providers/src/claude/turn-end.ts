/**
 * The end of turns: a `result` line closes its turn and whatever the turn left open.
 *
 * Results can be held back: `result_index`, which counts over the life of the process, says which turn one belongs to, and only blocks of that turn and older ones
 * are closed with it, never those of a later turn. A resumed session first tells how its background tasks ended, with a result of
 * their own: that does not end the turn, whose prompt the CLI has not begun with.
 */

import { addUsage, type Json, type JsonObject, NO_USAGE, type Reason, type Usage } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { given, listOf, numberOf, objectOf, textOf, wordsOf } from "../read.ts";
import { anthropicUsage, isZero } from "../usage.ts";
import { breakCall, callAt, endUnseen } from "./call.ts";
import { endForm } from "./control.ts";
import { hasAgents, takeApiMs, takeCost } from "./cost.ts";
import { endRetries } from "./notice.ts";
import { closeMessage } from "./piece.ts";
import { type Call, lineKey, type Out, type State, type Turn } from "./state.ts";
import { withoutTags } from "./system.ts";
import { markOf, openTurn } from "./turn.ts";

export function resultLine(state: State, out: Out, line: JsonObject): void {
  const awaiting = promptTurn(state);
  if (awaiting !== undefined && isOfTask(line)) return goOn(state, line, awaiting);
  const turn = takeTurn(state, out, line);
  const failed = line.is_error === true || (textOf(line.subtype) ?? "").startsWith("error");
  const reason = failed ? reasonOf(line, turn) : undefined;
  const isCut = hasAgents(state, turn);
  closeTurnBlocks(state, out, turn.ordinal, reason);
  const said = failed
    ? (errorsOf(line) ?? (reason === "truncated" ? limitReached(line) : undefined))
    : undefined;
  if (said !== undefined) sayResult(state, out, line, said, true);
  else if (!turn.hasSpoken) sayResult(state, out, line, wordsOf(line.result), failed);
  out.push({
    type: "turn-end",
    turn: turn.name,
    status: failed ? "error" : "done",
    ...given({
      reason,
      stopReason: textOf(line.stop_reason),
      durationMs: numberOf(line.duration_ms),
      error: failed ? (said ?? wordsOf(line.result) ?? limitReached(line)) : undefined,
    }),
    ...withSpent(takeCost(state, line, turn, isCut), turn.spent),
    native: { ...nativeOf(line), ...given({ turn_api_ms: takeApiMs(state, line) }) },
  });
}

/** The first turn of a run is its prompt's: it is open until the prompt is answered, or another one has begun. */
function promptTurn({ turns: [first, ...others], beginsWithPrompt }: State): Turn | undefined {
  return beginsWithPrompt && first?.ordinal === 0 && others.length === 0 ? first : undefined;
}

function isOfTask(line: JsonObject): boolean {
  return objectOf(line.origin).kind === "task-notification";
}

/** The turn continues after another result, and includes its cost; a following init is still its own. */
function goOn(state: State, line: JsonObject, turn: Turn): void {
  const { costUsd = 0, usage = NO_USAGE } = takeCost(state, line, turn);
  turn.spent = {
    costUsd: (turn.spent?.costUsd ?? 0) + costUsd,
    usage: addUsage(turn.spent?.usage ?? NO_USAGE, usage),
  };
  turn.usage = NO_USAGE;
  turn.hasInit = false;
  state.otherResults++;
}

function withSpent<Cost extends { readonly costUsd?: number; readonly usage?: Usage }>(
  cost: Cost,
  spent: Turn["spent"],
): Cost {
  if (spent === undefined) return cost;
  const costUsd = (cost.costUsd ?? 0) + spent.costUsd;
  return {
    ...cost,
    ...given({ costUsd: costUsd > 0 || cost.costUsd !== undefined ? costUsd : undefined }),
    usage: addUsage(cost.usage ?? NO_USAGE, spent.usage),
  };
}

/**
 * The turn that a result belongs to: by its number, otherwise by its words, otherwise the oldest that is open. Versions that do not
 * number their results print one for several turns, where a task has ended meanwhile: those before it are over too.
 */
function takeTurn(state: State, out: Out, line: JsonObject): Turn {
  const index = numberOf(line.result_index);
  const ordinal = index === undefined ? undefined : index - state.otherResults;
  const numbered = state.turns.findIndex((turn) => turn.ordinal === ordinal);
  const at = numbered < 0 ? meantTurn(state.turns, line) : numbered;
  const turn = state.turns[at] ?? openTurn(state, out);
  const before = numbered < 0 ? state.turns.slice(0, at) : [];
  state.turns = state.turns.filter((each) => each !== turn && !before.includes(each));
  for (const { name } of before) out.push({ type: "turn-end", turn: name, status: "done" });
  return turn;
}

function meantTurn(turns: readonly Turn[], line: JsonObject): number {
  const said = wordsOf(line.result);
  const first = said === undefined ? -1 : turns.findIndex(({ lastWords }) => lastWords === markOf(said));
  if (first >= 0) return first;
  return isOfTask(line) ? Math.max(0, turns.length - 1) : 0;
}

const LIMITS = new Set(["max_turns", "budget_exhausted", "structured_output_retry_exhausted"]);

function reasonOf(line: JsonObject, turn: Turn): Reason {
  const why = textOf(line.terminal_reason) ?? "";
  // Older versions do not say why.
  const isAborted = why.startsWith("aborted") || (why === "" && turn.isInterrupted === true);
  if (isAborted) return "interrupted";
  const subtype = textOf(line.subtype) ?? "";
  return LIMITS.has(why) || subtype.startsWith("error_max") ? "truncated" : "failed";
}

/** The error, for a person; the CLI's own diagnostics are not shown. */
function errorsOf(line: JsonObject): string | undefined {
  const errors = listOf(line.errors).filter(
    (error): error is string => typeof error === "string" && !error.startsWith("[ede_diagnostic]"),
  );
  return wordsOf(errors.join("\n"));
}

function limitReached(line: JsonObject): string {
  const subtype = textOf(line.subtype) ?? "";
  if (subtype === "error_max_turns") return "Reached the maximum number of turns";
  if (subtype === "error_max_budget_usd") return "Reached the maximum budget";
  const why = wordsOf(line.terminal_reason);
  // A turn can be said to be completed, and an error: paused by the API, for instance.
  return (why === undefined || why === "completed" ? subtype : why).replaceAll("_", " ");
}

/** A result with text that no line has: `--output-format json`, local commands of older versions, limits. */
function sayResult(
  state: State,
  out: Out,
  line: JsonObject,
  said: string | undefined,
  failed: boolean,
): void {
  if (said === undefined) return;
  const key = lineKey(state, line.uuid);
  const code = textOf(line.subtype);
  // The model was not called: the text comes from a command of the CLI.
  const isLocal = !failed && (line.num_turns === 0 || isUnasked(line));
  const notice = isLocal ? { notice: "local_command" } : {};
  out.push({
    type: "block-start",
    key,
    kind: failed ? "error" : "text",
    role: failed || isLocal ? "system" : "model",
    metadata: failed && code !== undefined && code !== "success" ? { code } : notice,
    text: withoutTags(said),
  });
  out.push({
    type: "block-end",
    key,
    status: failed ? "error" : "done",
    ...(failed ? { reason: "failed" } : {}),
  });
}

/** Versions of 2.0 and 2.1 count on; an answer of the model has cost something. */
function isUnasked({ usage, stop_reason }: JsonObject): boolean {
  return (
    isObject(usage) && isZero(anthropicUsage(usage)) && (stop_reason === undefined || stop_reason === null)
  );
}

/** Closes a turn's open blocks. Background tasks continue. */
export function closeTurnBlocks(state: State, out: Out, ordinal: number, reason: Reason | undefined): void {
  endRetries(state, out);
  for (const id of [...state.forms.keys()]) endForm(state, out, id, { state: "expired" });
  for (const message of state.messages.values()) {
    if (message.turn.ordinal <= ordinal)
      closeMessage(state, out, message, reason === "interrupted" ? reason : undefined);
  }
  for (const [scope, message] of state.streaming)
    if (message.turn.ordinal <= ordinal) state.streaming.delete(scope);
  const background = backgroundKeys(state);
  const open = [...state.calls.values()].filter((call) => !call.isEnded && call.turn <= ordinal);
  // The innermost first: a child ends before its parent.
  for (const call of open.reverse()) {
    if (call.isBackground || isBelow(state, call, background)) continue;
    if (!endUnseen(state, out, call))
      breakCall(out, call, reason === "interrupted" ? "interrupted" : "cancelled");
  }
}

function backgroundKeys(state: State): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const call of state.calls.values()) if (call.isBackground) keys.add(call.key);
  return keys;
}

function isBelow(state: State, call: Call, keys: ReadonlySet<string>): boolean {
  let parent = call.scope.parent;
  for (let steps = 0; parent !== undefined && steps < 64; steps++) {
    if (keys.has(parent)) return true;
    parent = callAt(state, parent)?.scope.parent;
  }
  return false;
}

const NATIVE = [
  "subtype",
  "total_cost_usd",
  "cost_usd",
  "usage",
  "modelUsage",
  "model_usage_since_last_result",
  "num_turns",
  "duration_api_ms",
  "terminal_reason",
  "result_index",
  "origin",
  "api_error_status",
  "safety_stops",
  "permission_denials",
  "structured_output",
  "local_command",
] as const;

function nativeOf(line: JsonObject): JsonObject {
  const native: Record<string, Json> = {};
  for (const name of NATIVE) {
    const value = line[name];
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue;
    native[name] = value;
  }
  return native;
}
