/**
 * Anthropic's Messages API: stream events, a whole message as it comes without streaming, and error bodies.
 *
 * One message is one turn. A tool call whose result does not come in the message waits for it, also past the end of the
 * stream: the API only asks for tools. With `runsTools` the caller runs them and ends the calls itself. The last call of a
 * message that was cut by a limit never starts, whole as its input may look.
 */

import type { BlockEvent, Json, JsonObject, Reason } from "@blockyard/kernel";
import type { Adapter } from "../adapter.ts";
import { bounds } from "../bounds.ts";
import { isObject } from "../framing/json.ts";
import { listOf, wholeOf } from "../read.ts";
import { noiseBlock, typeOf, unknownEvent } from "../unknown.ts";
import { anthropicUsage, mergeNative } from "../usage.ts";
import {
  appendContent,
  type ContentPlace,
  closeContent,
  endFirstPart,
  inputOf,
  interruptContent,
  type OpenContent,
  openContent,
  stringOf,
} from "./content.ts";
import { type Call, isServerResult, serverResult } from "./server-results.ts";
import {
  cutText,
  endTextPart,
  growTextPart,
  type PartedMessage,
  release,
  startTextPart,
} from "./text-part.ts";

export interface AnthropicOptions {
  /** The caller runs the tools that the model calls, and ends those calls. */
  readonly runsTools?: boolean;
}

interface Message extends PartedMessage {
  readonly turn: string;
  readonly id: string;
  readonly model: string | undefined;
  /** Blocks between start and stop, by the API's index. */
  readonly open: Map<number, OpenContent>;
  /** Indexes of blocks whose type nobody knows: their deltas belong to no block of ours. */
  readonly strange: Set<number>;
  /** The call that stopped last: it starts when it is known that the message was not cut in it. */
  last: { readonly key: string; readonly isRemote: boolean } | undefined;
  native: JsonObject | undefined;
  stopReason: string | undefined;
  stopDetails: Json | undefined;
}

export interface AnthropicState {
  readonly run: string;
  messages: number;
  strays: number;
  message: Message | undefined;
  /** Calls whose input is whole and that have not ended, by their block: an id may come twice. */
  readonly running: Map<string, Call>;
}

const PROVIDER = "anthropic";
/** Event types that carry nothing. */
const SILENT = new Set(["ping", "keep_alive"]);

export function anthropicWith(options: AnthropicOptions): Adapter<AnthropicState> {
  return {
    provider: PROVIDER,
    start: (run) => ({ run, messages: 0, strays: 0, message: undefined, running: new Map() }),
    step: (state, event) => [state, step(state, event, options)],
    noise: (state, line) => [state, noiseBlock(stray(state), line)],
    end: (state) => (state.message === undefined ? [] : cutMessage(state, options)),
  };
}

export const anthropicAdapter: Adapter<AnthropicState> = anthropicWith({});

