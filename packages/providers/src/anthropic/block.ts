/**
 * The blocks of a message of Anthropic's API: started, grown and stopped by their index, or whole. A call starts when it is known
 * that the message was not cut in it. Turns and the message itself are adapter.ts.
 */

import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { bounds } from "../limits.ts";
import { typeOf, unknownEvent } from "../unknown.ts";
import {
  appendContent,
  closeContent,
  endFirstPart,
  inputOf,
  type OpenContent,
  openContent,
  stringOf,
} from "./content.ts";
import { type Call, isServerResult, serverResult } from "./server-results.ts";
import {
  type AnthropicOptions,
  type AnthropicState,
  indexOf,
  lastIndex,
  type Message,
  placeFor,
  placeOf,
} from "./state.ts";
import { endTextPart, growTextPart, release, startTextPart } from "./text-part.ts";

export function startBlock(
  state: AnthropicState,
  message: Message,
  event: JsonObject,
): readonly BlockEvent[] {
  const block = isObject(event.content_block) ? event.content_block : {};
  const index = indexOf(event) ?? message.blocks;
  const before = message.open.get(index);
  // The same index again without a stop in between: the first one is over.
  const closed = [
    ...startLast(message),
    ...(before === undefined ? [] : closeBlock(state, message, index, before)),
    ...(message.part === undefined ? [] : endTextPart(message)),
  ];
  if (block.type === "text" && message.held !== undefined)
    return [...closed, ...startTextPart(message, index, block)];
  closed.push(...release(message));
  if (isServerResult(block)) return [...closed, ...result(state, message, block, index)];
  const started = openContent(placeOf(message, index), block);
  if (started === undefined) {
    message.strange.add(index);
    const unknown = unknownEvent(placeFor(message), event, `content_block/${typeOf(block)}`);
    return [...closed, ...unknown];
  }
  message.blocks++;
  noteModels(message, block, started.open);
  message.open.set(index, started.open);
  return [...closed, ...started.events];
}

export function growBlock(message: Message, event: JsonObject): readonly BlockEvent[] {
  const index = indexOf(event) ?? lastIndex(message);
  const delta = isObject(event.delta) ? event.delta : {};
  if (message.part?.index === index) {
    const grown = growTextPart(message, message.part, delta);
    if (grown !== undefined) return grown;
  }
  const opened = message.open.get(index) ?? openForDelta(message, index, delta);
  const open = opened !== undefined && "open" in opened ? opened.open : opened;
  const started = opened !== undefined && "open" in opened ? opened.events : [];
  const grown = open === undefined ? undefined : appendContent(open, delta);
  if (grown !== undefined) return [...started, ...grown];
  return [...started, ...unknownEvent(placeFor(message), event, `content_block_delta/${typeOf(delta)}`)];
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

export function stopBlock(state: AnthropicState, message: Message, event: JsonObject): readonly BlockEvent[] {
  const index = indexOf(event) ?? lastIndex(message);
  if (message.part?.index === index) return endTextPart(message);
  const open = message.open.get(index);
  return open === undefined ? [] : closeBlock(state, message, index, open);
}

export function closeBlock(
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

/** The input is complete, and nothing yet says that the call runs. */
function unstarted(event: BlockEvent): BlockEvent {
  if (event.type !== "block-meta") return event;
  const { stage: _, ...metadata } = event.metadata;
  return { ...event, metadata };
}

export function startLast(message: Message): readonly BlockEvent[] {
  const { last } = message;
  message.last = undefined;
  return last === undefined ? [] : [{ type: "block-meta", key: last.key, metadata: { stage: "running" } }];
}

/** The message was cut by a limit: its last block, if that was a call, was cut too. */
export function cutLast(state: AnthropicState, message: Message): readonly BlockEvent[] {
  const { last } = message;
  if (last === undefined || last.isRemote) return startLast(message);
  message.last = undefined;
  state.running.delete(last.key);
  const error = "The answer hit its length limit inside this call";
  const metadata = { error, success: false, input: null, compactParams: null };
  return [{ type: "block-end", key: last.key, status: "error", reason: "truncated", metadata }];
}

/** A block that came whole. */
export function wholeBlock(state: AnthropicState, message: Message, block: Json): readonly BlockEvent[] {
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
  noteModels(message, block, started.open);
  return [...before, ...started.events, ...closeBlock(state, message, index, started.open)];
}

/** Another model goes on with the message, or is asked for advice. */
function noteModels(message: Message, block: JsonObject, open: OpenContent): void {
  if (block.type === "fallback" && isObject(block.to))
    message.model = stringOf(block.to.model) ?? message.model;
  if (open.remote && open.toolName === "advisor") message.advice.push(open.place.key);
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
export function endCalls(
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
