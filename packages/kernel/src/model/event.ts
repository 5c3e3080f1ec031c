/**
 * Block events: what adapters emit, and the only thing they emit. Provider-neutral, plain data.
 *
 * A block is named by a `key` that is unique for one adapter instance; ingest.ts assigns ids. Increments are pure
 * deltas. Every `block-start` is followed by exactly one `block-end` (an adapter's `end` closes what is open). The
 * kernel enforces this for callers that break it.
 */

import type { JsonObject } from "./json.ts";
import type { Kind, Reason, Role } from "./kind.ts";

export type BlockKey = string;

/**
 * Tokens, counted once. `input` is everything that was read, cached tokens included; `cacheRead` and `cacheWrite` are
 * parts of it. `reasoning` is a part of `output`. `native` keeps the provider's own numbers.
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
  /** A provider session was named: its id lets a later turn resume it. */
  | {
      readonly type: "session";
      readonly provider: string;
      readonly sessionId?: string;
      readonly model?: string;
      readonly cwd?: string;
      readonly version?: string;
      readonly title?: string;
      /** What the session works with: permission mode, tools, MCP servers with their status, … */
      readonly details?: JsonObject;
    }
  | {
      readonly type: "turn-start";
      readonly turn: string;
      readonly provider: string;
      readonly model?: string;
      readonly sessionId?: string;
      /** Wall clock of the provider's record, where it has one. */
      readonly at?: number;
    }
  | {
      readonly type: "turn-end";
      readonly turn: string;
      readonly status: "done" | "error";
      readonly reason?: Reason;
      readonly stopReason?: string;
      /** This turn alone, cumulative counters taken apart. */
      readonly usage?: Usage;
      /** Stated by the provider for this turn alone; absent where it states none. */
      readonly costUsd?: number;
      /** It used more than is stated: an answer was cut before its provider had counted it. */
      readonly uncounted?: true;
      readonly durationMs?: number;
      readonly models?: readonly string[];
      readonly native?: JsonObject;
      readonly error?: string;
      readonly at?: number;
    }
  /** Usage of one message. The last one for a message id wins; `parent` is the tool call of a sub-agent. */
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
      /** Under which block: a result under its call, a sub-agent's blocks under the call that started it. */
      readonly parent?: BlockKey;
      readonly kind: Kind;
      readonly role: Role;
      readonly metadata: JsonObject;
      /** Text that is known at once. */
      readonly text?: string;
      readonly at?: number;
    }
  | { readonly type: "block-append"; readonly key: BlockKey; readonly text: string }
  /**
   * Metadata patch: null deletes a key. `stage: "running"` says that a tool call's input is whole and it runs, `waiting:
   * "result"` that its result does not come in this stream: then it needs no end here.
   */
  | { readonly type: "block-meta"; readonly key: BlockKey; readonly metadata: JsonObject }
  | {
      readonly type: "block-end";
      readonly key: BlockKey;
      readonly status: "done" | "error";
      readonly reason?: Reason;
      /** The authoritative whole text, where it may differ from what was appended. */
      readonly text?: string;
      readonly metadata?: JsonObject;
      readonly at?: number;
    };
