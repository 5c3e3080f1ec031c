/**
 * A cursor or selection in a block's text. Plain data; write/cursors.ts keeps them.
 */

import type { AgentId, BlockId, ConversationId } from "./ids.ts";

export interface Cursor {
  readonly agent: AgentId;
  readonly block: BlockId;
  /** Where the selection began, in UTF-16 units; equal to `head` if nothing is selected. */
  readonly anchor: number;
  /** The cursor's own offset. */
  readonly head: number;
}

/** The cursor of someone connected to another node. */
export interface RemoteCursor {
  readonly cursor: Cursor;
  readonly conversation: ConversationId;
  /** The block version that the offsets refer to; 0 removes the cursor. */
  readonly version: number;
}
