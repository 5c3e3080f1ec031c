/**
 * OpenAI's Chat Completions: chunks, a whole completion as it comes without streaming, and what the many servers that
 * speak this format do with it.
 *
 * Text, thinking and each tool call of a choice are blocks of their own, in the order in which they begin. Tool calls
 * are joined by their index; where a server leaves indexes or ids out, by id and by order. The turn ends with the end
 * marker or the stream, because usage comes after the last word.
 */

import type { BlockEvent, BlockKey, Json, JsonObject } from "@blockyard/kernel";
import { bounds } from "../bounds.ts";
import { cutCall } from "../call.ts";
import { isObject, parseJson } from "../framing/json.ts";
import { given, listOf, objectOf, textOf, wholeOf, wordsOf } from "../read.ts";
import { compactParams } from "../row.ts";
import { contentText, errorOf, imagesOf, thinkingText, unknownParts, usageOf } from "./chat-content.ts";
import {
  blockMetadata,
  type Count,
  citationsOf,
  endTurn,
  errorBlock,
  nextKey,
  startBlock,
  startTurn,
  type Turn,
  unknownIn,
  wholeBlock,
} from "./turn.ts";

type SaidName = "text" | "thinking" | "refusal" | "audio";

interface ChatCall {
  key: BlockKey | undefined;
  id: string | undefined;
  name: string | undefined;
  /** What a custom tool takes is plain text. */
  isPlain: boolean;
  input: string;
}

interface Choice {
  readonly index: number;
  /** The block that is being written; another kind of content ends it. */
  open: { readonly name: SaidName; readonly key: BlockKey; text: string } | undefined;
  annotations: Json[];
  readonly calls: ChatCall[];
  /** Calls by the index that the server gives them. */
  readonly byIndex: Map<number, ChatCall>;
  finishReason: string | undefined;
  /** Sound has come, and the words that it says. */
  hasAudio: boolean;
  hasTranscript: boolean;
}

interface Completion {
  readonly turn: Turn;
  /** The server's own id, once one has come; and whether it has come again. */
  id: string | undefined;
  hasSteadyId: boolean;
  readonly choices: Map<number, Choice>;
  finishReason: string | undefined;
  /** Web pages that some servers list once for the whole answer. */
  sources: readonly Json[];
}

export interface ChatState {
  readonly count: Count;
  readonly runsTools: boolean;
  completion: Completion | undefined;
}

/** Whether an event is one of this API's, or of its older sister, whose choices hold a plain `text`. */
export function isChatEvent(event: JsonObject): boolean {
  return (
    Array.isArray(event.choices) ||
    (typeof event.object === "string" && event.object.startsWith("chat.completion"))
  );
}

export function stepChat(state: ChatState, event: JsonObject): readonly BlockEvent[] {
  const [completion, started] = current(state, event);
  completion.turn.model = completion.turn.model ?? wordsOf(event.model);
  completion.turn.usage = usageOf(event) ?? completion.turn.usage;
  if (Array.isArray(event.citations)) completion.sources = event.citations as readonly Json[];
  const events: BlockEvent[] = [...started];
  for (const native of listOf(event.choices)) {
    if (isObject(native)) events.push(...stepChoice(state, completion, native));
    else events.push(...unknownIn(completion.turn, native, "choice"));
  }
  const error = errorOf(event);
  return error === undefined ? events : [...events, ...failChat(state, { ...event, error })];
}

function current(state: ChatState, event: JsonObject): [Completion, readonly BlockEvent[]] {
  const open = state.completion;
  const id = wordsOf(event.id);
  if (open !== undefined && belongs(open, id, event)) {
    open.hasSteadyId ||= id !== undefined && id === open.id;
    // Azure opens with a chunk about its filters that has no id yet.
    if (open.id === undefined && id !== undefined && open.turn.blocks === 0) open.turn.id = id;
    open.id ??= id;
    return [open, []];
  }
  const before = open === undefined ? [] : endChat(state);
  const [turn, start] = startTurn(state.count, event);
  const completion: Completion = {
    turn,
    id,
    hasSteadyId: false,
    choices: new Map(),
    finishReason: undefined,
    sources: [],
  };
  state.completion = completion;
  return [completion, [...before, start]];
}

