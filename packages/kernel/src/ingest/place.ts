/** Where a stream writes: the caller's options, and its current position. Types only. */

import type { AgentId, BlockId, ConversationId } from "../model/ids.ts";

export interface IngestOptions {
  readonly conversation: ConversationId;
  readonly agent: AgentId;
  /** Where the first block goes; the conversation's head by default. */
  readonly parent?: BlockId;
  /** Store keys in the blocks, so that the same events can be imported again. */
  readonly keep?: boolean;
  /** A turn that the caller has already opened, for the adapter's first turn. */
  readonly turn?: string;
  /** `later`: the agent may start other turns first, until `claim` is called. */
  readonly begins?: "first" | "later";
  /** These are past events; this is the time of those before the first that has its own. */
  readonly from?: number;
  /**
   * The writer is not the owner: prompts in the stream are not the owner's words, and the stream may not change a
   * conversation that belongs to someone else.
   */
  readonly guest?: boolean;
  /** Who brings the stream, if `agent` is a name they chose: the author of its prompts. */
  readonly bringer?: AgentId;
}

export interface Place {
  head: BlockId | null;
  turn: string | undefined;
  readonly alias: string | undefined;
  titled: boolean;
  /** When a turn's usage was last written; undefined before that. */
  usageAt: number | undefined;
  /** The turn that has used more than is written. */
  usageDue: string | undefined;
  /** The time of the last event that had one; undefined where events are written as they happen. */
  at: number | undefined;
}
