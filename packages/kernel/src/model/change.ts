/**
 * A change: what one commit did, or several that are told as one. The kernel tells it, a feed delivers it, an outbox joins it,
 * a frame carries it.
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
  /** Of these blocks, ops are missing: another node has folded them before they were heard of here. Read them anew. */
  readonly renewed?: readonly BlockId[];
  /** Blocks that a subscriber is given whole, because it lacks more of them than the ops say. */
  readonly whole?: readonly Snapshot[];
}

/** A block, with its text where that is given. */
export interface Snapshot {
  readonly block: Block;
  readonly text?: string;
}

/** What was committed, as it is told. `renewed`: see there. */
export function changeOf(
  { conversation, record, ops, blocks, turns }: Omit<Change, "seq" | "renewed" | "whole">,
  renewed: readonly BlockId[] = [],
): Change {
  const change = { conversation, seq: record.seq, record, ops, blocks, turns };
  return renewed.length === 0 ? change : { ...change, renewed };
}
