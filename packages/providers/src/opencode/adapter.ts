/**
 * The adapter of `opencode run --format json`.
 *
 * Whole parts, no deltas; steps with tokens and cost; no closing line. A turn ends with the step that calls no more
 * tools, or with an error; a stream that stops elsewhere was interrupted. State: the open turn's sums, tool parts that
 * still run, the ids of parts that were lately shown.
 */

import {
  addUsage,
  type BlockEvent,
  type BlockKey,
  type JsonObject,
  NO_USAGE,
  type Usage,
} from "@blockyard/kernel";
import type { Adapter } from "../adapter.ts";
import { cutCall, endCall, startCall, wholeBlock } from "../call.ts";
import { isObject } from "../framing/json.ts";
import { REMEMBERED_PARTS } from "../limits.ts";
import { given, listOf, numberOf, objectOf, plural, textOf, timeOf, wordsOf } from "../read.ts";
import { compactParams } from "../row.ts";
import { noiseBlock, unknownEvent } from "../unknown.ts";
import { count } from "../usage.ts";
import { completedOutcome, failedOutcome, type ToolState } from "./outcome.ts";

const PROVIDER = "opencode";
/** Finish reasons after which the loop continues. */
const GOES_ON = new Set(["tool-calls", "unknown"]);
const TRUNCATED = { reason: "truncated" } as const;

interface OpenCall {
  readonly key: BlockKey;
  readonly toolUseId: string;
  readonly toolName: string;
}

interface State {
  readonly run: string;
  session: string | undefined;
  turns: number;
  turn: string | undefined;
  startedAt: number | undefined;
  lastAt: number | undefined;
  usage: Usage;
  costUsd: number;
  steps: number;
  notices: number;
  readonly calls: Map<string, OpenCall>;
  readonly shown: Set<string>;
}

export const opencodeAdapter: Adapter<State> = {
  provider: PROVIDER,
  start(run) {
    return {
      run,
      session: undefined,
      turns: 0,
      turn: undefined,
      startedAt: undefined,
      lastAt: undefined,
      usage: NO_USAGE,
      costUsd: 0,
      steps: 0,
      notices: 0,
      calls: new Map(),
      shown: new Set(),
    };
  },
  step(state, event) {
    const out: BlockEvent[] = [];
    if (isObject(event)) stepEvent(state, out, event);
    else out.push(...unknownEvent(place(state), event));
    return [state, out];
  },
  noise(state, line) {
    return [state, noiseBlock(place(state), line)];
  },
  end(state) {
    const out: BlockEvent[] = [];
    closeCalls(state, out);
    endTurn(state, out, { status: "error", reason: "interrupted" });
    return out;
  },
};

function stepEvent(state: State, out: BlockEvent[], event: JsonObject): void {
  const session = textOf(event.sessionID);
  if (session !== undefined && session !== state.session) {
    state.session = session;
    out.push({ type: "session", provider: PROVIDER, sessionId: session });
  }
  state.lastAt = timeOf(event.timestamp) ?? state.lastAt;
  const part = objectOf(event.part);
  switch (event.type) {
    case "step_start":
      return startTurn(state, out);
    case "step_finish":
      startTurn(state, out);
      return finishStep(state, out, part);
    case "text":
      return showText(state, out, part, "text");
    case "reasoning":
      return showText(state, out, part, "thinking");
    case "tool_use":
      return stepTool(state, out, part);
    case "error":
      return stepError(state, out, event.error ?? part.error);
    default:
      out.push(...unknownEvent(place(state), event));
  }
}

function startTurn(state: State, out: BlockEvent[]): void {
  if (state.turn !== undefined) return;
  state.turn = `${state.run}/turn-${++state.turns}`;
  state.startedAt = state.lastAt;
  state.usage = NO_USAGE;
  state.costUsd = 0;
  state.steps = 0;
  out.push({
    type: "turn-start",
    turn: state.turn,
    provider: PROVIDER,
    ...given({ sessionId: state.session, at: state.lastAt }),
  });
}

