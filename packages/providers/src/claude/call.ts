/**
 * The life of a tool call: one start, input as pure deltas, `running` when the input is whole, results below it, one
 * end. Whatever the CLI repeats, leaves out or reorders, each call starts once and ends once.
 *
 * An input that did not arrive whole is never shown as one: the call then has no `input`, only the text so far.
 */

import type { BlockKey, Json, JsonObject, Reason } from "@blockyard/kernel";
import { parseObject } from "../framing/json.ts";
import { bounds } from "../limits.ts";
import { given, objectOf, textOf } from "../read.ts";
import { compactParams } from "./row.ts";
import type { Call, Out, Scope, State } from "./state.ts";

interface CallStart {
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  readonly turn: number;
  readonly messageId?: string | undefined;
  readonly index?: number | undefined;
  /** It runs at the provider. */
  readonly isRemote?: boolean;
  readonly server?: string | undefined;
  readonly at?: number | undefined;
}

/** The call of this id: the known one, or a new one, started. */
export function openCall(state: State, out: Out, start: CallStart): Call {
  const known = state.calls.get(start.id);
  if (known !== undefined && !isAnother(known, start)) return known;
  const call: Call = {
    id: start.id,
    name: start.name,
    key: `${state.prefix}c:${start.id}${known === undefined ? "" : `@${start.messageId}`}`,
    scope: start.scope,
    turn: start.turn,
    messageId: start.messageId,
    input: undefined,
    firstInput: undefined,
    isRunning: false,
    isBroken: false,
    isEnded: false,
    isDone: false,
    isBackground: false,
    openResult: undefined,
    hasProgress: false,
    ask: undefined,
    plans: 0,
    text: "",
    results: known?.results ?? 0,
    streamedResult: undefined,
  };
  state.calls.set(start.id, call);
  if (state.calls.size > bounds.openCalls) forgetOldest(state, out);
  out.push({
    type: "block-start",
    key: call.key,
    ...(start.scope.parent === undefined ? {} : { parent: start.scope.parent }),
    kind: "tool_call",
    role: "model",
    metadata: given({
      toolUseId: start.id,
      toolName: start.name,
      messageId: start.messageId,
      index: start.index,
      label: start.scope.label,
      remote: start.isRemote === true ? true : undefined,
      ...mcpNames(start.name, start.server),
    }),
    ...(start.at === undefined ? {} : { at: start.at }),
  });
  return call;
}

/** Some models restart their call ids in every message: an ended call's id may be reused in another message. */
function isAnother(known: Call, start: CallStart): boolean {
  if (!known.isEnded || known.messageId === undefined || start.messageId === undefined) return false;
  return known.messageId !== start.messageId;
}

export function appendInput(out: Out, call: Call, delta: string): void {
  if (delta === "" || call.isEnded || call.isRunning) return;
  call.text += delta;
  out.push({ type: "block-append", key: call.key, text: delta });
}

/** The input is complete and the call runs. If repeated, a different input replaces the first. */
export function runCall(state: State, out: Out, call: Call, input: Json, displayName?: string): void {
  if (call.isEnded) return;
  const raw = unparsed(input);
  if (raw !== undefined) {
    if (call.text === "") appendInput(out, call, raw);
    call.isBroken = true;
    return;
  }
  const isNew = call.input === undefined;
  call.input = input;
  call.isRunning = true;
  if (isNew && call.text === "") {
    call.text = JSON.stringify(input);
    out.push({ type: "block-append", key: call.key, text: call.text });
  }
  const metadata: JsonObject = {
    stage: "running",
    input,
    compactParams: compactParams(call.name, objectOf(input), state.cwd),
  };
  out.push({
    type: "block-meta",
    key: call.key,
    metadata: displayName === undefined ? metadata : { ...metadata, displayName },
  });
}

/** The stream has stopped without an assistant line: the text so far is the input if it is JSON. False if not. */
export function runStreamed(state: State, out: Out, call: Call): boolean {
  if (call.isRunning || call.isEnded || call.isBroken) return !call.isBroken;
  const input = call.text.trim() === "" ? (call.firstInput ?? {}) : parseObject(call.text, bounds.inputDepth);
  if (input === undefined) return false;
  runCall(state, out, call, input);
  return true;
}

