/**
 * OpenAI's Responses API: its stream events, and a whole response as it comes without streaming.
 *
 * Everything in a response belongs to an output item, found by its index or else its id. What the `done` events and
 * the final response repeat confirms; it adds only what the stream has not said. Items that arrive whole go the same
 * way as items that stream.
 */

import type { BlockEvent, BlockKey, Json, JsonObject } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { given, listOf, objectOf, textOf, wholeOf, wordsOf } from "../read.ts";
import { unknownEvent } from "../unknown.ts";
import { answers, itemCall } from "./item.ts";
import {
  addCommand,
  doneCall,
  doneOutput,
  growCall,
  growCode,
  growOutput,
  inJson,
  leaveCall,
  openCall,
  openOutput,
  owe,
  partialImage,
  progress,
  runCall,
  settleCall,
} from "./response-calls.ts";
import { isBackward, promptBlocks } from "./response-items.ts";
import { type Item, indexIn, indexOfId, newItem, type Response } from "./response-state.ts";
import {
  addPart,
  annotate,
  doneMessage,
  donePart,
  doneReasoning,
  endPart,
  growText,
  growThinking,
  openThinking,
  settleText,
  settleThinking,
} from "./response-text.ts";
import {
  type Count,
  endTurn,
  errorBlock,
  messageOf,
  PROVIDER,
  startTurn,
  unknownIn,
  wholeBlock,
} from "./turn.ts";

export interface ResponsesState {
  readonly count: Count;
  readonly runsTools: boolean;
  response: Response | undefined;
  /** The last ended answer: it may be reported as failed twice, under its id or with the same text. */
  endedId: string | undefined;
  endedError: string | undefined;
}

type Step = (response: Response, event: JsonObject) => readonly BlockEvent[];

/** Whether an event is one of this API's. */
export function isResponsesEvent(event: JsonObject): boolean {
  return (
    (typeof event.type === "string" && event.type.startsWith("response.")) || event.object === "response"
  );
}

export function stepResponses(state: ResponsesState, event: JsonObject): readonly BlockEvent[] {
  const type = textOf(event.type) ?? "";
  if (event.object === "response") return wholeResponse(state, event);
  const name = type.replace(/^response\./, "");
  const answer = objectOf(event.response);
  if (ENDS.has(name)) return endResponse(state, answer, name);
  if (name === "error") return failResponse(state, event);
  const [response, started] = current(state, answer);
  if (isRepeated(response, name, wholeOf(event.sequence_number)) || OPENINGS.has(name)) return started;
  return [...started, ...stepIn(response, name, event)];
}

/** Requesting a running response again returns its events from the first one on. */
function isRepeated(response: Response, name: string, number: number | undefined): boolean {
  if (name === "created") response.repeatsTo = response.lastNumber;
  if (number === undefined) return false;
  response.lastNumber = Math.max(response.lastNumber, number);
  return number <= response.repeatsTo;
}

function stepIn(response: Response, name: string, event: JsonObject): readonly BlockEvent[] {
  const step = Object.hasOwn(STEPS, name) ? STEPS[name] : stepAlike(name, event);
  if (step === undefined) return unknownIn(response.turn, event);
  const isLate =
    !name.startsWith("output_item.") && response.items.get(indexIn(response, event))?.isDone === true;
  if (!isLate) return step(response, event);
  return name.endsWith(".delta") ? unknownIn(response.turn, event, `${name} after its end`) : [];
}

const OPENINGS = new Set(["created", "queued", "in_progress"]);
const ENDS = new Set(["completed", "failed", "incomplete", "cancelled", "done"]);
/** Only says that something continues; the items say what. */
const PROGRESS = /^(\w+_call|mcp_list_tools|compaction)\.(?!delta$)\w+$/;

/** Unlisted events, of new servers and tools: their shape decides. */
function stepAlike(name: string, event: JsonObject): Step | undefined {
  if (/^reasoning\w*\.(added|delta|done)$/.test(name)) return thinkAlike(name);
  const delta = textOf(event.delta);
  if (PROGRESS.test(name)) return progress;
  if (!/^\w+_call_\w+\.(delta|done)$/.test(name)) return undefined;
  return (response, each) => (delta === undefined ? [] : growCall(response, each, delta));
}

