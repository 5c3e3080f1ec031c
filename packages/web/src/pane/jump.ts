/**
 * From the side pane to a block: where the pane lies over the page, it makes room.
 */
import type { BlockId } from "@blockyard/kernel";
import { seek } from "../rows/sought.ts";
import { putSheetAway } from "../state/pane.ts";

export function jumpTo(block: BlockId): void {
  putSheetAway();
  seek(block);
}
