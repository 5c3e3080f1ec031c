/**
 * Tool calls of a response: their input as it streams, their run, their results, whether the provider runs them or the
 * caller does.
 *
 * A remote call ends with its own item. A call that the caller runs stays running until its output comes; behind the end of
 * the response it waits for it. An input that is not whole is never shown as complete.
 */

import { type BlockEvent, type BlockKey, type Json, type JsonObject, jsonText } from "@blockyard/kernel";
import { cutCall, endCall, openResult, resultKey } from "../call.ts";
import { given, numberOf, objectOf, textOf, wordsOf } from "../read.ts";
import { compactParams } from "../row.ts";
import {
  answers,
  commandMetadata,
  type ItemCall,
  inputFrom,
  itemCall,
  itemImages,
  itemOutcome,
  outputOutcome,
} from "./item.ts";
import { type Item, indexIn, itemOf, type OpenCall, type Response } from "./response-state.ts";
import { blockMetadata, nextKey, startBlock, unknownIn, wholeBlock } from "./turn.ts";

/** The call that an item is, and what starts it. */
interface Opened {
  readonly open: OpenCall;
  readonly started: readonly BlockEvent[];
}

export function openCall(response: Response, item: Item, call: ItemCall): Opened {
  const key = nextKey(response.turn);
  const shown = call.streams === true ? "" : call.inputText;
  const open: OpenCall = {
    key,
    call,
    text: shown,
    first: call.inputText,
    input: undefined,
    isRunning: false,
    isEnded: false,
    isRewritten: false,
    hasResult: false,
  };
  item.call = open;
  const start: BlockEvent = {
    type: "block-start",
    key,
    kind: "tool_call",
    role: "model",
    metadata: blockMetadata(response.turn, {
      toolUseId: call.toolUseId === "" ? key : call.toolUseId,
      toolName: call.toolName,
      ...given({ remote: call.remote ? true : undefined, server: call.server, ask: call.ask }),
      ...(item.id === "" || item.id === call.toolUseId ? {} : { extra: { itemId: item.id } }),
    }),
    ...given({ text: shown === "" ? undefined : shown }),
  };
  return { open, started: [start] };
}

function callOf(response: Response, event: JsonObject): Opened {
  const item = itemOf(response, event, "function_call");
  if (item.call !== undefined) return { open: item.call, started: [] };
  const name = jsonText(event.type).replace(/^response\.|_(arguments|input|code|command)\.\w+$/g, "");
  const call = itemCall({ type: name, name: wordsOf(event.name) ?? name, id: item.id }) as ItemCall;
  return openCall(response, item, call);
}

export function growCall(response: Response, event: JsonObject, text: string): readonly BlockEvent[] {
  const { open: call, started } = callOf(response, event);
  return [...started, ...appendInput(call, text)];
}

/** The whole input: for servers that send it without deltas. */
export function settleCall(
  response: Response,
  event: JsonObject,
  whole: Json | undefined,
): readonly BlockEvent[] {
  const { open: call, started } = callOf(response, event);
  return [...started, ...(call.text === "" ? appendInput(call, textOf(whole) ?? "") : [])];
}

function appendInput(call: OpenCall, text: string): readonly BlockEvent[] {
  if (text === "") return [];
  call.text += text;
  return [{ type: "block-append", key: call.key, text }];
}

export function growCode(response: Response, event: JsonObject): readonly BlockEvent[] {
  const { open: call, started } = callOf(response, event);
  const opening = call.text === "" ? '{"code":"' : "";
  return [...started, ...appendInput(call, opening + inJson(textOf(event.delta) ?? ""))];
}

export function addCommand(response: Response, event: JsonObject): readonly BlockEvent[] {
  const { open: call, started } = callOf(response, event);
  const opening = call.text === "" ? '{"commands":["' : '","';
  return [...started, ...appendInput(call, opening + inJson(textOf(event.command) ?? ""))];
}

/** A piece of text as it appears inside a JSON string. */
export function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

export function doneCall(
  response: Response,
  item: Item,
  native: JsonObject,
  call: ItemCall,
): readonly BlockEvent[] {
  const { open, started } =
    item.call === undefined ? openCall(response, item, call) : { open: item.call, started: [] };
  const events = [...started, ...settleText(open, call.inputText)];
  const cutShort = native.status === "incomplete" && call.isPlain !== true;
  const input = cutShort ? undefined : inputFrom(call, open.text);
  open.input = input;
  if (input === undefined) return [...events, truncated(open)];
  events.push(...runCall(response, open));
  if (call.waits) return events;
  for (const image of itemImages(native)) {
    const own = { ...image.metadata, toolUseId: call.toolUseId, toolName: call.toolName };
    events.push(...wholeBlock(response.turn, "image", image.text, own, open.key));
  }
  response.calls.delete(open.key);
  open.isEnded = true;
  const outcome = itemOutcome(native, input);
  const rewritten = open.isRewritten ? { input } : {};
  events.push(...endCall(idsOf(open), withError({ ...outcome, ...rewritten })));
  return events;
}

/** The authoritative text: its rest if it continues the streamed one, otherwise it is set when the call ends. */
function settleText(open: OpenCall, whole: string): readonly BlockEvent[] {
  const streamed = open.text;
  if (whole === "" || whole === streamed) return [];
  open.text = whole;
  if (whole.startsWith(streamed))
    return [{ type: "block-append", key: open.key, text: whole.slice(streamed.length) }];
  open.isRewritten = true;
  return [];
}