function thinkAlike(name: string): Step {
  const kind = name.startsWith("reasoning_summary") ? "summary" : "content";
  if (name.endsWith(".added") || name.includes("_part.")) return () => [];
  if (name.endsWith(".done")) return (response, event) => settleThinking(response, event, kind);
  return (response, event) =>
    growThinking(response, event, kind, textOf(event.delta) ?? textOf(objectOf(event.delta).text));
}

const STEPS: Readonly<Record<string, Step>> = {
  "output_item.added": (response, event) => addItem(response, event),
  "output_item.done": (response, event) => doneItem(response, objectOf(event.item), indexIn(response, event)),
  "content_part.added": (response, event) => addPart(response, event),
  "content_part.done": (response, event) => donePart(response, event),
  "output_text.delta": (response, event) => growText(response, event, "output_text"),
  "output_text.done": (response, event) => settleText(response, event, "output_text", event.text),
  "output_text.annotation.added": (response, event) => annotate(response, event),
  "refusal.delta": (response, event) => growText(response, event, "refusal"),
  "refusal.done": (response, event) => settleText(response, event, "refusal", event.refusal),
  "audio.delta": (response) => hearAudio(response),
  "audio.done": () => [],
  "audio.transcript.delta": (response, event) => growText(response, event, "audio"),
  "audio.transcript.done": () => [],
  "reasoning_summary_part.added": () => [],
  "reasoning_summary_part.done": () => [],
  "reasoning_summary_text.delta": (response, event) => growThinking(response, event, "summary", event.delta),
  "reasoning_summary_text.done": (response, event) => settleThinking(response, event, "summary"),
  "reasoning_text.delta": (response, event) => growThinking(response, event, "content", event.delta),
  "reasoning_text.done": (response, event) => settleThinking(response, event, "content"),
  "function_call_arguments.delta": (response, event) => growCall(response, event, textOf(event.delta) ?? ""),
  "function_call_arguments.done": (response, event) => settleCall(response, event, event.arguments),
  "mcp_call_arguments.delta": (response, event) => growCall(response, event, textOf(event.delta) ?? ""),
  "mcp_call_arguments.done": (response, event) => settleCall(response, event, event.arguments),
  "custom_tool_call_input.delta": (response, event) => growCall(response, event, textOf(event.delta) ?? ""),
  "custom_tool_call_input.done": (response, event) => settleCall(response, event, event.input),
  "code_interpreter_call_code.delta": (response, event) => growCode(response, event),
  "code_interpreter_call_code.done": () => [],
  "shell_call_command.added": (response, event) => addCommand(response, event),
  "shell_call_command.delta": (response, event) =>
    growCall(response, event, inJson(textOf(event.delta) ?? "")),
  "shell_call_command.done": () => [],
  "shell_call_output_content.delta": (response, event) => growOutput(response, event),
  "shell_call_output_content.done": () => [],
  "image_generation_call.partial_image": (response, event) => partialImage(response, event),
};

// ---------------------------------------------------------------------------------------------------------------------
// The response

function current(state: ResponsesState, answer: JsonObject): [Response, readonly BlockEvent[]] {
  const open = state.response;
  const id = wordsOf(answer.id);
  if (open !== undefined && (id === undefined || id === open.turn.id)) return [open, []];
  const before = open === undefined ? [] : endOfStream(state);
  const [turn, start] = startTurn(state.count, answer);
  const response: Response = {
    turn,
    items: new Map(),
    calls: new Map(),
    unfinished: [],
    lastNumber: -1,
    repeatsTo: -1,
    hasAudio: false,
    hasTranscript: false,
  };
  state.response = response;
  return [response, [...before, start]];
}

