/**
 * The short way of a streamed piece. Nearly every write is one: an agent's next words in a block that it alone writes to
 * and that nobody has open. What a draft of it would come to is known beforehand, so that none is made.
 *
 * It never differs from the draft's: where anything is unusual there is no short way.
 */

import { applyOp, applyToConversation } from "../model/apply.ts";
import { type AgentId, type Block, type BlockId, isEnded } from "../model/block.ts";
import type { Conversation } from "../model/conversation.ts";
import { limits } from "../model/limits.ts";
import type { Op } from "../model/op.ts";
import type { Problem } from "../model/problem.ts";
import type { Commit } from "../ports/store.ts";
import { cleanText } from "../text/door.ts";

const NONE: readonly never[] = [];

/** A piece of an agent's stream. */
export interface Streamed {
  readonly block: BlockId;
  readonly agent: AgentId;
  readonly text: string;
  /** Why it cannot be written: an earlier piece of the stream was not. */
  readonly refused: Problem | undefined;
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
