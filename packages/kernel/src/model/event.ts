/**
 * Block events: what adapters emit, and the only thing they emit. Provider-neutral, plain data.
 *
 * Events name blocks by a `key` that is unique in one adapter run; ingest.ts assigns ids. Increments are pure deltas. Every
 * `block-start` is followed by exactly one `block-end`: an adapter's `end` closes open blocks, and ingest closes those
 * that an adapter forgets.
 */

import type { JsonObject } from "./json.ts";
import type { Kind, Reason, Role } from "./kind.ts";

export type BlockKey = string;

/**
 * Tokens, each counted once. `input` includes cached tokens; `cacheRead` and `cacheWrite` are parts of it. `reasoning` is part
 * of `output`. The provider's own numbers are kept in `native`.
 */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

export type TurnStatus = "running" | "done" | "error";

export type BlockEvent =
  /** A provider session began; a later turn can resume it by its id. */
  | {
      readonly type: "session";
      readonly provider: string;
      readonly sessionId?: string;
      readonly model?: string;
      readonly cwd?: string;
      readonly version?: string;
      readonly title?: string;
      /** Permission mode, tools, MCP servers with their status, … */
      readonly details?: JsonObject;
    }
  | {
      readonly type: "turn-start";
      readonly turn: string;
      readonly provider: string;
      readonly model?: string;
      readonly sessionId?: string;
      /** The provider's own timestamp, if there is one. */
      readonly at?: number;
    }
  | {
      readonly type: "turn-end";
      readonly turn: string;
      readonly status: "done" | "error";
      readonly reason?: Reason;
      readonly stopReason?: string;
      /** This turn alone: cumulative counters are subtracted. */
      readonly usage?: Usage;
      /** Stated by the provider for this turn alone. */
      readonly costUsd?: number;
      /** It used more than stated: an answer was cut off before the provider counted it. */
      readonly uncounted?: true;
      readonly durationMs?: number;
      readonly models?: readonly string[];
      readonly native?: JsonObject;
      readonly error?: string;
      readonly at?: number;
    }
  /** Usage of one message. The last event for a message id wins; `parent` is the tool call that started the sub-agent. */
  | {
      readonly type: "message-usage";
      readonly messageId: string;
      readonly turn?: string;
      readonly parent?: BlockKey;
      readonly model?: string;
      readonly usage: Usage;
      readonly native?: JsonObject;
    }
  | {
      readonly type: "block-start";
      readonly key: BlockKey;
      /** A result's call, or the call that started the sub-agent. */
      readonly parent?: BlockKey;
      readonly kind: Kind;
      readonly role: Role;
      readonly metadata: JsonObject;
      /** Text that is already known. */
      readonly text?: string;
      readonly at?: number;
    }
  | { readonly type: "block-append"; readonly key: BlockKey; readonly text: string }
  /**
   * Metadata patch: null deletes a key. `stage: "running"` means that a tool call's input is complete and it runs; `waiting:
   * "result"` that its result does not come in this stream, so it needs no end here.
   */
  | { readonly type: "block-meta"; readonly key: BlockKey; readonly metadata: JsonObject }
  | {
      readonly type: "block-end";
      readonly key: BlockKey;
      readonly status: "done" | "error";
      readonly reason?: Reason;
      /** The complete text, if it may differ from what was appended. It wins. */
      readonly text?: string;
      readonly metadata?: JsonObject;
      readonly at?: number;
    };