type TurnEnd = Pick<Extract<BlockEvent, { type: "turn-end" }>, "status" | "reason" | "stopReason" | "error">;

function endTurn(state: State, out: BlockEvent[], end: TurnEnd): void {
  if (state.turn === undefined) return;
  const counted = state.steps > 0;
  out.push({
    type: "turn-end",
    turn: state.turn,
    ...end,
    ...(counted ? { usage: state.usage, costUsd: Math.round(state.costUsd * 1e10) / 1e10 } : {}),
    ...given({ at: state.lastAt, durationMs: elapsed(state.startedAt, state.lastAt) }),
  });
  state.turn = undefined;
}

/** Each step is one message of the model, counted when it finishes. */
function finishStep(state: State, out: BlockEvent[], part: JsonObject): void {
  if (isRepeat(state, part)) return;
  const tokens = objectOf(part.tokens);
  const usage = stepUsage(tokens);
  state.usage = addUsage(state.usage, usage);
  state.costUsd += Math.max(0, numberOf(part.cost) ?? 0);
  state.steps++;
  const messageId = textOf(part.messageID);
  if (messageId !== undefined) {
    out.push({
      type: "message-usage",
      messageId,
      usage,
      native: { tokens, cost: part.cost ?? null },
      ...given({ turn: state.turn }),
    });
  }
  const reason = textOf(part.reason) ?? "unknown";
  if (GOES_ON.has(reason)) return;
  endTurn(state, out, { status: "done", stopReason: reason, ...(reason === "length" ? TRUNCATED : {}) });
}

/** Cached tokens are beside `input`. Reasoning is beside `output` if the total says so. */
function stepUsage(tokens: JsonObject): Usage {
  const cache = objectOf(tokens.cache);
  const cacheRead = count(cache.read);
  const cacheWrite = count(cache.write);
  const input = count(tokens.input) + cacheRead + cacheWrite;
  const reasoning = count(tokens.reasoning);
  const isApart = count(tokens.total) === input + count(tokens.output) + reasoning;
  return {
    input,
    cacheRead,
    cacheWrite,
    output: count(tokens.output) + (isApart ? reasoning : 0),
    reasoning,
  };
}

function showText(state: State, out: BlockEvent[], part: JsonObject, kind: "text" | "thinking"): void {
  if (isRepeat(state, part)) return;
  startTurn(state, out);
  const provider = objectOf(part.metadata);
  const signature = kind === "thinking" ? wordsOf(objectOf(provider.anthropic).signature) : undefined;
  const opaque =
    kind === "thinking" ? wordsOf(objectOf(provider.openai).reasoningEncryptedContent) : undefined;
  const metadata = given({
    messageId: textOf(part.messageID),
    signature,
    opaque,
    durationMs: partDuration(part.time),
  });
  const at = state.lastAt;
  out.push(
    ...wholeBlock({
      key: partKey(state, part),
      kind,
      role: "model",
      metadata,
      text: textOf(part.text) ?? "",
      ...given({ at }),
    }),
  );
}

/** Parts are printed when they have ended; a version that prints them earlier gives a call that runs first. */
function stepTool(state: State, out: BlockEvent[], part: JsonObject): void {
  const callId = textOf(part.callID) ?? textOf(part.id) ?? `call-${state.notices}`;
  if (state.shown.has(`call ${callId}`)) return;
  startTurn(state, out);
  const raw = objectOf(part.state);
  const tool: ToolState = {
    tool: textOf(part.tool) ?? "tool",
    input: objectOf(raw.input),
    output: textOf(raw.output) ?? "",
    metadata: objectOf(raw.metadata),
    attachments: listOf(raw.attachments),
    durationMs: partDuration(raw.time),
  };
  const call = state.calls.get(callId) ?? openCall(state, out, callId, part, tool);
  const at = timeOf(objectOf(raw.time).end) ?? state.lastAt;
  if (raw.status === "pending" || raw.status === "running") return;
  const outcome =
    raw.status === "error" ? failedOutcome(tool, textOf(raw.error) ?? "") : completedOutcome(tool);
  out.push(...endCall(call, { ...outcome, input: undefined, at }));
  state.calls.delete(callId);
  remember(state, `call ${callId}`);
}

