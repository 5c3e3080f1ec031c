/**
 * A view: a client's copy of one conversation within its window. The replica fills it, others read it; it requests nothing
 * from the server.
 */

import type { Block } from "../../model/block.ts";
import type { ClosedResult } from "../../model/change.ts";
import type { Conversation, Turn } from "../../model/conversation.ts";
import type { Cursor } from "../../model/cursor.ts";
import type { BlockId, ConversationId } from "../../model/ids.ts";
import { type Op, splicesOf } from "../../model/op.ts";
import type { Problem } from "../../model/problem.ts";
import { Text } from "../../text/text.ts";

interface VersionedText {
  readonly version: number;
  readonly text: Text;
}

interface TextPiece {
  readonly version: number;
  /** Its offset in the text. */
  readonly at: number;
  readonly text: string;
  readonly last: boolean;
}

/** The copy of one conversation, as far as its window reaches. */
export class View {
  readonly conversation: ConversationId;
  readonly sub: number;
  record: Conversation | undefined;
  turns: ReadonlyMap<string, Turn> = new Map();
  /** Block ids, oldest first. */
  order: readonly BlockId[] = [];
  readonly blocks = new Map<BlockId, Block>();
  readonly texts = new Map<BlockId, Text>();
  /** What results without texts show while they are closed. */
  readonly closed = new Map<BlockId, ClosedResult>();
  /** The first result of each call. */
  readonly results = new Map<BlockId, BlockId>();
  /** Open calls that are older than the window. */
  readonly openCalls = new Map<BlockId, Block>();
  cursors: readonly Cursor[] = [];
  /** There are older blocks. */
  more = false;
  /** Where a resume continues. */
  since: { epoch: string; seq: number } | undefined;
  /** Why it cannot be followed, for good: it does not exist, or we may not see it. */
  problem: Problem | undefined;
  /** Why the server cannot serve it now; this is retried automatically. */
  waitsFor: Problem | undefined;
  /** The verdict has arrived at least once. */
  isOpen = false;
  readonly arriving = new Map<BlockId, { version: number; pieces: string[]; waiting: Op[] }>();
  /** Texts that arrived before the changes that lead to them. */
  readonly early = new Map<BlockId, VersionedText>();

  constructor(conversation: ConversationId, sub: number) {
    this.conversation = conversation;
    this.sub = sub;
  }

  /** Clears everything before a new window. */
  clear(): void {
    this.blocks.clear();
    this.texts.clear();
    this.closed.clear();
    this.results.clear();
    this.openCalls.clear();
    this.order = [];
    this.turns = new Map();
  }

  /** Adds a piece of a text. Returns the text and its version when it is complete. */
  takePiece(block: BlockId, piece: TextPiece): VersionedText | undefined {
    if (piece.at === 0) this.arriving.set(block, { version: piece.version, pieces: [], waiting: [] });
    const arriving = this.arriving.get(block);
    if (arriving?.version !== piece.version) return undefined;
    arriving.pieces.push(piece.text);
    if (!piece.last) return undefined;
    this.arriving.delete(block);
    let text = Text.join(arriving.pieces);
    let version = piece.version;
    for (const op of arriving.waiting) {
      if (op.version <= version) continue;
      text = text.apply(splicesOf(op));
      version = op.version;
    }
    return { version, text };
  }
}

/** What changed in a view. */
export interface ViewChange {
  readonly conversation: ConversationId;
  /** Blocks whose record or text changed; undefined: anything may have. */
  readonly blocks?: readonly BlockId[];
  /** Blocks were added or removed. */
  readonly order: boolean;
  readonly presence?: boolean;
}

export function mergedTurns(
  turns: ReadonlyMap<string, Turn>,
  changed: readonly Turn[],
): ReadonlyMap<string, Turn> {
  const next = new Map(turns);
  for (const turn of changed) next.set(turn.id, turn);
  return next;
}

/** New blocks nearly always come last, so the ids are usually sorted already. */
export function reorder(view: View): void {
  const ids = [...view.blocks.keys()];
  const bornOf = (id: BlockId) => view.blocks.get(id)?.born ?? 0;
  const isSorted = ids.every((id, i) => i === 0 || bornOf(ids[i - 1] as BlockId) < bornOf(id));
  view.order = isSorted ? ids : ids.sort((a, b) => bornOf(a) - bornOf(b));
}
