/**
 * A content block of a message, as far as a client has received it, and the events that describe it. llm-events.ts
 * decides when each is sent.
 */

import type { Block } from "../model/block.ts";
import type { Turn } from "../model/conversation.ts";
import type { BlockId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { Text } from "../text/text.ts";
import {
  type ContentBlockType,
  LLM_VERSION,
  type LlmEvent,
  type LlmHead,
  type LlmTool,
} from "./llm-event.ts";

/** The kinds of blocks that are content of a message. */
export const TYPES: Readonly<Record<string, ContentBlockType>> = {
  text: "text",
  thinking: "thinking",
  tool_call: "tool_use",
};
const DELTAS = { text: "text_delta", thinking: "thinking_delta", tool_use: "input_json_delta" } as const;

/** A message that a client is being told. */
export interface Message {
  readonly id: string;
  blocks: number;
  model: string | undefined;
  /** How often each tool id has come: a second one is told under another name. */
  readonly toolIds: Map<string, number>;
}

/** A content block: what a client was told of it. */
export interface Content extends LlmTool {
  readonly message: Message;
  readonly index: number;
  readonly type: ContentBlockType;
  text: Text;
  isStopped: boolean;
  input: Json;
  /** The ask that was told last. */
  asked: string | undefined;
  hasRun: boolean;
  isComplete: boolean;
  /** The block with its result, once there is one; and whether `complete` has told it. */
  result: BlockId | undefined;
  hasResultTold: boolean;
  /** It has ended because its agent was away, and may go on. */
  hasLapsed: boolean;
  /** Its message has stopped, and its text is not followed any more. */
  isLetGo: boolean;
}

export function newContent(message: Message, type: ContentBlockType, block: Block, text: string): Content {
  const { toolName = "", toolUseId = "" } = block.metadata;
  return {
    message,
    index: message.blocks++,
    type,
    toolName,
    toolId: type === "tool_use" ? uniqueId(message, toolUseId) : "",
    text: Text.of(text),
    isStopped: false,
    input: null,
    asked: undefined,
    hasRun: false,
    isComplete: false,
    result: undefined,
    hasResultTold: false,
    hasLapsed: false,
    isLetGo: false,
  };
}

function uniqueId({ toolIds }: Message, id: string): string {
  const times = (toolIds.get(id) ?? 0) + 1;
  toolIds.set(id, times);
  return times === 1 ? id : `${id}#${times}`;
}

export function headOf(message: Pick<Message, "id">, at: number): LlmHead {
  return { version: LLM_VERSION, messageId: message.id, timestamp: new Date(at).toISOString() };
}

export function run(known: Content, head: LlmHead): LlmEvent[] {
  known.hasRun = true;
  const { toolName, toolId, input: toolInput } = known;
  return [{ ...head, type: "llm_tool_execution_start", toolName, toolId, toolInput }];
}

export function progress({
  toolName,
  toolId,
}: Content): LlmTool & { readonly type: "llm_tool_execution_progress" } {
  return { type: "llm_tool_execution_progress", toolName, toolId };
}

export function delta(known: Content, head: LlmHead, text: string): LlmEvent {
  const { index, type } = known;
  return {
    ...head,
    type: "llm_content_block_delta",
    contentBlockIndex: index,
    deltaType: DELTAS[type],
    delta: text,
  };
}

/** Also where the same turn is told of again, because more became known of its end: that begins no new message. */
export function stopOf(turn: Turn, totalContentBlocks: number): LlmEvent {
  const stopReason = turn.stopReason ?? turn.reason ?? (turn.status === "done" ? "end_turn" : "error");
  const head = headOf({ id: turn.id }, turn.endedAt ?? turn.startedAt);
  return { ...head, type: "llm_message_stop", stopReason, totalContentBlocks };
}

export function startOf({ index, type, toolName, toolId }: Content, head: LlmHead): LlmEvent {
  return {
    ...head,
    type: "llm_content_block_start",
    contentBlockIndex: index,
    contentBlockType: type,
    ...(type === "tool_use" ? { toolName, toolId } : {}),
  };
}
