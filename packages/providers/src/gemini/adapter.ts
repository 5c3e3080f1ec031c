/**
 * The adapter of `gemini --output-format stream-json`, and of the one value that `json` prints.
 *
 * Text comes as deltas without ids: what follows each other from one role is one block. Calls and results are joined
 * by `tool_id`. One `init`, one `result`: one turn. State: the open text, the calls without a result.
 */

import { addUsage, type BlockEvent, type BlockKey, type JsonObject, type Usage } from "@blockyard/kernel";
import type { Adapter } from "../adapter.ts";
import { cutCall, endCall, startCall, wholeBlock } from "../call.ts";
import { isObject, parseObject } from "../framing/json.ts";
import { given, numberOf, objectOf, textOf, timeOf } from "../read.ts";
import { noiseBlock, unknownEvent } from "../unknown.ts";
import { count } from "../usage.ts";
import { completedOutcome, failedOutcome, paramsRow } from "./outcome.ts";

const PROVIDER = "gemini";

interface OpenCall {
  readonly key: BlockKey;
  readonly toolUseId: string;
  readonly toolName: string;
  readonly input: JsonObject;
}

interface State {
  readonly run: string;
  blocks: number;
  turns: number;
  turn: string | undefined;
  session: string | undefined;
  model: string | undefined;
  at: number | undefined;
  /** The text that deltas are appended to. */
  text: { readonly key: BlockKey; readonly role: "user" | "model"; chars: number } | undefined;
  readonly calls: Map<string, OpenCall>;
}

export const geminiAdapter: Adapter<State> = {
  provider: PROVIDER,
  start(run) {
    return {
      run,
      blocks: 0,
      turns: 0,
      turn: undefined,
      session: undefined,
      model: undefined,
      at: undefined,
      text: undefined,
      calls: new Map(),
    };
  },
  step(state, event) {
    const out: BlockEvent[] = [];
    if (isObject(event)) stepEvent(state, out, event);
    else {
      closeText(state, out);
      out.push(...unknownEvent({ key: nextKey(state), provider: PROVIDER }, event));
    }
    return [state, out];
  },
  noise(state, line) {
    return [state, noiseBlock({ key: nextKey(state), provider: PROVIDER }, line)];
  },
  end(state) {
    const out: BlockEvent[] = [];
    if (state.text !== undefined) {
      out.push({ type: "block-end", key: state.text.key, status: "error", reason: "interrupted" });
      state.text = undefined;
    }
    closeCalls(state, out);
    if (state.turn !== undefined)
      out.push({ type: "turn-end", turn: state.turn, status: "error", reason: "interrupted" });
    state.turn = undefined;
    return out;
  },
};

function stepEvent(state: State, out: BlockEvent[], event: JsonObject): void {
  state.at = timeOf(event.timestamp) ?? state.at;
  if (event.type !== "message") closeText(state, out);
  switch (event.type) {
    case "init":
      return init(state, out, event);
    case "message":
      return stepMessage(state, out, event);
    case "tool_use":
      return startTool(state, out, event);
    case "tool_result":
      return endTool(state, out, event);
    case "error":
      return stepError(state, out, event);
    case "result":
      return endTurn(state, out, event);
    default:
      if (event.type === undefined && isAnswer(event)) return wholeAnswer(state, out, event);
      out.push(...unknownEvent({ key: nextKey(state), provider: PROVIDER }, event));
  }
}

/** The one value that `--output-format json` prints. */
function isAnswer(event: JsonObject): boolean {
  return typeof event.response === "string" || isObject(event.stats) || isObject(event.error);
}

function wholeAnswer(state: State, out: BlockEvent[], event: JsonObject): void {
  init(state, out, event);
  if (typeof event.response === "string" && event.response !== "")
    stepMessage(state, out, { role: "assistant", content: event.response });
  endTurn(state, out, event);
}

function init(state: State, out: BlockEvent[], event: JsonObject): void {
  if (state.turn !== undefined) {
    closeCalls(state, out);
    out.push({ type: "turn-end", turn: state.turn, status: "error", reason: "interrupted" });
    state.turn = undefined;
  }
  state.session = textOf(event.session_id);
  state.model = textOf(event.model);
  out.push({
    type: "session",
    provider: PROVIDER,
    ...given({ sessionId: state.session, model: state.model }),
  });
  startTurn(state, out);
}

function startTurn(state: State, out: BlockEvent[]): void {
  if (state.turn !== undefined) return;
  state.turn = `${state.run}/turn-${++state.turns}`;
  out.push({
    type: "turn-start",
    turn: state.turn,
    provider: PROVIDER,
    ...given({ sessionId: state.session, model: state.model, at: state.at }),
  });
}

function stepMessage(state: State, out: BlockEvent[], event: JsonObject): void {
  const role = event.role === "user" ? "user" : "model";
  const content = textOf(event.content) ?? JSON.stringify(event.content ?? "");
  const isDelta = event.delta === true;
  if (state.text !== undefined && (!isDelta || state.text.role !== role)) closeText(state, out);
  if (isDelta && state.text !== undefined) {
    state.text.chars += content.length;
    if (content !== "") out.push({ type: "block-append", key: state.text.key, text: content });
    return;
  }
  const block = {
    key: nextKey(state),
    kind: "text",
    role,
    metadata: {},
    text: content,
    ...given({ at: state.at }),
  } as const;
  if (!isDelta) {
    out.push(...wholeBlock(block));
    return;
  }
  out.push({ type: "block-start", ...block });
  state.text = { key: block.key, role, chars: content.length };
}