/** Some servers make up an id for every chunk: another one is another answer only behind an id that stayed, or an end. */
function belongs(open: Completion, id: string | undefined, event: JsonObject): boolean {
  if (id === undefined || open.id === undefined || id === open.id) return true;
  if (listOf(event.choices).length === 0) return true; // usage, filters: about what was said
  return open.finishReason === undefined && !open.hasSteadyId;
}

/** The end marker, the end of the stream, or another completion. `isMarked`: the server said that it was the end. */
export function endChat(state: ChatState, isMarked = false): readonly BlockEvent[] {
  const completion = state.completion;
  if (completion === undefined) return [];
  const { finishReason } = completion;
  const whole = isMarked || finishReason !== undefined;
  const events = [...completion.choices.values()].flatMap((choice) => [
    ...closeChoice(state, completion, choice, whole ? "done" : "interrupted"),
  ]);
  state.completion = undefined;
  const stopReason = finishReason;
  if (!whole) return [...events, ...endTurn(completion.turn, { status: "error", reason: "interrupted" })];
  if (stopReason === "error")
    return [...events, ...endTurn(completion.turn, { status: "error", reason: "failed", stopReason })];
  const reason = stopReason === "length" ? ("truncated" as const) : undefined;
  return [...events, ...endTurn(completion.turn, { status: "done", reason, stopReason })];
}

export function failChat(state: ChatState, event: JsonObject): readonly BlockEvent[] {
  const [completion, started] = current(state, event);
  const closed = [...completion.choices.values()].flatMap((choice) => [
    ...closeChoice(state, completion, choice, "interrupted"),
  ]);
  const { events, message } = errorBlock(completion.turn, { error: event.error ?? event });
  state.completion = undefined;
  const end = endTurn(completion.turn, { status: "error", reason: "failed", error: message });
  return [...started, ...closed, ...events, ...end];
}

// ---------------------------------------------------------------------------------------------------------------------
// Choices

function stepChoice(state: ChatState, completion: Completion, native: JsonObject): readonly BlockEvent[] {
  const choice = choiceOf(completion, native);
  const delta = isObject(native.delta) ? native.delta : objectOf(native.message);
  for (const annotation of listOf(delta.annotations)) choice.annotations.push(annotation);
  const events: BlockEvent[] = [
    ...say(completion, choice, "thinking", thinkingText(delta)),
    ...say(completion, choice, "text", contentText(delta.content ?? native.text)),
    ...say(completion, choice, "refusal", textOf(delta.refusal) ?? ""),
    ...say(completion, choice, "audio", textOf(objectOf(delta.audio).transcript) ?? ""),
    ...imagesOf(delta).flatMap((image) => [
      ...closeSaid(completion, choice, "done"),
      ...wholeBlock(completion.turn, "image", "", { ...image, ...choiceLabel(choice) }),
    ]),
    ...unknownParts(delta.content).flatMap(([part, type]) => [...unknownIn(completion.turn, part, type)]),
  ];
  choice.hasAudio ||= wordsOf(objectOf(delta.audio).data) !== undefined;
  const calls = listOf(delta.tool_calls);
  const inThisChunk = new Set<ChatCall>();
  for (const call of calls) events.push(...growCall(completion, choice, objectOf(call), inThisChunk));
  if (isObject(delta.function_call)) {
    events.push(...growCall(completion, choice, { index: 0, function: delta.function_call }, inThisChunk));
  }
  const finish = wordsOf(native.finish_reason);
  if (finish === undefined) return events;
  choice.finishReason = finish;
  completion.finishReason = completion.finishReason ?? finish;
  const how = finish === "error" ? "interrupted" : "done";
  return [...events, ...closeChoice(state, completion, choice, how)];
}

