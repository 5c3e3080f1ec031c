/**
 * OpenAI's Chat Completions: chunks, a whole completion as it comes without streaming, and what the many servers that
 * speak this format do with it.
 *
 * Text, thinking and each tool call of a choice (chat-call.ts) are blocks of their own, in the order in which they begin.
 * The turn ends with the end marker or the stream, because usage comes after the last word.
 */

import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { given, listOf, objectOf, textOf, wholeOf, wordsOf } from "../read.ts";
import { closeCall, growCall } from "./chat-call.ts";
import { contentText, errorOf, imagesOf, thinkingText, unknownParts, usageOf } from "./chat-content.ts";
import {
  type ChatCall,
  type ChatState,
  type Choice,
  type Completion,
  choiceLabel,
  type SaidName,
} from "./chat-state.ts";
import { citationsOf, endTurn, errorBlock, startBlock, startTurn, unknownIn, wholeBlock } from "./turn.ts";

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
  const inThisChunk = new Set<ChatCall>();
  const calls = [
    ...listOf(delta.tool_calls).map(objectOf),
    ...(isObject(delta.function_call) ? [{ index: 0, function: delta.function_call }] : []),
  ];
  if (calls.length > 0) events.push(...closeSaid(completion, choice, "done"));
  for (const call of calls) events.push(...growCall(completion, choice, call, inThisChunk));
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
