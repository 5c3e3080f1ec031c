/**
 * Claude Code's `--output-format stream-json` (1.0 to 2.1, with and without partial messages; also `json`, whose one
 * array holds the same lines) → block events.
 *
 * Total: any JSON value may come in. Dispatch is by type, never by the order of keys, and nothing relies on the order
 * of lines beyond what each module says.
 */

import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import type { Adapter } from "../adapter.ts";
import { isObject } from "../framing/json.ts";
import { bounds, MARK_CHARS } from "../limits.ts";
import { listOf, objectOf, textOf, wordsOf } from "../read.ts";
import { noiseBlock, typeOf, unknownEvent } from "../unknown.ts";
import { isZero } from "../usage.ts";
import { assistantLine, messageLine } from "./assistant.ts";
import { breakCall } from "./call.ts";
import { cancelRequest, controlRequest, controlResponse, endForm } from "./control.ts";
import { decideStopped, streamEvent } from "./message.ts";
import { endRetries } from "./notice.ts";
import { closeMessage } from "./piece.ts";
import { lineKey, newState, type Out, PROVIDER, type Start, type State, trim } from "./state.ts";
import { systemLine } from "./system.ts";
import { releaseText } from "./text-piece.ts";
import { resultLine } from "./turn-end.ts";
import { userLine } from "./user.ts";

interface ClaudeAdapter extends Adapter<State> {
  start(run: string, start?: Start): State;
}

export const claudeAdapter: ClaudeAdapter = {
  provider: PROVIDER,
  start: newState,
  step(state, event) {
    const out: Out = [];
    for (const line of Array.isArray(event) ? (event as readonly Json[]) : [event]) {
      if (!isObject(line) || !isRepeated(state, line)) take(state, out, line);
    }
    return [state, out];
  },
  noise(state, line) {
    return [state, noiseBlock({ key: lineKey(state, undefined), provider: PROVIDER }, line)];
  },
  end: endOfStream,
};

/**
 * Whether the line is a repeat, as after a lost and restored connection, or of an earlier turn, as kept by a compaction. Of
 * the stream events, which are many, only the start of a message is remembered: the rest is repeated with it. A person's
 * message is shown as often as it comes.
 */
function isRepeated(state: State, line: JsonObject): boolean {
  const isStreamed = line.type === "stream_event";
  if (isStreamed && objectOf(line.event).type !== "message_start") return state.isRepeating;
  if (line.type === "assistant" && state.kept.has(textOf(line.uuid) ?? "")) return true;
  const uuid = line.type === "user" && !hasResult(line) ? undefined : nameOf(line);
  const isKnown = uuid !== undefined && state.seen.has(uuid);
  if (isStreamed) state.isRepeating = isKnown;
  if (uuid !== undefined && !isKnown) {
    state.seen.add(uuid);
    trim(state.seen, bounds.openCalls);
  }
  return isKnown;
}

/** The blocks of one message may come under one uuid (2.0, where an answer was not streamed): each is a line of its own. */
function nameOf(line: JsonObject): string | undefined {
  const uuid = wordsOf(line.uuid);
  if (uuid === undefined || line.type !== "assistant") return uuid;
  const blocks = listOf(objectOf(line.message).content).map(objectOf);
  const marks = blocks.map(({ type, id, text }) =>
    [textOf(type), textOf(id), textOf(text)?.slice(0, MARK_CHARS)].join(" "),
  );
  return [uuid, ...marks].join("\n");
}

function hasResult(line: JsonObject): boolean {
  return listOf(objectOf(line.message).content).some((block) => objectOf(block).type === "tool_result");
}

/** Lines after which no text continues: all but those of the model's messages, or their bookkeeping. */
const ENDS_TEXT = new Set(["user", "result", "control_request", "tool_progress"]);

/** Lines between two retries. */
const GOES_ON = new Set(["system", "keep_alive", "rate_limit_event", "command_lifecycle"]);

/** One line of the stream. */
export function take(state: State, out: Out, line: Json): void {
  if (!isObject(line)) return addUnknown(state, out, line);
  decideStopped(state, out, line);
  if (ENDS_TEXT.has(textOf(line.type) ?? ""))
    for (const message of state.messages.values()) releaseText(out, message);
  if (!GOES_ON.has(textOf(line.type) ?? "")) endRetries(state, out);
  switch (line.type) {
    case "stream_event":
      return streamEvent(state, out, line);
    case "assistant":
      return assistantLine(state, out, line);
    case "user":
      return userLine(state, out, line);
    case "message":
      return wholeMessage(state, out, line);
    case "result":
      return resultLine(state, out, line);
    case "control_request":
      if (!controlRequest(state, out, line)) addUnknown(state, out, line, requestType(line));
      return;
    case "control_response":
      return controlResponse(state, out, line);
    case "control_cancel_request":
      return cancelRequest(state, out, line);
    default:
      if (!bareLine(state, out, line) && !systemLine(state, out, line)) addUnknown(state, out, line);
  }
}

/** 0.2 printed the messages themselves, without a type for the user's, and finally the total cost. */
function bareLine(state: State, out: Out, line: JsonObject): boolean {
  if (line.type !== undefined) return false;
  if ((line.role === "user" || line.role === "assistant") && line.content !== undefined)
    wholeMessage(state, out, line);
  else if (line.role === "system" && line.cost_usd !== undefined) resultLine(state, out, line);
  else return false;
  return true;
}

/** `{type: "message", role, content}`, or the same inside `message`. */
function wholeMessage(state: State, out: Out, line: JsonObject): void {
  const body = isObject(line.message) ? line.message : line;
  if (body.content === undefined) return addUnknown(state, out, line);
  if (body.role === "user") return userLine(state, out, { ...line, message: body });
  messageLine(state, out, line, body);
}

function requestType(line: JsonObject): string {
  const request = isObject(line.request) ? line.request : {};
  return `control_request/${textOf(request.subtype) ?? "(no subtype)"}`;
}

function addUnknown(state: State, out: Out, line: Json, type: string = typeOf(line)): void {
  const key = lineKey(state, isObject(line) ? line.uuid : undefined);
  out.push(...unknownEvent({ key, provider: PROVIDER }, line, type));
}

/** The stream was cut: blocks, calls and turns that are open end as interrupted, the innermost first. */
function endOfStream(state: State): readonly BlockEvent[] {
  const out: Out = [];
  endRetries(state, out);
  decideStopped(state, out, {});
  for (const message of state.messages.values()) closeMessage(state, out, message, "interrupted");
  for (const id of [...state.forms.keys()]) endForm(state, out, id, { state: "expired" });
  for (const call of [...state.calls.values()].reverse()) breakCall(out, call, "interrupted");
  for (const turn of state.turns) {
    const { usage, models, isRequesting } = turn;
    const isUsed = isRequesting || !isZero(usage);
    out.push({
      type: "turn-end",
      turn: turn.name,
      status: "error",
      reason: "interrupted",
      ...(isZero(usage) ? {} : { usage, models: [...models] }),
      ...(isUsed ? { uncounted: true } : {}),
    });
  }
  state.turns = [];
  return out;
}