function closeText(state: State, out: BlockEvent[]): void {
  if (state.text === undefined) return;
  out.push({ type: "block-end", key: state.text.key, status: "done", ...given({ at: state.at }) });
  state.text = undefined;
}

function startTool(state: State, out: BlockEvent[], event: JsonObject): void {
  const id = textOf(event.tool_id) ?? `tool-${state.blocks}`;
  if (state.calls.has(id)) return;
  const call = {
    key: nextKey(state),
    toolUseId: id,
    toolName: textOf(event.tool_name) ?? "tool",
    input: objectOf(event.parameters),
  };
  state.calls.set(id, call);
  out.push(...startCall({ ...call, compactParams: paramsRow(call.toolName, call.input), at: state.at }));
}

/** A result whose call was never announced is shown by itself. */
function endTool(state: State, out: BlockEvent[], event: JsonObject): void {
  const id = textOf(event.tool_id) ?? "";
  const call = state.calls.get(id);
  const output = textOf(event.output) ?? (event.output === undefined ? "" : JSON.stringify(event.output));
  const isError = event.status === "error";
  if (call === undefined) {
    const text = output === "" ? (textOf(objectOf(event.error).message) ?? "") : output;
    const metadata = {
      toolUseId: id,
      toolName: /^(.+?)(?:__|-\d|$)/.exec(id)?.[1] ?? "tool",
      ...(isError ? { isError } : {}),
    };
    const end = isError ? ({ status: "error", reason: "failed" } as const) : ({ status: "done" } as const);
    out.push(...wholeBlock({ key: nextKey(state), kind: "tool_result", role: "tool", metadata, text }, end));
    return;
  }
  const ended = { tool: call.toolName, input: call.input, output };
  const outcome = isError ? failedOutcome(ended, objectOf(event.error)) : completedOutcome(ended);
  out.push(...endCall(call, { ...outcome, at: state.at }));
  state.calls.delete(id);
}

/** Warnings and errors on the way; only `result` ends the turn. */
function stepError(state: State, out: BlockEvent[], event: JsonObject): void {
  const failure = readFailure(
    textOf(event.message) ?? textOf(objectOf(event.error).message) ?? JSON.stringify(event),
  );
  const metadata = given({ code: failure.code, notice: "warning", details: failure.details });
  const block = {
    key: nextKey(state),
    kind: "error",
    role: "system",
    metadata,
    text: failure.text,
    ...given({ at: state.at }),
  } as const;
  out.push(...wholeBlock(block));
}

function endTurn(state: State, out: BlockEvent[], event: JsonObject): void {
  startTurn(state, out);
  closeCalls(state, out);
  const error = event.status === "error" || isObject(event.error) ? objectOf(event.error) : undefined;
  const failure = error === undefined ? undefined : readFailure(textOf(error.message) ?? "error");
  if (failure !== undefined) {
    const metadata = given({ code: failure.code ?? textOf(error?.type), details: failure.details });
    const block = {
      key: nextKey(state),
      kind: "error",
      role: "system",
      metadata,
      text: failure.text,
      ...given({ at: state.at }),
    } as const;
    out.push(...wholeBlock(block, { status: "error", reason: "failed" }));
  }
  const stats = isObject(event.stats) ? event.stats : undefined;
  out.push({
    type: "turn-end",
    turn: state.turn as string,
    ...(failure === undefined
      ? { status: "done" }
      : { status: "error", reason: "failed", error: failure.text }),
    ...(stats === undefined ? {} : { usage: usageOf(stats), native: { stats }, ...modelsOf(stats) }),
    ...given({ durationMs: numberOf(stats?.duration_ms), at: state.at }),
  });
  state.turn = undefined;
}

function modelsOf(stats: JsonObject): { models?: readonly string[] } {
  const models = Object.keys(objectOf(stats.models));
  return models.length === 0 ? {} : { models };
}

/**
 * `input_tokens` includes cached tokens. Thoughts have no field of their own, except in a whole answer, which counts by
 * model.
 */
function usageOf(stats: JsonObject): Usage {
  const tokens = Object.values(objectOf(stats.models)).flatMap((model) => objectOf(model).tokens ?? []);
  if (tokens.length > 0) return tokens.map((each) => modelUsage(objectOf(each))).reduce(addUsage);
  return {
    input: count(stats.input_tokens),
    cacheRead: count(stats.cached),
    cacheWrite: 0,
    output: count(stats.output_tokens),
    reasoning: 0,
  };
}

function modelUsage(tokens: JsonObject): Usage {
  const reasoning = count(tokens.thoughts);
  const output = count(tokens.candidates) + reasoning;
  return { input: count(tokens.prompt), cacheRead: count(tokens.cached), cacheWrite: 0, output, reasoning };
}

/** `[API Error: {"error":{…}}]`: the sentence inside. */
function readFailure(message: string): { text: string; code?: string; details?: JsonObject } {
  const body = parseObject(/^\[API Error: (\{.*\})\s*\]$/s.exec(message)?.[1] ?? message);
  const error = isObject(body?.error) ? body.error : undefined;
  const text = textOf(error?.message);
  if (error === undefined || text === undefined) return { text: message };
  const code = textOf(error.status) ?? numberOf(error.code)?.toString();
  return { text, ...given({ code }), details: { message, ...given({ code: numberOf(error.code) }) } };
}

function closeCalls(state: State, out: BlockEvent[]): void {
  for (const call of state.calls.values()) out.push(cutCall(call.key));
  state.calls.clear();
}

function nextKey(state: State): BlockKey {
  return `${state.run}/block-${state.blocks++}`;
}