/** The input is whole: the call runs, here or there. */
export function runCall(response: Response, open: OpenCall): readonly BlockEvent[] {
  if (open.text === "" && open.first !== "")
    return [...settleText(open, open.first), ...runCall(response, open)];
  const input = open.input ?? inputFrom(open.call, open.text);
  if (input === undefined) return [truncated(open)];
  open.input = input;
  open.isRunning = true;
  response.calls.set(open.key, open);
  const empty = open.text === "" && open.call.isPlain !== true;
  if (empty) open.text = "{}";
  return [
    ...(empty ? [{ type: "block-append", key: open.key, text: "{}" } as const] : []),
    {
      type: "block-meta",
      key: open.key,
      metadata: { stage: "running", input, ...given({ compactParams: compactParams(input) }) },
    },
  ];
}

function truncated(open: OpenCall): BlockEvent {
  open.isEnded = true;
  const error = "The input of this call is incomplete";
  return {
    type: "block-end",
    key: open.key,
    status: "error",
    reason: "truncated",
    metadata: { error, success: false },
  };
}

export function progress(response: Response, event: JsonObject): readonly BlockEvent[] {
  const open = response.items.get(indexIn(response, event))?.call;
  if (
    open === undefined ||
    open.isRunning ||
    !/(searching|interpreting|generating)$/.test(jsonText(event.type))
  )
    return [];
  return [{ type: "block-meta", key: open.key, metadata: { stage: "running" } }];
}

export function partialImage(response: Response, event: JsonObject): readonly BlockEvent[] {
  const open = response.items.get(indexIn(response, event))?.call;
  if (open === undefined) return [];
  const number = (numberOf(event.partial_image_index) ?? 0) + 1;
  return [{ type: "block-meta", key: open.key, metadata: { progress: `Partial image ${number}` } }];
}

/** The API only requests the tool: the call waits for a result that does not come in this stream. */
export function owe(call: OpenCall): readonly BlockEvent[] {
  call.isEnded = true;
  const text: BlockEvent[] = call.isRewritten
    ? [{ type: "block-meta", key: call.key, metadata: { input: call.input ?? null } }]
    : [];
  return [...text, { type: "block-meta", key: call.key, metadata: { waiting: "result" } }];
}

/** Ends a call that will get no more of a result. */
export function leaveCall(call: OpenCall, how: "done" | "interrupted"): readonly BlockEvent[] {
  call.isEnded = true;
  const end = how === "done" ? ({ status: "done" } as const) : ({ status: "error", reason: how } as const);
  const result: BlockEvent[] = call.hasResult
    ? [{ type: "block-end", key: resultKey(call.key), ...end }]
    : [];
  const text = call.isRewritten ? { text: call.text } : {};
  return [
    ...result,
    how === "done" ? { type: "block-end", key: call.key, ...end, ...text } : cutCall(call.key),
  ];
}

export function openOutput(response: Response, item: Item, native: JsonObject): readonly BlockEvent[] {
  const call = callById(response, answers(native) ?? "");
  if (call === undefined || call.hasResult) return [];
  item.answered = call;
  call.hasResult = true;
  return [openResult(idsOf(call), "command", { ...commandMetadata(call.input) }, "")];
}

export function growOutput(response: Response, event: JsonObject): readonly BlockEvent[] {
  const call = response.items.get(indexIn(response, event))?.answered;
  const delta = objectOf(event.delta);
  const text = textOf(delta.stdout) ?? "";
  if (call === undefined || !call.hasResult || text === "") return [];
  return [{ type: "block-append", key: resultKey(call.key), text }];
}

export function doneOutput(response: Response, native: JsonObject, id: string): readonly BlockEvent[] {
  const call = callById(response, id);
  const outcome = outputOutcome(native, call?.input);
  if (call !== undefined) {
    response.calls.delete(call.key);
    call.isEnded = true;
    const rewritten = call.isRewritten && call.input !== undefined ? { input: call.input } : {};
    return [
      ...answerAsk(call, outcome.failed),
      ...endCall(idsOf(call), withError({ ...outcome, ...rewritten }), call.hasResult),
    ];
  }
  const result = outcome.result;
  if (result === undefined) return unknownIn(response.turn, native, `output_item/${jsonText(native.type)}`);
  const toolName = jsonText(native.type).replace(/(_call)?_output$/, "");
  const own = {
    ...result.metadata,
    toolUseId: id === "" ? (wordsOf(native.id) ?? "?") : id,
    toolName,
    ...(outcome.failed ? { isError: true } : {}),
  };
  const start = startBlock(response.turn, result.kind, own);
  return [
    { ...start, role: "tool", text: result.text },
    {
      type: "block-end",
      key: start.key,
      status: outcome.failed ? "error" : "done",
      ...(outcome.failed ? { reason: "failed" as const } : {}),
    },
  ];
}

/** The call's approval was granted or refused. */
function answerAsk({ key, call: { ask } }: OpenCall, isDenied: boolean): readonly BlockEvent[] {
  if (ask === undefined) return [];
  const state = isDenied ? "denied" : "allowed";
  return [{ type: "block-meta", key, metadata: { ask: { ...ask, state } } }];
}

function withError(outcome: Parameters<typeof endCall>[1]): Parameters<typeof endCall>[1] {
  if (outcome.result === undefined || !outcome.failed) return outcome;
  const metadata = { ...outcome.result.metadata, isError: true };
  return { ...outcome, result: { ...outcome.result, metadata } };
}

function idsOf(open: OpenCall): {
  readonly key: BlockKey;
  readonly toolUseId: string;
  readonly toolName: string;
} {
  return { key: open.key, toolUseId: callId(open), toolName: open.call.toolName };
}

/** The call with this id that runs; the latest, should an id come twice. */
function callById(response: Response, id: string): OpenCall | undefined {
  return [...response.calls.values()].findLast((open) => callId(open) === id);
}

function callId(open: OpenCall): string {
  return open.call.toolUseId === "" ? open.key : open.call.toolUseId;
}
