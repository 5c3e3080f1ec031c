/**
 * The client's side of `llm_*` events: adds them up to messages, and provides flat messages for older clients.
 *
 * Idempotent: a start of a known block replaces it, so a client that resumes and receives something again has it once.
 */

import type { Json, JsonObject } from "../model/json.ts";
import type { ContentBlockType, LlmEvent } from "./llm-event.ts";

interface LlmContentBlock {
  readonly index: number;
  readonly type: ContentBlockType;
  readonly content: string;
  readonly toolName?: string;
  readonly toolId?: string;
  readonly isComplete: boolean;
}

interface LlmToolExecution {
  readonly toolId: string;
  readonly toolName: string;
  /** `waiting`: the owner is asked whether it may run. */
  readonly status: "waiting" | "executing" | "success" | "error";
  readonly input: Json;
  /** While it runs: its output so far. */
  readonly result?: string;
  readonly error?: string;
}

export interface LlmMessage {
  readonly messageId: string;
  readonly model?: string;
  readonly contentBlocks: readonly LlmContentBlock[];
  readonly toolExecutions: readonly LlmToolExecution[];
  readonly isComplete: boolean;
  readonly stopReason?: string;
  readonly error?: string;
}

/** The messages after one more event. */
export function reduceLlm(messages: readonly LlmMessage[], event: LlmEvent): readonly LlmMessage[] {
  const { messageId } = event;
  if (event.type !== "llm_message_start")
    return messages.map((message) => (message.messageId === messageId ? reduceOne(message, event) : message));
  const model = event.model === undefined ? {} : { model: event.model };
  const started = { messageId, contentBlocks: [], toolExecutions: [], isComplete: false, ...model };
  const isKnown = messages.some((message) => message.messageId === messageId);
  if (!isKnown) return [...messages, started];
  return messages.map((message) => (message.messageId === messageId ? started : message));
}

function reduceOne(message: LlmMessage, event: LlmEvent): LlmMessage {
  const change = (index: number, to: (block: LlmContentBlock) => LlmContentBlock) => ({
    ...message,
    contentBlocks: message.contentBlocks.map((block) => (block.index === index ? to(block) : block)),
  });
  switch (event.type) {
    case "llm_message_update":
      return { ...message, model: event.model };
    case "llm_content_block_start": {
      const { contentBlockIndex: index, contentBlockType: type, toolName, toolId } = event;
      const tool = toolName === undefined || toolId === undefined ? {} : { toolName, toolId };
      const others = message.contentBlocks.filter((block) => block.index !== index);
      const contentBlocks = [...others, { index, type, content: "", isComplete: false, ...tool }];
      return { ...message, contentBlocks: contentBlocks.sort((a, b) => a.index - b.index) };
    }
    case "llm_content_block_delta":
      return change(event.contentBlockIndex, (block) => ({ ...block, content: block.content + event.delta }));
    case "llm_content_block_replace":
      return change(event.contentBlockIndex, (block) => ({ ...block, content: event.content }));
    case "llm_content_block_stop":
      return change(event.contentBlockIndex, (block) => ({ ...block, isComplete: true }));
    case "llm_error":
      return { ...message, error: event.error };
    case "llm_message_stop":
      return { ...message, isComplete: true, stopReason: event.stopReason };
    case "llm_message_start":
      return message;
    default:
      return withExecution(message, event);
  }
}

type ToolEvent = LlmEvent & { readonly type: `llm_tool_execution_${string}` };

function withExecution(message: LlmMessage, event: ToolEvent): LlmMessage {
  const { toolId, toolName } = event;
  const known = message.toolExecutions.find((each) => each.toolId === toolId);
  const next = reduceExecution(known ?? { toolId, toolName, status: "executing", input: null }, event);
  const toolExecutions = known
    ? message.toolExecutions.map((each) => (each === known ? next : each))
    : [...message.toolExecutions, next];
  return { ...message, toolExecutions };
}

function reduceExecution(call: LlmToolExecution, event: ToolEvent): LlmToolExecution {
  const { toolId, toolName } = call;
  switch (event.type) {
    case "llm_tool_execution_waiting":
      return { toolId, toolName, status: "waiting", input: event.toolInput };
    case "llm_tool_execution_start":
      return { toolId, toolName, status: "executing", input: event.toolInput };
    case "llm_tool_execution_progress":
      return { ...call, result: "delta" in event ? (call.result ?? "") + event.delta : event.result };
    case "llm_tool_execution_complete": {
      const { result: _result, error: _error, ...rest } = call;
      const result = event.result === undefined ? {} : { result: event.result };
      const error = event.error === undefined ? {} : { error: event.error };
      return { ...rest, status: event.success ? "success" : "error", ...result, ...error };
    }
  }
}

/** Flat messages for clients from before the content blocks. Undefined: nothing for them. */
export function legacy(event: LlmEvent): JsonObject | undefined {
  const { messageId } = event;
  const where = event.cursor === undefined ? { messageId } : { messageId, cursor: event.cursor };
  switch (event.type) {
    case "llm_content_block_delta":
      if (event.deltaType !== "text_delta") return undefined;
      return { type: "llm_assistant_response", text: event.delta, done: false, ...where };
    case "llm_message_stop":
      return { type: "llm_assistant_response", text: "", done: true, ...where };
    case "llm_tool_execution_start":
      return {
        type: "llm_tool_use",
        name: event.toolName,
        id: event.toolId,
        input: event.toolInput,
        ...where,
      };
    case "llm_tool_execution_complete": {
      const said = event.success ? { result: event.result ?? "" } : { error: event.error ?? "failed" };
      const { toolId: id, toolName: name, success } = event;
      return { type: "llm_tool_result", id, name, success, ...where, ...said };
    }
    case "llm_error":
      return { type: "llm_error", error: event.error, ...where };
    default:
      return undefined;
  }
}
