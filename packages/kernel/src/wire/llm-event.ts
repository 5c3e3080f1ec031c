/**
 * The shape of an `llm_*` event. Types only: llm-events.ts emits events, llm-messages.ts adds them up.
 *
 * One `messageId` per turn's answer; `contentBlockIndex` keeps counting across all of the provider's messages and never
 * restarts. Every event carries `version`.
 */

import type { Json } from "../model/json.ts";

export const LLM_VERSION = 2;

export type ContentBlockType = "text" | "thinking" | "tool_use";

export interface LlmHead {
  readonly version: number;
  readonly messageId: string;
  readonly timestamp: string;
  /** Where a client that has this event, and all before it, may resume. Not every event has one. */
  readonly cursor?: string;
}

export interface LlmTool {
  readonly toolName: string;
  readonly toolId: string;
}

export type LlmEvent = LlmHead &
  (
    | { readonly type: "llm_message_start"; readonly model?: string; readonly provider: string }
    /** The model, where it became known only after the start. */
    | { readonly type: "llm_message_update"; readonly model: string }
    | ({
        readonly type: "llm_content_block_start";
        readonly contentBlockIndex: number;
        readonly contentBlockType: ContentBlockType;
      } & Partial<LlmTool>)
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
    /** The owner is asked whether it may run, or for an answer. */
    | (LlmTool & {
        readonly type: "llm_tool_execution_waiting";
        readonly waiting: "approval" | "answer";
        readonly toolInput: Json;
        readonly title?: string;
      })
    | (LlmTool & { readonly type: "llm_tool_execution_start"; readonly toolInput: Json })
    /** Output while it runs: what was added, or, where that is no addition, all of it. */
    | (LlmTool & { readonly type: "llm_tool_execution_progress" } & (
          | { readonly delta: string }
          | { readonly result: string }
        ))
    | (LlmTool & {
        readonly type: "llm_tool_execution_complete";
        readonly success: boolean;
        readonly result?: string;
        readonly error?: string;
      })
    | { readonly type: "llm_error"; readonly error: string }
    | { readonly type: "llm_message_stop"; readonly stopReason: string; readonly totalContentBlocks: number }
  );
