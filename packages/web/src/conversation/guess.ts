/**
 * The estimated height of a row before it is drawn: good enough for a roughly correct scroll bar. Rows on the screen
 * have always been measured.
 */

import { type Block, type BlockId, isNotice } from "@blockyard/kernel";
import type { Row } from "../rows/rows.ts";
import { GUESSED_LINE_CHARS } from "./limits.ts";

const LINE_PX = 24;
const MARGIN_PX = 24;
/** A line that can be opened. */
const CLOSED_PX = 32;
const SPEAKER_PX = 44;
const RESULT_PX = 90;
const MAX_PX = 4_000;

export function guessedPx(row: Row, blocks: ReadonlyMap<BlockId, Block>): number {
  if (row.type === "speaker") return SPEAKER_PX;
  const block = row.type === "block" ? blocks.get(row.id) : undefined;
  if (!block || isNotice(block)) return CLOSED_PX;
  switch (block.kind) {
    case "text":
    case "error": {
      const lines = block.newlines + Math.ceil((block.chars + 1) / GUESSED_LINE_CHARS);
      return Math.min(MAX_PX, MARGIN_PX + lines * LINE_PX);
    }
    case "thinking":
      return CLOSED_PX;
    default:
      return CLOSED_PX + RESULT_PX;
  }
}