function choiceOf(completion: Completion, native: JsonObject): Choice {
  const index = wholeOf(native.index) ?? 0;
  const known = completion.choices.get(index);
  if (known !== undefined) return known;
  const choice: Choice = {
    index,
    open: undefined,
    annotations: [],
    calls: [],
    byIndex: new Map(),
    finishReason: undefined,
    hasAudio: false,
    hasTranscript: false,
  };
  completion.choices.set(index, choice);
  return choice;
}

function say(completion: Completion, choice: Choice, name: SaidName, text: string): readonly BlockEvent[] {
  if (text === "") return [];
  if (name === "audio") choice.hasTranscript = true;
  const events: BlockEvent[] = [];
  if (choice.open?.name !== name) {
    events.push(...closeSaid(completion, choice, "done"));
    const own = {
      ...(name === "refusal" ? { notice: "refusal" } : {}),
      ...(name === "audio" ? { label: "audio" } : {}),
      ...choiceLabel(choice),
    };
    const start = startBlock(completion.turn, name === "thinking" ? "thinking" : "text", own);
    choice.open = { name, key: start.key, text: "" };
    events.push(start);
  }
  const open = choice.open;
  // Citations have places in the text.
  if (name === "text") open.text += text;
  events.push({ type: "block-append", key: open.key, text });
  return events;
}

/** Only where several answers were asked for. */
function choiceLabel(choice: Choice): JsonObject {
  return choice.index === 0 ? {} : { label: `choice ${choice.index + 1}` };
}

function closeSaid(
  completion: Completion,
  choice: Choice,
  how: "done" | "interrupted",
): readonly BlockEvent[] {
  const open = choice.open;
  if (open === undefined) return [];
  choice.open = undefined;
  const cited =
    open.name === "text"
      ? citationsOf([...choice.annotations, ...completion.sources.map(sourceOf)], open.text)
      : {};
  if (open.name === "text") choice.annotations = [];
  return [
    {
      type: "block-end",
      key: open.key,
      status: how === "done" ? "done" : "error",
      ...given({
        reason: how === "done" ? undefined : how,
        metadata: Object.keys(cited).length === 0 ? undefined : cited,
      }),
    },
  ];
}

/** An answer that was spoken and not written down still shows. */
function audioAlone(completion: Completion, choice: Choice): readonly BlockEvent[] {
  if (!choice.hasAudio || choice.hasTranscript) return [];
  choice.hasAudio = false;
  return wholeBlock(completion.turn, "text", "[audio]", { label: "audio", ...choiceLabel(choice) });
}

function sourceOf(source: Json): Json {
  return typeof source === "string" ? { url: source } : source;
}

function closeChoice(
  state: ChatState,
  completion: Completion,
  choice: Choice,
  how: "done" | "interrupted",
): readonly BlockEvent[] {
  const events: BlockEvent[] = [...closeSaid(completion, choice, how)];
  if (how === "done") events.push(...audioAlone(completion, choice));
  for (const [i, call] of choice.calls.entries()) {
    const isCut = choice.finishReason === "length" && i === choice.calls.length - 1;
    events.push(...closeCall(state, completion, choice, call, isCut ? "cut" : how));
  }
  choice.calls.length = 0;
  choice.byIndex.clear();
  return events;
}

// ---------------------------------------------------------------------------------------------------------------------
// Calls

function growCall(
  completion: Completion,
  choice: Choice,
  native: JsonObject,
  inThisChunk: Set<ChatCall>,
): readonly BlockEvent[] {
  const body = isObject(native.function) ? native.function : objectOf(native.custom);
  const call = callOf(choice, native, body, inThisChunk);
  inThisChunk.add(call);
  call.id = call.id ?? wordsOf(native.id);
  call.name = call.name ?? wordsOf(body.name);
  call.isPlain = call.isPlain || isObject(native.custom);
  const text = inputText(body);
  call.input += text;
  const events: BlockEvent[] = [...closeSaid(completion, choice, "done")];
  if (call.key === undefined) {
    // Without a name there is nothing to show yet; its input waits for it.
    if (call.name !== undefined) events.push(...openCall(completion, choice, call));
  } else if (text !== "") {
    events.push({ type: "block-append", key: call.key, text });
  }
  return events;
}

