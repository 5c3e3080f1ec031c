/** A position in a block's text: a cursor, or a selection. Plain data; write/cursors.ts keeps them. */

import type { AgentId, BlockId, ConversationId } from "./ids.ts";

export interface Cursor {
  readonly agent: AgentId;
  readonly block: BlockId;
  /** Where the selection began, in UTF-16 units; equal to `head` where nothing is selected. */
  readonly anchor: number;
  /** Where the cursor itself is. */
  readonly head: number;
}

/** Where somebody is, who is connected to another node. */
export interface FarCursor {
  readonly cursor: Cursor;
  readonly conversation: ConversationId;
  /** The version of the block that the offsets belong to; 0: the cursor is taken away. */
  readonly version: number;
}
