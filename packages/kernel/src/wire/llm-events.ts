/**
 * `llm_*` events for simple clients: a conversation's turns as messages made of content blocks, told as they happen. And
 * the reducer that rebuilds the messages from them.
 *
 * Differences from what clients of this shape often get wrong: one `messageId` per turn's answer; `contentBlockIndex`
 * counts on inside it over all of the provider's messages and never restarts; `totalContentBlocks` is right; deltas are
 * pure increments, and where somebody has edited a block the whole new content is sent (`llm_content_block_replace`).
 * Every event carries `version`. Flat messages for clients from before are made by `legacy`.
 */

import type { Block, BlockId } from "../block.ts";
import type { Turn } from "../conversation.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Op } from "../op.ts";
import { splicesOf } from "../op.ts";
import { Text } from "../text/text.ts";

export const LLM_VERSION = 2;

export type ContentBlockType = "text" | "thinking" | "tool_use";

interface Head {
  readonly version: number;
  readonly messageId: string;
  readonly timestamp: string;
}

export type LlmEvent = Head &
  (
    | { readonly type: "llm_message_start"; readonly model?: string; readonly provider: string }
    | {
        readonly type: "llm_content_block_start";
        readonly contentBlockIndex: number;
        readonly contentBlockType: ContentBlockType;
        readonly toolName?: string;
        readonly toolId?: string;
      }
    | {
        readonly type: "llm_content_block_delta";
        readonly contentBlockIndex: number;
        readonly deltaType: "text_delta" | "thinking_delta" | "input_json_delta";
        readonly delta: string;
      }
    | {
        readonly type: "llm_content_block_replace";
        readonly contentBlockIndex: number;
        readonly content: string;
      }
    | { readonly type: "llm_content_block_stop"; readonly contentBlockIndex: number }
    | {
        readonly type: "llm_tool_execution_start";
        readonly toolName: string;
        readonly toolId: string;
        readonly toolInput: Json;
      }
    | {
        readonly type: "llm_tool_execution_complete";
        readonly toolName: string;
        readonly toolId: string;
        readonly success: boolean;
        readonly result?: string;
        readonly error?: string;
      }
    | { readonly type: "llm_error"; readonly error: string }
    | { readonly type: "llm_message_stop"; readonly stopReason: string; readonly totalContentBlocks: number }
  );

const TYPES: Readonly<Record<string, ContentBlockType>> = {
  text: "text",
  thinking: "thinking",
  tool_call: "tool_use",
};
const DELTAS = { text: "text_delta", thinking: "thinking_delta", tool_use: "input_json_delta" } as const;

interface Message {
  readonly id: string;
  blocks: number;
}

interface Known {
  readonly message: Message;
  readonly index: number;
  readonly type: ContentBlockType;
  readonly toolName: string;
  readonly toolId: string;
  text: Text;
  isStopped: boolean;
  hasRun: boolean;
}

/** Turns commits into events. One per client, fed in order. */
export class LlmEvents {
  readonly #messages = new Map<string, Message>();
  readonly #known = new Map<BlockId, Known>();
  /** Results of calls that are open: what `complete` will say. */
  readonly #results = new Map<BlockId, { readonly call: BlockId; text: Text }>();
  readonly #resultOf = new Map<BlockId, BlockId>();