function step(state: AnthropicState, event: Json, options: AnthropicOptions): readonly BlockEvent[] {
  if (!isObject(event)) return event === "[DONE]" ? [] : unknownEvent(stray(state), event);
  switch (event.type) {
    case "message_start":
      return startMessage(state, isObject(event.message) ? event.message : {}, options).events;
    case "content_block_start":
      return startBlock(state, event);
    case "content_block_delta":
      return growBlock(state, event);
    case "content_block_stop":
      return stopBlock(state, event);
    case "message_delta":
      return messageDelta(state, event);
    case "message_stop":
      return state.message === undefined ? [] : endMessage(state, state.message, options);
    case "message":
      return wholeMessage(state, event, options);
    case "error":
      return failed(state, event, options);
    default:
      return SILENT.has(String(event.type)) ? [] : unknownEvent(stray(state), event);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Messages

interface Started {
  readonly message: Message;
  readonly events: readonly BlockEvent[];
}

function startMessage(state: AnthropicState, native: JsonObject, options: AnthropicOptions): Started {
  const id = stringOf(native.id);
  const open = state.message;
  // Said again before anything else was: still the same message, whose tokens count once.
  if (open !== undefined && open.blocks === 0 && id !== undefined && open.id === id) {
    if (isObject(native.usage)) open.native = mergeNative(open.native, native.usage);
    return { message: open, events: wholeBlocks(state, open, native.content) };
  }
  const before = open === undefined ? [] : cutMessage(state, options);
  const model = stringOf(native.model);
  const turn = `${state.run}/${state.messages++}`;
  const message: Message = {
    turn,
    id: id ?? turn,
    model,
    open: new Map(),
    strange: new Set(),
    held: undefined,
    part: undefined,
    blocks: 0,
    placeOf: (index) => placeOf(message, index),
    last: undefined,
    native: isObject(native.usage) ? native.usage : undefined,
    stopReason: undefined,
    stopDetails: undefined,
  };
  state.message = message;
  const start: BlockEvent = {
    type: "turn-start",
    turn,
    provider: PROVIDER,
    ...(model === undefined ? {} : { model }),
  };
  return { message, events: [...before, start, ...wholeBlocks(state, message, native.content)] };
}

function wholeBlocks(
  state: AnthropicState,
  message: Message,
  content: Json | undefined,
): readonly BlockEvent[] {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
  return blocks.flatMap((block) => [...wholeBlock(state, message, block)]);
}

/** The message that events belong to; one is begun for events that come without it. */
function currentMessage(state: AnthropicState): Started {
  return state.message === undefined ? startMessage(state, {}, {}) : { message: state.message, events: [] };
}

function messageDelta(state: AnthropicState, event: JsonObject): readonly BlockEvent[] {
  const message = state.message;
  if (message === undefined) return [];
  const delta = isObject(event.delta) ? event.delta : {};
  message.stopReason = stringOf(delta.stop_reason) ?? message.stopReason;
  message.stopDetails = delta.stop_details ?? message.stopDetails;
  if (isObject(event.usage)) message.native = mergeNative(message.native, event.usage);
  return message.open.size === 0 && message.part === undefined ? release(message) : [];
}

function endMessage(
  state: AnthropicState,
  message: Message,
  options: AnthropicOptions,
): readonly BlockEvent[] {
  const events: BlockEvent[] = [];
  // A block whose stop was lost is whole all the same: the message says that it is over.
  for (const [index, open] of message.open) events.push(...close(state, message, index, open));
  events.push(...endTextPart(message), ...release(message));
  events.push(...(truncation(message.stopReason) ? cutLast(state, message) : startLast(message)));
  events.push(...endCalls(state, options, "done"));
  events.push(...refusal(message));
  events.push(...endTurn(state, message, "done", truncation(message.stopReason)));
  return events;
}

/** Why the API stopped the model, where it says so in words. */
function refusal(message: Message): readonly BlockEvent[] {
  const details = message.stopDetails;
  const text = isObject(details) ? stringOf(details.explanation) : undefined;
  if (message.stopReason !== "refusal" || text === undefined || text === "") return [];
  const key = blockKey(message);
  message.blocks++;
  const metadata = { ...placeMetadata(message), notice: "refusal" };
  return [
    { type: "block-start", key, kind: "text", role: "system", metadata, text },
    { type: "block-end", key, status: "done" },
  ];
}

/** The stream has ended, or another message has begun, in the middle of this one. */
function cutMessage(state: AnthropicState, options: AnthropicOptions): readonly BlockEvent[] {
  const message = state.message;
  if (message === undefined) return [];
  const events = [...cutText(message), ...cutOpen(message)];
  message.last = undefined;
  events.push(...endCalls(state, options, "interrupted"));
  events.push(...endTurn(state, message, "error", "interrupted"));
  return events;
}

function cutOpen(message: Message): readonly BlockEvent[] {
  const events = [...message.open.values()].flatMap((open) => [...interruptContent(open)]);
  message.open.clear();
  return events;
}

function endTurn(
  state: AnthropicState,
  message: Message,
  status: "done" | "error",
  reason: Reason | undefined,
  error?: string,
): readonly BlockEvent[] {
  state.message = undefined;
  const native = message.native;
  const usage = native === undefined ? undefined : anthropicUsage(native);
  const events: BlockEvent[] = [];
  const model = message.model === undefined ? {} : { model: message.model };
  if (usage !== undefined && native !== undefined) {
    events.push({
      type: "message-usage",
      messageId: message.id,
      turn: message.turn,
      ...model,
      usage,
      native,
    });
  }
  events.push({
    type: "turn-end",
    turn: message.turn,
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(message.stopReason === undefined ? {} : { stopReason: message.stopReason }),
    ...(usage === undefined ? {} : { usage }),
    ...(message.model === undefined ? {} : { models: [message.model] }),
    ...nativeField(message),
    ...(error === undefined ? {} : { error }),
  });
  return events;
}

function nativeField(message: Message): { readonly native?: JsonObject } {
  const native = {
    ...(message.native === undefined ? {} : { usage: message.native }),
    ...(isObject(message.stopDetails) ? { stop_details: message.stopDetails } : {}),
  };
  return Object.keys(native).length === 0 ? {} : { native };
}

function truncation(stopReason: string | undefined): Reason | undefined {
  return stopReason === "max_tokens" || stopReason === "model_context_window_exceeded"
    ? "truncated"
    : undefined;
}

function wholeMessage(
  state: AnthropicState,
  native: JsonObject,
  options: AnthropicOptions,
): readonly BlockEvent[] {
  const { message, events } = startMessage(state, native, options);
  message.stopReason = stringOf(native.stop_reason);
  message.stopDetails = native.stop_details;
  return [...events, ...endMessage(state, message, options)];
}

/** An error ends the message: what was open was not said to its end. */
function failed(state: AnthropicState, event: JsonObject, options: AnthropicOptions): readonly BlockEvent[] {
  const { message, events } = currentMessage(state);
  const error = isObject(event.error) ? event.error : event;
  const text = stringOf(error.message) ?? JSON.stringify(event);
  const code = stringOf(error.type);
  const key = blockKey(message);
  const cut = [...cutText(message), ...cutOpen(message)];
  const block: BlockEvent[] = [
    {
      type: "block-start",
      key,
      kind: "error",
      role: "system",
      metadata: {
        ...placeMetadata(message),
        ...(code === undefined ? {} : { code, retryable: RETRYABLE.has(code) }),
        details: event,
      },
      text,
    },
    { type: "block-end", key, status: "error", reason: "failed" },
  ];
  const calls = endCalls(state, options, "interrupted");
  return [...events, ...cut, ...calls, ...block, ...endTurn(state, message, "error", "failed", text)];
}

const RETRYABLE = new Set(["overloaded_error", "rate_limit_error", "api_error", "timeout_error"]);

// ---------------------------------------------------------------------------------------------------------------------
// Blocks

function startBlock(state: AnthropicState, event: JsonObject): readonly BlockEvent[] {
  const { message, events } = currentMessage(state);
  const block = isObject(event.content_block) ? event.content_block : {};
  const index = indexOf(event) ?? message.blocks;
  const before = message.open.get(index);
  // The same index again without a stop in between: the first one is over.
  const closed = [
    ...startLast(message),
    ...(before === undefined ? [] : close(state, message, index, before)),
    ...(message.part === undefined ? [] : endTextPart(message)),
  ];
  if (block.type === "text" && message.held !== undefined)
    return [...events, ...closed, ...startTextPart(message, index, block)];
  closed.push(...release(message));
  if (isServerResult(block)) return [...events, ...closed, ...result(state, message, block, index)];
  const started = openContent(placeOf(message, index), block);
  if (started === undefined) {
    message.strange.add(index);
    const unknown = unknownEvent(placeFor(message), event, `content_block/${typeOf(block)}`);
    return [...events, ...closed, ...unknown];
  }
  message.blocks++;
  message.open.set(index, started.open);
  return [...events, ...closed, ...started.events];
}

function growBlock(state: AnthropicState, event: JsonObject): readonly BlockEvent[] {
  const { message, events } = currentMessage(state);
  const index = indexOf(event) ?? lastIndex(message);
  const delta = isObject(event.delta) ? event.delta : {};
  if (message.part?.index === index) {
    const grown = growTextPart(message, message.part, delta);
    if (grown !== undefined) return [...events, ...grown];
  }
  const opened = message.open.get(index) ?? openForDelta(message, index, delta);
  const open = opened !== undefined && "open" in opened ? opened.open : opened;
  const started = opened !== undefined && "open" in opened ? opened.events : [];
  const grown = open === undefined ? undefined : appendContent(open, delta);
  if (grown !== undefined) return [...events, ...started, ...grown];
  return [
    ...events,
    ...started,
    ...unknownEvent(placeFor(message), event, `content_block_delta/${typeOf(delta)}`),
  ];
}

/** A delta whose start was lost: its type says what it belongs to. */
function openForDelta(message: Message, index: number, delta: JsonObject): ReturnType<typeof openContent> {
  const type = LOST.get(stringOf(delta.type) ?? "");
  if (type === undefined || (type === "tool_use" && message.strange.has(index))) return undefined;
  const started = openContent(placeOf(message, index), { type });
  if (started === undefined) return undefined;
  message.blocks++;
  message.open.set(index, started.open);
  return started;
}

const LOST: ReadonlyMap<string, string> = new Map([
  ["text_delta", "text"],
  ["thinking_delta", "thinking"],
  ["input_json_delta", "tool_use"],
]);

function stopBlock(state: AnthropicState, event: JsonObject): readonly BlockEvent[] {
  const message = state.message;
  if (message === undefined) return [];
  const index = indexOf(event) ?? lastIndex(message);
  if (message.part?.index === index) return endTextPart(message);
  const open = message.open.get(index);
  return open === undefined ? [] : close(state, message, index, open);
}

function close(
  state: AnthropicState,
  message: Message,
  index: number,
  open: OpenContent,
): readonly BlockEvent[] {
  message.open.delete(index);
  if (open.type === "text") {
    endFirstPart(open);
    const before = release(message);
    message.held = open;
    return before;
  }
  const before = startLast(message);
  const input = open.kind === "tool_call" ? inputOf(open) : undefined;
  if (input === undefined) return [...before, ...closeContent(open)];
  const { key } = open.place;
  if (state.running.size < bounds.openCalls) state.running.set(key, { ...callOf(open), input });
  message.last = { key, isRemote: open.remote };
  return [...before, ...closeContent(open).map(unstarted)];
}

/** The input is whole, and nothing yet says that the call runs. */
function unstarted(event: BlockEvent): BlockEvent {
  if (event.type !== "block-meta") return event;
  const { stage: _, ...metadata } = event.metadata;
  return { ...event, metadata };
}

function startLast(message: Message): readonly BlockEvent[] {
  const { last } = message;
  message.last = undefined;
  return last === undefined ? [] : [{ type: "block-meta", key: last.key, metadata: { stage: "running" } }];
}

/** The message was cut by a limit: its last block, if that was a call, was cut too. */
function cutLast(state: AnthropicState, message: Message): readonly BlockEvent[] {
  const { last } = message;
  if (last === undefined || last.isRemote) return startLast(message);
  message.last = undefined;
  state.running.delete(last.key);
  const error = "The answer hit its length limit inside this call";
  const metadata = { error, success: false, input: null, compactParams: null };
  return [{ type: "block-end", key: last.key, status: "error", reason: "truncated", metadata }];
}

/** A block that came whole. */
function wholeBlock(state: AnthropicState, message: Message, block: Json): readonly BlockEvent[] {
  const index = message.blocks;
  if (isObject(block) && block.type === "text" && message.held !== undefined)
    return [...startTextPart(message, index, block), ...endTextPart(message)];
  const before = [...startLast(message), ...release(message)];
  if (!isObject(block)) return [...before, ...unknownEvent(placeFor(message), block, "content_block")];
  if (isServerResult(block)) return [...before, ...result(state, message, block, index)];
  const started = openContent(placeOf(message, index), block);
  if (started === undefined)
    return [...before, ...unknownEvent(placeFor(message), block, `content_block/${typeOf(block)}`)];
  message.blocks++;
  return [...before, ...started.events, ...close(state, message, index, started.open)];
}

function result(
  state: AnthropicState,
  message: Message,
  block: JsonObject,
  index: number,
): readonly BlockEvent[] {
  const id = stringOf(block.tool_use_id) ?? "";
  const call = [...state.running.values()].findLast((each) => each.toolUseId === id);
  if (call !== undefined) state.running.delete(call.key);
  const place = placeOf(message, index);
  message.blocks++;
  return serverResult(place, block, call, call !== undefined);
}

/** The message is over: calls that nobody here runs wait for their results. */
function endCalls(
  state: AnthropicState,
  options: AnthropicOptions,
  how: "done" | "interrupted",
): readonly BlockEvent[] {
  const events: BlockEvent[] = [];
  for (const call of state.running.values()) {
    if (options.runsTools === true) continue;
    events.push(
      how === "done"
        ? { type: "block-meta", key: call.key, metadata: { waiting: "result" } }
        : {
            type: "block-end",
            key: call.key,
            status: "error",
            reason: "interrupted",
            metadata: { success: false },
          },
    );
  }
  state.running.clear();
  return events;
}

function callOf(open: OpenContent): Call {
  return { key: open.place.key, toolUseId: open.toolUseId, toolName: open.toolName };
}

// ---------------------------------------------------------------------------------------------------------------------
// Places

function indexOf(event: JsonObject): number | undefined {
  const index = wholeOf(event.index);
  return index === undefined || index < 0 ? undefined : index;
}

/** What comes without an index belongs to the block that was opened last. */
function lastIndex(message: Message): number {
  return [...message.open.keys()].at(-1) ?? message.blocks;
}

function placeOf(message: Message, index: number): ContentPlace {
  return { key: blockKey(message), metadata: { ...placeMetadata(message), index } };
}

function placeMetadata(message: Message): JsonObject {
  return {
    provider: PROVIDER,
    messageId: message.id,
    turn: message.turn,
    ...(message.model === undefined ? {} : { model: message.model }),
  };
}

function blockKey(message: Message): string {
  return `${message.turn}/${message.blocks}`;
}

function placeFor(message: Message): { readonly key: string; readonly provider: string } {
  const key = blockKey(message);
  message.blocks++;
  return { key, provider: PROVIDER };
}

function stray(state: AnthropicState): { readonly key: string; readonly provider: string } {
  return { key: `${state.run}/x${state.strays++}`, provider: PROVIDER };
}
