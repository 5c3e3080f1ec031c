/**
 * A change: the effect of one commit, or of several that are delivered as one. The kernel emits it, a feed delivers it, an outbox
 * joins it with others, a frame carries it.
 */

import type { Block } from "./block.ts";
import type { Conversation, Turn } from "./conversation.ts";
import type { BlockId, ConversationId } from "./ids.ts";
import type { Op } from "./op.ts";

export interface Change {
  readonly conversation: ConversationId;
  /** The conversation's seq after the change. */
  readonly seq: number;
  readonly record: Conversation;
  readonly ops: readonly Op[];
  /** The changed blocks, as they are after the change. */
  readonly blocks: readonly Block[];
  readonly turns: readonly Turn[];
  /** Blocks whose ops are missing because another node compacted them before this node read them. Read these blocks again. */
  readonly renewed?: readonly BlockId[];
  /** Blocks sent in full, because the subscriber lacks more of them than `ops` contains. */
  readonly whole?: readonly Snapshot[];
}

/** A block with its text, or with what a closed result shows instead; both may be left out. */
export interface Snapshot {
  readonly block: Block;
  readonly text?: string;
  readonly closed?: ClosedResult;
}

/** What a result shows while it is closed: nothing, a summary line, or its first and last lines. */
export interface ClosedResult {
  readonly summary?: string;
  readonly head?: readonly string[];
  readonly tail?: readonly string[];
  /** How many lines the whole text has. */
  readonly lines?: number;
}

/** The change to emit for a commit. */
export function changeOf(
  { conversation, record, ops, blocks, turns }: Omit<Change, "seq" | "renewed" | "whole">,
  renewed: readonly BlockId[] = [],
): Change {
  const change = { conversation, seq: record.seq, record, ops, blocks, turns };
  return renewed.length === 0 ? change : { ...change, renewed };
}