  /** A turn as it stands, for a client that comes in the middle: its blocks so far, told at once. */
  catchUp(turn: Turn, blocks: readonly { readonly block: Block; readonly text: string }[]): LlmEvent[] {
    const events = this.turn(turn);
    for (const { block, text } of blocks) {
      events.push(...this.#started(block, text));
      events.push(...this.#followed(block));
    }
    return events;
  }

  /** What a commit says. `blocks` are the touched blocks as they are after it. */
  commit(ops: readonly Op[], blocks: readonly Block[]): LlmEvent[] {
    const after = new Map(blocks.map((block) => [block.id, block]));
    const events: LlmEvent[] = [];
    for (const op of ops) {
      if (op.body.type === "turn") {
        events.push(...this.turn(op.body.turn));
        continue;
      }
      const block = op.block === null ? undefined : after.get(op.block);
      if (!block) continue;
      if (op.body.type === "create") events.push(...this.#started(block, op.body.text));
      else events.push(...this.#wrote(block, op));
      const last = ops.findLast((other) => other.block === op.block) === op;
      if (last) events.push(...this.#followed(block));
    }
    return events;
  }

  turn(turn: Turn): LlmEvent[] {
    const at = new Date(turn.endedAt ?? turn.startedAt).toISOString();
    const known = this.#messages.get(turn.id);
    const events: LlmEvent[] = [];
    const message = known ?? { id: turn.id, blocks: 0 };
    if (!known) {
      this.#messages.set(turn.id, message);
      const head = headOf(message, new Date(turn.startedAt).toISOString());
      const model = turn.model === undefined ? {} : { model: turn.model };
      events.push({ ...head, type: "llm_message_start", provider: turn.provider, ...model });
    }
    if (turn.status === "running") return events;
    const head = headOf(message, at);
    if (turn.status === "error")
      events.push({ ...head, type: "llm_error", error: turn.error ?? turn.reason ?? "failed" });
    const stopReason = turn.stopReason ?? turn.reason ?? (turn.status === "done" ? "end_turn" : "error");
    events.push({ ...head, type: "llm_message_stop", stopReason, totalContentBlocks: message.blocks });
    this.#forget(message);
    return events;
  }

  #forget(message: Message): void {
    this.#messages.delete(message.id);
    for (const [id, known] of this.#known) {
      if (known.message !== message) continue;
      this.#known.delete(id);
      const result = this.#resultOf.get(id);
      if (result !== undefined) this.#results.delete(result);
      this.#resultOf.delete(id);
    }
  }

  #started(block: Block, text: string): LlmEvent[] {
    if (block.side) return this.#resultStarted(block, text);
    const message = this.#messages.get(String(block.metadata["turn"] ?? ""));
    const type = TYPES[block.kind];
    if (!message || !type || block.role !== "model" || this.#known.has(block.id)) return [];
    const toolName = String(block.metadata["toolName"] ?? "");
    const toolId = String(block.metadata["toolUseId"] ?? "");
    const index = message.blocks++;
    const known: Known = {
      message,
      index,
      type,
      toolName,
      toolId,
      text: Text.of(text),
      isStopped: false,
      hasRun: false,
    };
    this.#known.set(block.id, known);
    const head = headOf(message, new Date(block.createdAt).toISOString());
    const tool = type === "tool_use" ? { toolName, toolId } : {};
    const start: LlmEvent = {
      ...head,
      type: "llm_content_block_start",
      contentBlockIndex: index,
      contentBlockType: type,
      ...tool,
    };
    return text === "" ? [start] : [start, delta(known, head, text)];
  }

  #resultStarted(block: Block, text: string): LlmEvent[] {
    const call = block.parent === null ? undefined : this.#known.get(block.parent);
    if (call && block.parent !== null && !this.#resultOf.has(block.parent)) {
      this.#results.set(block.id, { call: block.parent, text: Text.of(text) });
      this.#resultOf.set(block.parent, block.id);
    }
    return [];
  }

  #wrote(block: Block, op: Op): LlmEvent[] {
    const splices = splicesOf(op);
    if (splices.length === 0) return [];
    const result = this.#results.get(block.id);
    if (result) {
      result.text = result.text.apply(splices);
      return [];
    }
    const known = this.#known.get(block.id);
    if (!known) return [];
    const before = known.text.length;
    known.text = known.text.apply(splices);
    const head = headOf(known.message, new Date(op.at).toISOString());
    const [only] = splices;
    if (splices.length === 1 && only?.at === before && only.del === "" && !known.isStopped)
      return [delta(known, head, only.ins)];
    const content = known.text.toString();
    return [{ ...head, type: "llm_content_block_replace", contentBlockIndex: known.index, content }];
  }

  /** What a block's status and stage say, once each. */
  #followed(block: Block): LlmEvent[] {
    const known = this.#known.get(block.id);
    if (!known) return [];
    const head = headOf(known.message, new Date(block.updatedAt).toISOString());
    const { toolName, toolId, index } = known;
    const events: LlmEvent[] = [];
    const stage = block.metadata["stage"];
    const hasEnded = block.status === "done" || block.status === "error";
    const inputIsWhole = known.type === "tool_use" && (stage === "running" || hasEnded);
    if (!known.isStopped && (hasEnded || inputIsWhole)) {
      known.isStopped = true;
      events.push({ ...head, type: "llm_content_block_stop", contentBlockIndex: index });
    }
    if (inputIsWhole && !known.hasRun) {
      known.hasRun = true;
      const toolInput = block.metadata["input"] ?? null;
      events.push({ ...head, type: "llm_tool_execution_start", toolName, toolId, toolInput });
    }
    if (known.type !== "tool_use" || !hasEnded) return events;
    const success = block.metadata["success"] === true;
    const result = this.#results.get(this.#resultOf.get(block.id) ?? "")?.text.toString();
    const error = success
      ? {}
      : { error: String(block.metadata["error"] ?? block.metadata["reason"] ?? "failed") };
    const said = result === undefined ? {} : { result };
    events.push({
      ...head,
      type: "llm_tool_execution_complete",
      toolName,
      toolId,
      success,
      ...said,
      ...error,
    });
    return events;
  }
}

function headOf(message: Message, timestamp: string): Head {
  return { version: LLM_VERSION, messageId: message.id, timestamp };
}

function delta(known: Known, head: Head, text: string): LlmEvent {
  const { index, type } = known;
  return {
    ...head,
    type: "llm_content_block_delta",
    contentBlockIndex: index,
    deltaType: DELTAS[type],
    delta: text,
  };
}

// ---------------------------------------------------------------------------------------------------------------------
// The client's side

export interface LlmMessage {
  readonly messageId: string;
  readonly model?: string;
  readonly contentBlocks: readonly {
    readonly index: number;
    readonly type: ContentBlockType;
    readonly content: string;
    readonly toolName?: string;
    readonly toolId?: string;
    readonly isComplete: boolean;
  }[];
  readonly toolExecutions: readonly {
    readonly toolId: string;
    readonly toolName: string;
    readonly status: "executing" | "success" | "error";
    readonly input: Json;
    readonly result?: string;
    readonly error?: string;
  }[];
  readonly isComplete: boolean;
  readonly stopReason?: string;
  readonly error?: string;
}

/** The messages after one more event. */
export function reduceLlm(messages: readonly LlmMessage[], event: LlmEvent): readonly LlmMessage[] {
  if (event.type === "llm_message_start") {
    const model = event.model === undefined ? {} : { model: event.model };
    const { messageId } = event;
    return [...messages, { messageId, contentBlocks: [], toolExecutions: [], isComplete: false, ...model }];
  }
  return messages.map((message) =>
    message.messageId === event.messageId ? reduceOne(message, event) : message,
  );
}

function reduceOne(message: LlmMessage, event: LlmEvent): LlmMessage {
  const change = (
    index: number,
    to: (block: LlmMessage["contentBlocks"][number]) => LlmMessage["contentBlocks"][number],
  ) => ({
    ...message,
    contentBlocks: message.contentBlocks.map((block) => (block.index === index ? to(block) : block)),
  });
  switch (event.type) {
    case "llm_content_block_start": {
      const { contentBlockIndex: index, contentBlockType: type, toolName, toolId } = event;
      const tool = toolName === undefined || toolId === undefined ? {} : { toolName, toolId };
      return {
        ...message,
        contentBlocks: [...message.contentBlocks, { index, type, content: "", isComplete: false, ...tool }],
      };
    }
    case "llm_content_block_delta":
      return change(event.contentBlockIndex, (block) => ({ ...block, content: block.content + event.delta }));
    case "llm_content_block_replace":
      return change(event.contentBlockIndex, (block) => ({ ...block, content: event.content }));
    case "llm_content_block_stop":
      return change(event.contentBlockIndex, (block) => ({ ...block, isComplete: true }));
    case "llm_tool_execution_start": {
      const { toolId, toolName, toolInput: input } = event;
      return {
        ...message,
        toolExecutions: [...message.toolExecutions, { toolId, toolName, status: "executing", input }],
      };
    }
    case "llm_tool_execution_complete":
      return {
        ...message,
        toolExecutions: message.toolExecutions.map((call) =>
          call.toolId === event.toolId ? completed(call, event) : call,
        ),
      };
    case "llm_error":
      return { ...message, error: event.error };
    case "llm_message_stop":
      return { ...message, isComplete: true, stopReason: event.stopReason };
    case "llm_message_start":
      return message;
  }
}

function completed(
  call: LlmMessage["toolExecutions"][number],
  event: LlmEvent & { type: "llm_tool_execution_complete" },
): LlmMessage["toolExecutions"][number] {
  const result = event.result === undefined ? {} : { result: event.result };
  const error = event.error === undefined ? {} : { error: event.error };
  return { ...call, status: event.success ? "success" : "error", ...result, ...error };
}

/** Flat messages for clients from before the content blocks. Undefined: nothing for them. */
export function legacy(event: LlmEvent): JsonObject | undefined {
  const { messageId } = event;
  switch (event.type) {
    case "llm_content_block_delta":
      if (event.deltaType !== "text_delta") return undefined;
      return { type: "llm_assistant_response", text: event.delta, done: false, messageId };
    case "llm_message_stop":
      return { type: "llm_assistant_response", text: "", done: true, messageId };
    case "llm_tool_execution_start":
      return {
        type: "llm_tool_use",
        name: event.toolName,
        id: event.toolId,
        input: event.toolInput,
        messageId,
      };
    case "llm_tool_execution_complete": {
      const said = event.success ? { result: event.result ?? "" } : { error: event.error ?? "failed" };
      return {
        type: "llm_tool_result",
        id: event.toolId,
        name: event.toolName,
        success: event.success,
        messageId,
        ...said,
      };
    }
    case "llm_error":
      return { type: "llm_error", error: event.error, messageId };
    default:
      return undefined;
  }
}
