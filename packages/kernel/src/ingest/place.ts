/** Where a stream writes: its caller's settings, and its current position. Types only. */

import type { AgentId, BlockId, ConversationId } from "../model/ids.ts";

export interface IngestOptions {
  readonly conversation: ConversationId;
  readonly agent: AgentId;
  /** Where the first block goes; the conversation's head by default. */
  readonly parent?: BlockId;
  /** Remember keys in the blocks, so that the same events can come again. */
  readonly keep?: boolean;
  /** The turn that the caller has opened already: the adapter's first turn is this one. */
  readonly turn?: string;
  /** `later`: the agent may begin others before it, until `claim` is called. */
  readonly begins?: "first" | "later";
  /** These events are of the past: the time of those that carry none, before the first that does. */
  readonly from?: number;
  /**
   * Who writes it, where that is not the owner: prompts in the stream are not the owner's words, and the stream says nothing
   * about a conversation that belongs to somebody else.
   */
  readonly guest?: boolean;
  /** Who brings it, where `agent` is a name of their choice: what was said to the agent they have said. */
  readonly bringer?: AgentId;
}

export interface Place {
  head: BlockId | null;
  turn: string | undefined;
  readonly alias: string | undefined;
  titled: boolean;
  /** When a turn's usage was last written; undefined before that. */
  usageAt: number | undefined;
  /** The time of the last event that had one; undefined where events are written as they happen. */
  at: number | undefined;
}