function openCall(
  state: State,
  out: BlockEvent[],
  callId: string,
  part: JsonObject,
  tool: ToolState,
): OpenCall {
  // Calls are known by their own ids; a part id that another part has is no name for this one.
  const named = isRepeat(state, part) ? {} : part;
  const call = { key: partKey(state, named), toolUseId: callId, toolName: tool.tool };
  const raw = objectOf(part.state);
  out.push(
    ...startCall({
      ...call,
      input: tool.input,
      compactParams: paramsRow(tool, textOf(raw.title)),
      displayName: tool.tool === "invalid" ? textOf(tool.input.tool) : undefined,
      messageId: textOf(part.messageID),
      at: timeOf(objectOf(raw.time).start) ?? state.lastAt,
    }),
  );
  state.calls.set(callId, call);
  return call;
}

/** Files as opencode shows them, relative to the project. */
function paramsRow(tool: ToolState, title: string | undefined): string | undefined {
  const isFile = ["read", "edit", "write", "multiedit"].includes(tool.tool);
  if (isFile && title !== undefined && title !== "") return title;
  if (tool.tool === "invalid") return textOf(tool.input.tool);
  if (tool.tool === "todowrite") return plural(listOf(tool.input.todos).length, "item");
  return compactParams(tool.input);
}

function stepError(state: State, out: BlockEvent[], raw: JsonObject[string] | undefined): void {
  startTurn(state, out);
  const error = objectOf(raw);
  const { message, isRetryable, responseHeaders: _headers, ...details } = objectOf(error.data);
  const text = textOf(message) ?? textOf(error.message) ?? textOf(error.name) ?? textOf(raw) ?? "error";
  const isAborted = error.name === "MessageAbortedError";
  const reason = isAborted ? "interrupted" : "failed";
  const metadata = given({
    code: textOf(error.name),
    retryable: typeof isRetryable === "boolean" ? isRetryable : undefined,
    details: Object.keys(details).length === 0 ? undefined : details,
  });
  const block = {
    key: place(state).key,
    kind: "error",
    role: "system",
    metadata,
    text,
    ...given({ at: state.lastAt }),
  } as const;
  out.push(...wholeBlock(block, { status: "error", reason }));
  closeCalls(state, out);
  endTurn(state, out, { status: "error", reason, error: text });
}

function closeCalls(state: State, out: BlockEvent[]): void {
  for (const call of state.calls.values()) out.push(cutCall(call.key));
  state.calls.clear();
}

/** Parts are keyed by their own ids: a part that is printed again adds nothing. */
function isRepeat(state: State, part: JsonObject): boolean {
  const id = textOf(part.id);
  if (id === undefined) return false;
  if (state.shown.has(id)) return true;
  remember(state, id);
  return false;
}

function remember(state: State, id: string): void {
  state.shown.add(id);
  if (state.shown.size <= REMEMBERED_PARTS) return;
  for (const oldest of state.shown) {
    state.shown.delete(oldest);
    return;
  }
}

function partKey(state: State, part: JsonObject): BlockKey {
  return `${state.run}/${wordsOf(part.id) ?? `part-${state.notices++}`}`;
}

function place(state: State): { key: BlockKey; provider: string } {
  return { key: `${state.run}/notice-${state.notices++}`, provider: PROVIDER };
}

function partDuration(time: JsonObject[string] | undefined): number | undefined {
  return elapsed(timeOf(objectOf(time).start), timeOf(objectOf(time).end));
}

function elapsed(start: number | undefined, end: number | undefined): number | undefined {
  return start === undefined || end === undefined ? undefined : Math.max(0, end - start);
}
