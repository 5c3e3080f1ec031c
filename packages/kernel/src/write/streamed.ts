/**
 * The short way of a streamed piece. Nearly every write is one: an agent's next words in a block that it alone writes to
 * and that nobody has open. What a draft of it would come to is known beforehand, so that none is made.
 *
 * It never differs from the draft's: where anything is unusual there is no short way.
 */

import { applyOp, applyToConversation } from "../model/apply.ts";
import type { Block } from "../model/block.ts";
import type { Conversation } from "../model/conversation.ts";
import type { AgentId, BlockId } from "../model/ids.ts";
import { isEnded } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import type { Op } from "../model/op.ts";
import type { Problem } from "../model/problem.ts";
import type { Commit } from "../ports/store.ts";
import type { BlockText } from "../text/block-text.ts";
import { cleanText } from "../text/sanitize.ts";

const NONE: readonly never[] = [];

/** A piece of an agent's stream. */
export interface Streamed {
  readonly block: BlockId;
  readonly agent: AgentId;
  readonly text: string;
  /** Why it cannot be written: an earlier piece of the stream was not. */
  readonly refused: Problem | undefined;
}

/** Whether nothing but a stream has written to the text, which it does without looking at it. */
export function isStreamed({ id }: BlockText, ops: readonly Op[]): boolean {
  return ops.every((op) => op.block !== id || op.body.type === "append");
}

/** Whether a piece is plain text behind the end of `block`, and nothing else. */
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

/** The commit of a plain piece. `unit`: the one that goes on with it, if one does. */
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
