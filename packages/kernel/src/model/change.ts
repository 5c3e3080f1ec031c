/**
 * A change: what one commit did, or several commits joined. The kernel emits it, a feed delivers it, an outbox joins
 * several, a frame carries it.
 */

import type { Block } from "./block.ts";
import type { Conversation, Turn } from "./conversation.ts";
import type { BlockId, ConversationId } from "./ids.ts";
import type { Op } from "./op.ts";

export interface Change {
  readonly conversation: ConversationId;
  /** Where the conversation stands behind it. */
  readonly seq: number;
  readonly record: Conversation;
  readonly ops: readonly Op[];
  /** The touched blocks as they are now. */
  readonly blocks: readonly Block[];
  readonly turns: readonly Turn[];
  /** Of these blocks, ops are missing: another node has compacted them before they were heard of here. Read them anew. */
  readonly renewed?: readonly BlockId[];
  /** Blocks that a subscriber is given whole, because it lacks more of them than the ops say. */
  readonly whole?: readonly Snapshot[];
}

/** A block, with its text where that is given; or, in place of the text, with what is shown of a result that is closed. */
export interface Snapshot {
  readonly block: Block;
  readonly text?: string;
  readonly closed?: ClosedResult;
}

/** What a result shows while it is closed: nothing, the line it is remembered by, or its first and last lines. */
export interface ClosedResult {
  readonly summary?: string;
  readonly head?: readonly string[];
  readonly tail?: readonly string[];
  /** Of how many lines these are the first and the last. */
  readonly lines?: number;
}

/** What was committed, as it is told. `renewed`: see there. */
export function changeOf(
  { conversation, record, ops, blocks, turns }: Omit<Change, "seq" | "renewed" | "whole">,
  renewed: readonly BlockId[] = [],
): Change {
  const change = { conversation, seq: record.seq, record, ops, blocks, turns };
  return renewed.length === 0 ? change : { ...change, renewed };
}
