/**
 * The end of turns: a `result` line closes its turn and whatever the turn left open.
 *
 * Results can be held back: `result_index` says which turn one belongs to, and only blocks of that turn and older ones
 * are closed with it, never those of a later turn. A resumed session first tells how its background tasks ended, with a result of
 * their own: that does not end the turn, whose prompt the CLI has not begun with.
 */

import { addUsage, type Json, type JsonObject, NO_USAGE, type Reason, type Usage } from "@blockyard/kernel";
import { given, listOf, numberOf, objectOf, textOf, wordsOf } from "../read.ts";
import { breakCall } from "./call.ts";
import { endForm } from "./control.ts";
import { takeApiMs, takeCost } from "./cost.ts";
import { endRetries } from "./notice.ts";
import { closeMessage } from "./piece.ts";
import { type Call, lineKey, type Out, type State, type Turn } from "./state.ts";
import { openTurn } from "./turn.ts";

export function resultLine(state: State, out: Out, line: JsonObject): void {
  const awaiting = promptTurn(state);
  if (awaiting !== undefined && isOfTask(line)) return goOn(state, line, awaiting);
  const turn = takeTurn(state, out, numberOf(line.result_index));
  const failed = line.is_error === true || (textOf(line.subtype) ?? "").startsWith("error");
  const reason = failed ? reasonOf(line) : undefined;
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
    ...withSpent(takeCost(state, line, turn), turn.spent),
    native: { ...nativeOf(line), ...given({ turn_api_ms: takeApiMs(state, line) }) },
  });
}

/** The first turn of a run is its prompt's: it is open until the prompt is answered. */
function promptTurn({ turns: [first] }: State): Turn | undefined {
  return first?.ordinal === 0 ? first : undefined;
}

function isOfTask(line: JsonObject): boolean {
  return objectOf(line.origin).kind === "task-notification";
}

/** The turn goes on behind the result of something else, and pays for it; an init that follows is still its own. */
function goOn(state: State, line: JsonObject, turn: Turn): void {
  const { costUsd = 0, usage = NO_USAGE } = takeCost(state, line, turn);
  turn.spent = {
    costUsd: (turn.spent?.costUsd ?? 0) + costUsd,
    usage: addUsage(turn.spent?.usage ?? NO_USAGE, usage),
  };
  turn.usage = NO_USAGE;
  turn.hasInit = false;
}

function withSpent<Cost extends { readonly costUsd?: number; readonly usage?: Usage }>(
  cost: Cost,
  spent: Turn["spent"],
): Cost {
  if (spent === undefined) return cost;
  return {
    ...cost,
    ...(cost.costUsd === undefined ? {} : { costUsd: cost.costUsd + spent.costUsd }),
    ...(cost.usage === undefined ? {} : { usage: addUsage(cost.usage, spent.usage) }),
  };
}

/** The turn that a result belongs to: by its number, otherwise the oldest that is open. */
function takeTurn(state: State, out: Out, index: number | undefined): Turn {
  const numbered = state.turns.findIndex((turn) => turn.ordinal === index);
  const at = numbered < 0 ? 0 : numbered;
  const turn = state.turns[at] ?? openTurn(state, out);
  state.turns.splice(at, 1);
  return turn;
}

const LIMITS = new Set(["max_turns", "budget_exhausted", "structured_output_retry_exhausted"]);

function reasonOf(line: JsonObject): Reason {
  const why = textOf(line.terminal_reason) ?? "";
  if (why.startsWith("aborted")) return "interrupted";
  const subtype = textOf(line.subtype) ?? "";
  return LIMITS.has(why) || subtype.startsWith("error_max") ? "truncated" : "failed";
}

/** What went wrong, for a person; the CLI's own diagnostics are not. */
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
  return textOf(line.terminal_reason)?.replaceAll("_", " ") ?? subtype.replaceAll("_", " ");
}

/** A result that says what no line has said: `--output-format json`, local commands of older versions, limits. */
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
  out.push({
    type: "block-start",
    key,
    kind: failed ? "error" : "text",
    role: failed ? "system" : "model",
    metadata: failed && code !== undefined && code !== "success" ? { code } : {},
    text: said,
  });
  out.push({
    type: "block-end",
    key,
    status: failed ? "error" : "done",
    ...(failed ? { reason: "failed" } : {}),
  });
}

/** Closes what a turn leaves open. What a background task does goes on. */
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
    const above: Call | undefined = state.calls.get(parent.slice(state.prefix.length + 2));
    parent = above?.scope.parent;
  }
  return false;
}

const NATIVE = [
  "subtype",
  "total_cost_usd",
  "cost_usd",
  "usage",
  "modelUsage",
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