function endResponse(state: ResponsesState, answer: JsonObject, how: string): readonly BlockEvent[] {
  const id = wordsOf(answer.id);
  if (state.response === undefined && id !== undefined && id === state.endedId) return [];
  const [response, started] = current(state, answer);
  if (isObject(answer.usage)) response.turn.usage = answer.usage;
  response.turn.model = wordsOf(answer.model) ?? response.turn.model;
  const status = wordsOf(answer.status) ?? how;
  const events: BlockEvent[] = [...started, ...doneItems(response, listOf(answer.output))];
  const stopReason =
    wordsOf(objectOf(answer.incomplete_details).reason) ?? (status === "completed" ? undefined : status);
  const failed = status === "failed" || status === "cancelled";
  events.push(...closeAll(state, response, failed ? "interrupted" : "done"));
  if (!failed) {
    const reason = status === "incomplete" ? ("truncated" as const) : undefined;
    return [...events, ...finish(state, response, { status: "done", reason, stopReason })];
  }
  const reason = status === "failed" ? ("failed" as const) : ("cancelled" as const);
  if (!isObject(answer.error))
    return [...events, ...finish(state, response, { status: "error", reason, stopReason })];
  const { events: block, message } = errorBlock(response.turn, answer.error);
  return [
    ...events,
    ...block,
    ...finish(state, response, { status: "error", reason, stopReason, error: message }),
  ];
}

export function failResponse(state: ResponsesState, event: JsonObject): readonly BlockEvent[] {
  const { sequence_number: _, ...said } = event;
  if (state.response === undefined && state.endedError !== undefined && state.endedError === messageOf(said))
    return [];
  const [response, started] = current(state, {});
  const { events, message } = errorBlock(response.turn, said);
  const closed = closeAll(state, response, "interrupted");
  const end = finish(state, response, { status: "error", reason: "failed", error: message });
  return [...started, ...closed, ...events, ...end];
}

/** A body. One that was requested before its response was over is followed by another, or was cut. */
function wholeResponse(state: ResponsesState, answer: JsonObject): readonly BlockEvent[] {
  const status = wordsOf(answer.status) ?? "completed";
  if (!OPENINGS.has(status)) return endResponse(state, answer, status);
  const [response, started] = current(state, answer);
  response.unfinished = listOf(answer.output);
  if (isObject(answer.usage)) response.turn.usage = answer.usage;
  return started;
}

/** Items as an endpoint lists them, the latest first or last; a user message begins a turn. */
export function stepItems(state: ResponsesState, list: readonly Json[]): readonly BlockEvent[] {
  const items = list.filter(isObject);
  const events: BlockEvent[] = [];
  for (const [i, item] of (isBackward(items) ? items.toReversed() : items).entries()) {
    const isPrompt = item.type === "message" && item.role !== "assistant";
    if (isPrompt && (state.response?.items.size ?? 0) > 0) events.push(...endItems(state));
    const [response, started] = current(state, {});
    events.push(...started);
    if (isPrompt) events.push(...promptBlocks(response, item));
    else events.push(...doneItem(response, item, i));
  }
  return [...events, ...endItems(state)];
}

function endItems(state: ResponsesState): readonly BlockEvent[] {
  const { response } = state;
  if (response === undefined) return [];
  return [...closeAll(state, response, "done"), ...finish(state, response, { status: "done" })];
}

/** The stream has ended without an end event. */
export function endOfStream(state: ResponsesState): readonly BlockEvent[] {
  const response = state.response;
  if (response === undefined) return [];
  const said = doneItems(response, response.unfinished);
  const closed = closeAll(state, response, "interrupted");
  return [...said, ...closed, ...finish(state, response, { status: "error", reason: "interrupted" })];
}

function finish(
  state: ResponsesState,
  response: Response,
  end: Parameters<typeof endTurn>[1],
): readonly BlockEvent[] {
  state.response = undefined;
  state.endedId = response.turn.id;
  state.endedError = end.error;
  return endTurn(response.turn, end);
}

function closeAll(
  state: ResponsesState,
  response: Response,
  how: "done" | "interrupted",
): readonly BlockEvent[] {
  const events: BlockEvent[] = [];
  for (const item of response.items.values()) {
    item.isDone = true;
    for (const part of item.parts.values()) events.push(endPart(part, how, {}));
    item.parts.clear();
    if (item.unknown !== undefined) {
      const end =
        how === "done" ? ({ status: "done" } as const) : ({ status: "error", reason: how } as const);
      events.push({ type: "block-end", key: item.unknown, ...end });
    }
    if (item.call === undefined || item.call.isRunning || item.call.isEnded) continue;
    if (how === "done") events.push(...runCall(response, item.call));
    else events.push(...leaveCall(item.call, how));
  }
  for (const call of response.calls.values()) {
    if (state.runsTools && !call.call.remote) continue;
    const isOwed = how === "done" && !call.call.remote && !call.hasResult;
    events.push(...(isOwed ? owe(call) : leaveCall(call, how)));
  }
  response.calls.clear();
  if (how === "done" && response.hasAudio && !response.hasTranscript)
    events.push(...wholeBlock(response.turn, "text", "[audio]", { label: "audio" }));
  return events;
}