interface CallEnd {
  readonly status: "done" | "error";
  readonly reason?: Reason | undefined;
  readonly metadata?: JsonObject;
  /** The known part of the open result. */
  readonly result?: JsonObject | undefined;
  readonly at?: number | undefined;
}

export function endCall(out: Out, call: Call, end: CallEnd): void {
  if (call.isEnded) return;
  call.isEnded = true;
  call.isDone = end.status === "done";
  if (call.openResult !== undefined) {
    out.push({
      type: "block-end",
      key: call.openResult,
      status: end.status,
      ...(end.reason === undefined ? {} : { reason: end.reason }),
      ...(end.result === undefined ? {} : { metadata: end.result }),
      ...(end.at === undefined ? {} : { at: end.at }),
    });
    call.openResult = undefined;
  }
  const whole = call.input === undefined ? undefined : JSON.stringify(call.input);
  out.push({
    type: "block-end",
    key: call.key,
    status: end.status,
    ...(end.reason === undefined ? {} : { reason: end.reason }),
    ...(whole === undefined || whole === call.text ? {} : { text: whole }),
    metadata: {
      success: end.status === "done",
      ...end.metadata,
      ...(call.hasProgress ? { progress: null } : {}),
      ...closedAsk(call, end),
    },
    ...(end.at === undefined ? {} : { at: end.at }),
  });
  call.text = "";
  call.input = undefined;
  call.firstInput = undefined;
  call.ask = undefined;
}

/** A call of an agent inside an agent, whose results are not printed: it was allowed, and its agent is done. */
export function endUnseen(state: State, out: Out, call: Call): boolean {
  const agent = call.scope.parent === undefined ? undefined : callAt(state, call.scope.parent);
  // Without the host's side, an open ask was answered out of our sight.
  const isAllowed = call.ask?.state === "allowed" || call.ask?.state === "asked";
  if (agent?.isDone !== true || !isAllowed) return false;
  endCall(out, call, { status: "done", metadata: { success: null } });
  return true;
}

export function callAt(state: State, key: BlockKey): Call | undefined {
  return state.calls.get(key.slice(state.prefix.length + 2));
}

/** Ends a call that got no result. An incomplete one stays without input. */
export function breakCall(out: Out, call: Call, reason: Reason): void {
  endCall(out, call, { status: "error", reason });
}

/** An ask that is still open when its call ends was answered out of our sight, or by nobody. */
function closedAsk(call: Call, end: CallEnd): JsonObject {
  if (call.ask === undefined || call.ask.state !== "asked" || end.metadata?.ask !== undefined) return {};
  const state = end.reason === "denied" ? "denied" : end.reason === "interrupted" ? "expired" : "allowed";
  const isAnswer = state === "allowed" && call.ask.kind === "question";
  return { ask: { ...call.ask, state: isAnswer ? "answered" : state } as JsonObject };
}

/** The one parent for everything that belongs to a call. */
export function keyOfCall(state: State, id: Json | undefined): BlockKey | undefined {
  return typeof id === "string" ? state.calls.get(id)?.key : undefined;
}

/** `mcp__server__tool`, as the CLI names the tools of MCP servers. */
function mcpNames(name: string, server?: string): { server?: string } {
  if (server !== undefined) return { server };
  const match = /^mcp__(.+?)__./.exec(name);
  return match === null ? {} : { server: match[1] as string };
}

/** The CLI's form of an input that is no JSON: the raw text. */
function unparsed(input: Json): string | undefined {
  const marker = objectOf(input)["__unparsedToolInput"];
  return marker === undefined ? undefined : (textOf(objectOf(marker).raw) ?? "");
}

function forgetOldest(state: State, out: Out): void {
  for (const [id, call] of state.calls) {
    breakCall(out, call, "interrupted");
    state.calls.delete(id);
    return;
  }
}
