/**
 * A view: a client's copy of one conversation, as far as its window reaches, and what changed in it. Data that the
 * replica fills and others read; it requests nothing from the server.
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
  /** Where it stands in the text. */
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
  /** Of results whose texts were left out, what they show while they are closed. */
  readonly closed = new Map<BlockId, ClosedResult>();
  /** The first result of each call that has one here. */
  readonly results = new Map<BlockId, BlockId>();
  /** Calls that have not ended and are older than the window. */
  readonly openCalls = new Map<BlockId, Block>();
  cursors: readonly Cursor[] = [];
  /** There are older blocks than the first one here. */
  more = false;
  /** Where a resume continues. */
  since: { epoch: string; seq: number } | undefined;
  /** Why there is nothing to follow, for good: it does not exist, or is not for us. */
  problem: Problem | undefined;
  /** Why the server cannot serve it at the moment; it is asked again by itself. */
  waitsFor: Problem | undefined;
  /** The verdict has come at least once. */
  isOpen = false;
  readonly arriving = new Map<BlockId, { version: number; pieces: string[]; waiting: Op[] }>();
  /** Texts that came before the changes that lead to them. */
  readonly early = new Map<BlockId, VersionedText>();

  constructor(conversation: ConversationId, sub: number) {
    this.conversation = conversation;
    this.sub = sub;
  }

  /** What it has is forgotten: a new window comes. */
  clear(): void {
    this.blocks.clear();
    this.texts.clear();
    this.closed.clear();
    this.results.clear();
    this.openCalls.clear();
    this.order = [];
    this.turns = new Map();
  }

  /** A piece of a text; the text with its version, when it is whole. */
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

/** What changed in a view, for whoever draws it. */
export interface ViewChange {
  readonly conversation: ConversationId;
  /** Blocks whose record or text changed; undefined: anything may have. */
  readonly blocks?: readonly BlockId[];
  /** Blocks came or went: the order changed. */
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

/** New blocks nearly always come behind the others: then the order only grows. */
export function reorder(view: View): void {
  const ids = [...view.blocks.keys()];
  const bornOf = (id: BlockId) => view.blocks.get(id)?.born ?? 0;
  const isSorted = ids.every((id, i) => i === 0 || bornOf(ids[i - 1] as BlockId) < bornOf(id));
  view.order = isSorted ? ids : ids.sort((a, b) => bornOf(a) - bornOf(b));
}