/** An answer that is spoken and not written down still shows. */
function hearAudio(response: Response): readonly BlockEvent[] {
  response.hasAudio = true;
  return [];
}

// ---------------------------------------------------------------------------------------------------------------------
// Items

function addItem(response: Response, event: JsonObject): readonly BlockEvent[] {
  const native = objectOf(event.item);
  const index = indexIn(response, event);
  if (response.items.has(index)) return [];
  const type = textOf(native.type) ?? "";
  const item = newItem(type, native.id);
  response.items.set(index, item);
  if (type === "reasoning") return openThinking(response, item, "summary");
  if (type === "shell_call_output") return openOutput(response, item, native);
  if (answers(native) !== undefined) return [];
  const call = itemCall(native);
  if (call !== undefined) return openCall(response, item, call).started;
  return type === "message" || Object.hasOwn(NOTICES, type) ? [] : openUnknown(response, item, native);
}

/** Its last state is its text: the done event repeats it. */
function openUnknown(response: Response, item: Item, native: JsonObject): readonly BlockEvent[] {
  const [start] = unknownItem(response, native);
  if (start?.type === "block-start") item.unknown = start.key;
  return start === undefined ? [] : [start];
}

function doneUnknown(key: BlockKey, native: JsonObject): readonly BlockEvent[] {
  const [start] = unknownEvent({ key, provider: PROVIDER }, native);
  const text = start?.type === "block-start" ? start.text : undefined;
  return [{ type: "block-end", key, status: "done", ...given({ text }) }];
}

function unknownItem(response: Response, native: JsonObject): readonly BlockEvent[] {
  return unknownIn(response.turn, native, `output_item/${wordsOf(native.type) ?? "(no type)"}`);
}

function doneItems(response: Response, output: readonly Json[]): readonly BlockEvent[] {
  return output.flatMap((item, i) =>
    isObject(item) ? [...doneItem(response, item, indexOfId(response, item.id) ?? i)] : [],
  );
}

/** The item is complete: ends its stream, adds what is missing. */
function doneItem(response: Response, native: JsonObject, index: number): readonly BlockEvent[] {
  const type = textOf(native.type) ?? "";
  const known = response.items.get(index);
  if (known?.isDone === true) return [];
  const item = known ?? newItem(type, native.id);
  response.items.set(index, item);
  item.isDone = true;
  const unknown = item.unknown;
  item.unknown = undefined;
  if (unknown !== undefined) return doneUnknown(unknown, native);
  if (type === "message") return doneMessage(response, item, native);
  if (type === "reasoning") return doneReasoning(response, item, native);
  const answered = answers(native);
  if (answered !== undefined) return doneOutput(response, native, answered);
  const call = itemCall(native);
  if (call !== undefined) return doneCall(response, item, native, call);
  return noticeItem(response, native);
}

/** Items about the response rather than content of it. */
function noticeItem(response: Response, native: JsonObject): readonly BlockEvent[] {
  const type = textOf(native.type) ?? "";
  const notice = Object.hasOwn(NOTICES, type) ? NOTICES[type] : undefined;
  if (notice === undefined) return unknownItem(response, native);
  const { type: _, ...extra } = native;
  return wholeBlock(response.turn, "text", notice(native), { notice: type, extra });
}

const NOTICES: Readonly<Record<string, (item: JsonObject) => string>> = {
  compaction: () => "The conversation was compacted",
  mcp_list_tools: (item) => names(item.tools, wordsOf(item.error) ?? wordsOf(objectOf(item.error).message)),
  additional_tools: (item) => names(item.tools, undefined),
  configuration_update: () => "The configuration was changed",
};

function names(tools: JsonObject[string] | undefined, error: string | undefined): string {
  return (
    error ??
    listOf(tools)
      .map((tool) => textOf(objectOf(tool).name) ?? textOf(objectOf(tool).type) ?? "?")
      .join("\n")
  );
}
