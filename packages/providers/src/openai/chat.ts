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
import {
  contentText,
  costOf,
  endingOf,
  errorOf,
  imagesOf,
  sealOf,
  sourcesOf,
  thinkingText,
  thoughtApart,
  unknownParts,
  usageOf,
} from "./chat-content.ts";
import { closeExecuted, takeExecuted } from "./chat-executed.ts";
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
  const sources = sourcesOf(event);
  if (sources.length > 0) completion.sources = sources;
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
  const costUsd = costOf(completion.turn.usage);
  if (!whole)
    return [...events, ...endTurn(completion.turn, { status: "error", reason: "interrupted", costUsd })];
  const ending = stopReason === undefined ? "whole" : endingOf(stopReason);
  const status = ending === "whole" || ending === "truncated" ? "done" : "error";
  const reason = ending === "whole" ? undefined : ending;
  return [...events, ...endTurn(completion.turn, { status, reason, stopReason, costUsd })];
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
  const isWhole = !isObject(native.delta) && isObject(native.message);
  const said = isObject(native.delta) ? native.delta : objectOf(native.message);
  const delta = thoughtApart(said, choice.open?.name === "thinking");
  // Some servers end their stream with the whole message.
  const repeats = isWhole ? new Set(choice.said) : undefined;
  const isNew = (name: SaidName | "call") => repeats?.has(name) !== true;
  if (isNew("text")) for (const annotation of listOf(delta.annotations)) choice.annotations.push(annotation);
  const events: BlockEvent[] = [];
  if (isNew("thinking")) events.push(...think(completion, choice, delta));
  if (isNew("text")) {
    events.push(...say(completion, choice, "text", contentText(delta.content ?? native.text)));
    events.push(...showParts(completion, choice, delta));
  }
  if (isNew("refusal")) events.push(...say(completion, choice, "refusal", textOf(delta.refusal) ?? ""));
  const transcript = textOf(objectOf(delta.audio).transcript) ?? "";
  if (isNew("audio")) events.push(...say(completion, choice, "audio", transcript));
  choice.hasAudio ||= wordsOf(objectOf(delta.audio).data) !== undefined;
  if (isNew("call")) events.push(...growCalls(completion, choice, delta));
  const finish = wordsOf(native.finish_reason);
  if (finish === undefined) return events;
  choice.finishReason = finish;
  completion.finishReason = completion.finishReason ?? finish;
  const ending = endingOf(finish);
  const how = ending === "whole" || ending === "truncated" ? "done" : "interrupted";
  return [...events, ...closeChoice(state, completion, choice, how)];
}

function showParts(completion: Completion, choice: Choice, delta: JsonObject): readonly BlockEvent[] {
  return [
    ...imagesOf(delta).flatMap((image) => [
      ...closeSaid(completion, choice, "done"),
      ...wholeBlock(completion.turn, "image", "", { ...image, ...choiceLabel(choice) }),
    ]),
    ...unknownParts(delta.content).flatMap(([part, type]) => [...unknownIn(completion.turn, part, type)]),
  ];
}

function growCalls(completion: Completion, choice: Choice, delta: JsonObject): readonly BlockEvent[] {
  const calls = [
    ...listOf(delta.tool_calls).map(objectOf),
    ...(isObject(delta.function_call) ? [{ index: 0, function: delta.function_call }] : []),
  ];
  const executed = listOf(delta.executed_tools).map(objectOf);
  if (calls.length + executed.length === 0) return [];
  choice.said.add("call");
  const inThisChunk = new Set<ChatCall>();
  return [
    ...closeSaid(completion, choice, "done"),
    ...calls.flatMap((call) => [...growCall(completion, choice, call, inThisChunk)]),
    ...executed.flatMap((tool) => [...takeExecuted(completion, choice, tool)]),
  ];
}

/** Reasoning, and what seals it. */
function think(completion: Completion, choice: Choice, delta: JsonObject): readonly BlockEvent[] {
  const events = say(completion, choice, "thinking", thinkingText(delta));
  const { signature, opaque } = sealOf(delta);
  if (signature === undefined && opaque === undefined) return events;
  if (choice.open?.name !== "thinking" && choice.said.has("thinking")) return events;
  const started =
    choice.open === undefined && opaque !== undefined ? openSaid(completion, choice, "thinking") : [];
  const before = choice.seal;
  choice.seal = given({
    signature: signature === undefined ? before.signature : (before.signature ?? "") + signature,
    opaque: opaque === undefined ? before.opaque : (before.opaque ?? "") + opaque,
  });
  return [...events, ...started];
}

