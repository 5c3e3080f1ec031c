/**
 * Anthropic's Messages API: stream events, a whole message as it comes without streaming, and error bodies.
 *
 * One message is one turn. A tool call whose result does not come in the message waits for it, also past the end of the
 * stream: the API only asks for tools. With `runsTools` the caller runs them and ends the calls itself. The last call of a
 * message that was cut by a limit never starts, whole as its input may look.
 */

import { type BlockEvent, type Json, type JsonObject, jsonText, type Reason } from "@blockyard/kernel";
import type { Adapter } from "../adapter.ts";
import { isObject } from "../framing/json.ts";
import { given, listOf } from "../read.ts";
import { noiseBlock, unknownEvent } from "../unknown.ts";
import { adviceUsage, anthropicBill, mergeNative, servedBy } from "../usage.ts";
import {
  closeBlock,
  cutLast,
  endCalls,
  growBlock,
  startBlock,
  startLast,
  stopBlock,
  wholeBlock,
} from "./block.ts";
import { interruptContent, stringOf } from "./content.ts";
import {
  type AnthropicOptions,
  type AnthropicState,
  blockKey,
  type Message,
  PROVIDER,
  placeMetadata,
  placeOf,
  stray,
} from "./state.ts";
import { cutText, endTextPart, release } from "./text-part.ts";

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
      return inMessage(state, (message) => startBlock(state, message, event));
    case "content_block_delta":
      return inMessage(state, (message) => growBlock(message, event));
    case "content_block_stop":
      return state.message === undefined ? [] : stopBlock(state, state.message, event);
    case "message_delta":
      return messageDelta(state, event);
    case "message_stop":
      return state.message === undefined ? [] : endMessage(state, state.message, options);
    case "message":
      return wholeMessage(state, event, options);
    case "error":
      return failed(state, event, options);
    default:
      return SILENT.has(jsonText(event.type)) ? [] : unknownEvent(stray(state), event);
  }
}

interface Started {
  readonly message: Message;
  readonly events: readonly BlockEvent[];
}

function startMessage(state: AnthropicState, native: JsonObject, options: AnthropicOptions): Started {
  const id = stringOf(native.id);
  const open = state.message;
  // Repeated before any other event: still the same message, whose tokens count once.
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
    advice: [],
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

/** The message that events belong to; one is begun for events without it. */
function currentMessage(state: AnthropicState): Started {
  return state.message === undefined ? startMessage(state, {}, {}) : { message: state.message, events: [] };
}

/** An event's effect in its message. */
function inMessage(
  state: AnthropicState,
  run: (message: Message) => readonly BlockEvent[],
): readonly BlockEvent[] {
  const { message, events } = currentMessage(state);
  return [...events, ...run(message)];
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
  // A block whose stop was lost is complete anyway: the message is over.
  for (const [index, open] of message.open) events.push(...closeBlock(state, message, index, open));
  events.push(...endTextPart(message), ...release(message));
  events.push(...(truncation(message.stopReason) ? cutLast(state, message) : startLast(message)));
  events.push(...endCalls(state, options, "done"));
  events.push(...refusal(message));
  events.push(...endTurn(state, message, "done", truncation(message.stopReason)));
  return events;
}

/** Why the API stopped the model, if it says so in words. */
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
  const counted = native === undefined ? undefined : anthropicBill(native);
  // Until its last piece, its output is uncounted.
  const isCut = reason === "interrupted" && message.stopReason === undefined;
  const usage = counted && isCut ? { ...counted, output: 0, reasoning: 0 } : counted;
  const events: BlockEvent[] = [];
  message.model = servedBy(native) ?? message.model;
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
    events.push(
      ...adviceUsage(native).map(
        ({ usage, model }, i): BlockEvent => ({
          type: "message-usage",
          messageId: `${message.id}/advice-${i}`,
          turn: message.turn,
          ...given({ parent: message.advice[i] ?? message.advice.at(-1), model }),
          usage,
        }),
      ),
    );
  }
  events.push({
    type: "turn-end",
    turn: message.turn,
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(message.stopReason === undefined ? {} : { stopReason: message.stopReason }),
    ...(usage === undefined ? {} : { usage }),
    ...(isCut ? { uncounted: true } : {}),
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

/** An error ends the message: open blocks are incomplete. */
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