function inputText(body: JsonObject): string {
  const said = body.arguments ?? body.input;
  return typeof said === "string" ? said : isObject(said) ? JSON.stringify(said) : "";
}

/** The call that a piece belongs to. */
function callOf(
  choice: Choice,
  native: JsonObject,
  body: JsonObject,
  inThisChunk: ReadonlySet<ChatCall>,
): ChatCall {
  const index = wholeOf(native.index);
  const known = index === undefined ? choice.calls.at(-1) : choice.byIndex.get(index);
  const same = known === undefined ? undefined : sameCall(choice, known, native, body, inThisChunk);
  if (same !== undefined) return same;
  const call: ChatCall = { key: undefined, id: undefined, name: undefined, isPlain: false, input: "" };
  choice.calls.push(call);
  if (index !== undefined) choice.byIndex.set(index, call);
  return call;
}

/** The call at this place, unless the piece belongs to another one or begins one. */
function sameCall(
  choice: Choice,
  known: ChatCall,
  native: JsonObject,
  body: JsonObject,
  inThisChunk: ReadonlySet<ChatCall>,
): ChatCall | undefined {
  const id = wordsOf(native.id);
  const hasIndex = wholeOf(native.index) !== undefined;
  if (id === undefined) {
    // With an index, a name may also be repeated with every piece, the last of which is empty.
    const isNew = beginsCall(known, body, inThisChunk) && (!hasIndex || inputText(body).trim() !== "");
    return isNew ? undefined : known;
  }
  if (known.id === id) return known;
  // Some servers number every call 0 and tell them apart by id alone; some make up an id for every piece.
  const byId = choice.calls.find((call) => call.id === id);
  if (byId !== undefined) return byId;
  const isNew = known.id === undefined ? !hasIndex : wordsOf(body.name) !== undefined;
  return isNew ? undefined : known;
}

/** Without an id, and with the index of another call or none, a name begins a call if the last one can take no more. */
function beginsCall(last: ChatCall, body: JsonObject, inThisChunk: ReadonlySet<ChatCall>): boolean {
  if (wordsOf(body.name) === undefined || last.name === undefined) return false;
  return inThisChunk.has(last) || parseJson(last.input, bounds.inputDepth) !== undefined;
}

function openCall(completion: Completion, choice: Choice, call: ChatCall): readonly BlockEvent[] {
  const key = nextKey(completion.turn);
  call.key = key;
  return [
    {
      type: "block-start",
      key,
      kind: "tool_call",
      role: "model",
      metadata: blockMetadata(completion.turn, {
        toolUseId: call.id ?? key,
        toolName: call.name ?? "function",
        ...choiceLabel(choice),
      }),
    },
    ...(call.input === "" ? [] : [{ type: "block-append", key, text: call.input } as const]),
  ];
}

function closeCall(
  state: ChatState,
  completion: Completion,
  choice: Choice,
  call: ChatCall,
  how: "done" | "interrupted" | "cut",
): readonly BlockEvent[] {
  const started = call.key === undefined ? openCall(completion, choice, call) : [];
  const key = call.key as BlockKey;
  if (how === "interrupted") return [...started, cutCall(key)];
  const isEmpty = call.input.trim() === "";
  const input = call.isPlain ? call.input : isEmpty ? {} : parseJson(call.input, bounds.inputDepth);
  if (input === undefined || how === "cut") {
    const error =
      input === undefined
        ? "The input of this call is incomplete JSON"
        : "The answer hit its length limit inside this call";
    const metadata = { error, success: false };
    return [...started, { type: "block-end", key, status: "error", reason: "truncated", metadata }];
  }
  const metadata = { stage: "running", input, ...given({ compactParams: compactParams(input) }) };
  return [
    ...started,
    ...(isEmpty && !call.isPlain ? [{ type: "block-append", key, text: "{}" } as const] : []),
    { type: "block-meta", key, metadata },
    ...(state.runsTools ? [] : [{ type: "block-meta", key, metadata: { waiting: "result" } } as const]),
  ];
}