/** Reasoning that nobody can read, and that was told behind the first words, is a block at the end. */
function sealedAlone(completion: Completion, choice: Choice): readonly BlockEvent[] {
  const { opaque } = choice.seal;
  choice.seal = {};
  if (opaque === undefined) return [];
  return wholeBlock(completion.turn, "thinking", "", { redacted: true, opaque, ...choiceLabel(choice) });
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
    said: new Set(),
    seal: {},
    executed: new Map(),
    hasAudio: false,
  };
  completion.choices.set(index, choice);
  return choice;
}

function say(completion: Completion, choice: Choice, name: SaidName, text: string): readonly BlockEvent[] {
  if (text === "") return [];
  const events = choice.open?.name === name ? [] : [...openSaid(completion, choice, name)];
  const open = choice.open as NonNullable<Choice["open"]>;
  open.chars += text.length;
  // Citations have places in the text.
  if (name === "text") open.text += text;
  events.push({ type: "block-append", key: open.key, text });
  return events;
}

function openSaid(completion: Completion, choice: Choice, name: SaidName): readonly BlockEvent[] {
  choice.said.add(name);
  const closed = closeSaid(completion, choice, "done");
  const own = {
    ...(name === "refusal" ? { notice: "refusal" } : {}),
    ...(name === "audio" ? { label: "audio" } : {}),
    ...choiceLabel(choice),
  };
  const start = startBlock(completion.turn, name === "thinking" ? "thinking" : "text", own);
  choice.open = { name, key: start.key, text: "", chars: 0 };
  return [...closed, start];
}

function closeSaid(
  completion: Completion,
  choice: Choice,
  how: "done" | "interrupted",
): readonly BlockEvent[] {
  const open = choice.open;
  if (open === undefined) return [];
  choice.open = undefined;
  const metadata = endOfSaid(completion, choice, open);
  return [
    {
      type: "block-end",
      key: open.key,
      status: how === "done" ? "done" : "error",
      ...given({
        reason: how === "done" ? undefined : how,
        metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
      }),
    },
  ];
}

function endOfSaid(completion: Completion, choice: Choice, open: NonNullable<Choice["open"]>): JsonObject {
  if (open.name === "thinking") {
    const seal = { ...choice.seal };
    choice.seal = {};
    return open.chars === 0 ? { redacted: true, ...seal } : seal;
  }
  if (open.name !== "text") return {};
  const annotations = [...choice.annotations, ...completion.sources.map(sourceOf)];
  choice.annotations = [];
  return citationsOf(annotations, open.text);
}

/** An answer that was spoken and not written down still shows. */
function audioAlone(completion: Completion, choice: Choice): readonly BlockEvent[] {
  if (!choice.hasAudio || choice.said.has("audio")) return [];
  choice.hasAudio = false;
  return wholeBlock(completion.turn, "text", "[audio]", { label: "audio", ...choiceLabel(choice) });
}

function sourceOf(source: Json): Json {
  if (typeof source === "string") return { url: source };
  return isObject(source) && source.url === undefined ? { ...source, url: source.link ?? "" } : source;
}

function closeChoice(
  state: ChatState,
  completion: Completion,
  choice: Choice,
  how: "done" | "interrupted",
): readonly BlockEvent[] {
  const events: BlockEvent[] = [...closeSaid(completion, choice, how)];
  if (how === "done") events.push(...sealedAlone(completion, choice), ...audioAlone(completion, choice));
  for (const [i, call] of choice.calls.entries()) {
    const isLast = i === choice.calls.length - 1;
    const isCut = isLast && endingOf(choice.finishReason ?? "") === "truncated";
    events.push(...closeCall(state, completion, choice, call, isCut ? "cut" : how));
  }
  events.push(...closeExecuted(choice, how));
  choice.calls.length = 0;
  choice.byIndex.clear();
  return events;
}
