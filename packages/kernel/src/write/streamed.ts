/**
 * The fast path for streamed pieces. Nearly every write is one: an agent's next words in a block that only it writes to and nobody
 * has open. Its commit is built directly, without a draft.
 *
 * The commit is always the one that a draft would have made: anything unusual takes the normal path.
 */

import { applyOp, applyToConversation } from "../model/apply.ts";
import type { Block } from "../model/block.ts";
import type { Conversation } from "../model/conversation.ts";
import { isEnded } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import type { Op } from "../model/op.ts";
import type { Commit } from "../ports/store.ts";
import { cleanText } from "../text/sanitize.ts";
import type { BaseState } from "./base-state.ts";
import type { Batch } from "./batch.ts";
import type { Queued, Streamed } from "./write.ts";

const NONE: readonly never[] = [];

/** The waiting writes as a batch, if they are a single piece that can take the fast path. */
export function streamedBatch(base: BaseState, waiting: readonly Queued[], at: number): Batch | undefined {
  const write = waiting[0];
  const piece = write?.streamed;
  const record = base.committed;
  if (waiting.length !== 1 || piece === undefined || record === undefined || record.deleted) return undefined;
  const block = base.block(piece.block);
  if (!block || !isPlain(piece, block) || base.hasText(block.id)) return undefined;
  const { id, agent } = block;
  const unit = base.openUnit(id, agent, "append");
  const commit = commitOf(piece, block, record, unit, at);
  const { version } = commit.blocks[0] as Block;
  const units = unit === undefined ? [{ block: id, agent, type: "append" as const, unit: version }] : NONE;
  (write as Queued).answer = version;
  return { planned: waiting, draft: undefined, units, commit, missing: undefined };
}

/** Whether a piece is a plain append to the end of `block`. */
export function isPlain({ text, agent, refused }: Streamed, block: Block): boolean {
  return (
    refused === undefined &&
    !block.promoted &&
    block.agent === agent &&
    !isEnded(block.status) &&
    text !== "" &&
    block.chars + text.length <= limits.blockTextChars &&
    cleanText(text) === text
  );
}

/** The commit of a plain piece. `unit`: the undo step that it continues, if any. */
export function commitOf(
  { text, agent }: Streamed,
  block: Block,
  record: Conversation,
  unit: number | undefined,
  at: number,
): Commit {
  const { id: conversation, seq: expectedSeq } = record;
  const seq = expectedSeq + 1;
  const version = block.version + 1;
  const op: Op = {
    conversation,
    seq,
    seqFrom: seq,
    block: block.id,
    version,
    versionFrom: version,
    agent,
    unit: unit ?? version,
    at,
    body: { type: "append", at: block.chars, text },
  };
  return {
    conversation,
    expectedSeq,
    ops: [op],
    blocks: [applyOp(block, op)],
    record: applyToConversation(record, op, undefined),
    turns: NONE,
    answers: NONE,
  };
}
