/**
 * Derives records from ops: the block's and the conversation's. Pure, and the only place that does this. It does not check
 * whether an op is legal: draft.ts does, before it makes the op.
 */

import { askOf, isAsked } from "./ask.ts";
import { AssertionError, assert, unreachable } from "./assert.ts";
import { type Block, blockOf, withMetadata } from "./block.ts";
import {
  addUsage,
  type Conversation,
  type ConversationPatch,
  type Deleted,
  NO_USAGE,
  subtractUsage,
  type Turn,
} from "./conversation.ts";
import type { BlockId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import { isEnded, type Stage, type Status } from "./kind.ts";
import { limits } from "./limits.ts";
import { patchMetadata } from "./metadata.ts";
import { countNewlines, type Op, type OpBody, type Splice } from "./op.ts";

/** The block after `op`, which must be the next op of that block. */
export function applyOp(block: Block | undefined, op: Op): Block {
  const { body } = op;
  if (body.type === "create") return created(op, body);
  // No assert here: this runs for every append, and the message is built only if it is needed.
  if (block === undefined) throw new AssertionError(`op ${op.seq} on a block that does not exist`);
  if (op.versionFrom !== block.version + 1)
    throw new AssertionError(`op version ${op.versionFrom} after version ${block.version}`);
  if (body.type === "append") return appended(block, op, body.text);
  const head = { version: op.version, seq: op.seq, updatedAt: op.at };
  switch (body.type) {
    case "splice":
      return wrote({ ...block, ...head, ...grown(block, body.splices) }, undefined);
    case "promote":
      return { ...block, ...head, promoted: true };
    case "status":
      return withStatus({ ...withPatch(block, body.metadata), ...head }, body.status);
    case "meta":
      return withStage({ ...withPatch(block, body.metadata), ...head });
    case "prune":
      return { ...block, ...head, pruned: body.pruned };
    case "conversation":
    case "turn":
      throw new Error("an op of the conversation has no block");
    default:
      return unreachable(body, "op");
  }
}

/** The record after `op`. `previous` is the turn as it was before a turn op. */
export function applyToConversation(record: Conversation, op: Op, previous: Turn | undefined): Conversation {
  const next: Conversation = { ...record, seq: op.seq, updatedAt: op.at };
  const { body } = op;
  if (body.type === "append" || body.type === "splice") return next;
  if (body.type === "create") {
    const head = body.side ? record.head : op.block;
    return withQuestion({ ...next, blocks: record.blocks + 1, head }, op.block, body.metadata);
  }
  if (body.type === "meta") return withQuestion(next, op.block, body.metadata);
  if (body.type === "status") {
    const isOver = isEnded(body.status) && body.metadata.reason !== "interrupted";
    return withQuestion(next, op.block, body.metadata, isOver);
  }
  if (body.type === "turn") return withTurn(next, body.turn, previous);
  if (body.type === "conversation") return patched(next, body.patch, record.updatedAt);
  return next;
}

/** Asks live in block metadata; the record lists the open ones. `isOver`: the call ended, and not because it was interrupted. */
function withQuestion(
  record: Conversation,
  block: BlockId | null,
  metadata: JsonObject,
  isOver = false,
): Conversation {
  const isAbout = metadata.ask !== undefined || metadata.approval !== undefined;
  if (block === null || !(isAbout || (isOver && record.cutAsks?.includes(block)))) return record;
  const { asking = [], cutAsks = [], ...rest } = record;
  const waiting = asking.filter((id) => id !== block);
  const now = isAsked(metadata) ? [...waiting, block] : waiting;
  const isCut = !isOver && askOf(metadata)?.state === "expired" && asking.includes(block);
  const others = cutAsks.filter((id) => id !== block);
  const cut = isCut ? [...others, block].slice(-limits.cutAsks) : others;
  return {
    ...rest,
    ...(now.length === 0 ? {} : { asking: now }),
    ...(cut.length === 0 ? {} : { cutAsks: cut }),
  };
}

/** Deleting or restoring does not move a conversation in lists: it keeps `updatedAt` from before the patch. */
function patched(now: Conversation, patch: ConversationPatch, updatedAt: number): Conversation {
  const { title, provider, model, session, include, exclude, forkedFrom, metadata, head, deleted } = patch;
  const record = deleted === undefined ? now : withDeleted({ ...now, updatedAt }, deleted);
  let { included } = record;
  if (include !== undefined && !included.includes(include)) included = [...included, include];
  if (exclude !== undefined) included = included.filter((id) => id !== exclude);
  return {
    ...record,
    ...(title === undefined ? {} : { title }),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(forkedFrom === undefined ? {} : { forkedFrom }),
    ...(head === undefined ? {} : { head }),
    sessions:
      session === undefined ? record.sessions : { ...record.sessions, [session.provider]: session.id },
    included,
    metadata: metadata === undefined ? record.metadata : patchMetadata(record.metadata, metadata),
  };
}

function withDeleted({ deleted: _, ...record }: Conversation, deleted: Deleted | null): Conversation {
  return deleted === null ? record : { ...record, deleted };
}

function withTurn(record: Conversation, turn: Turn, previous: Turn | undefined): Conversation {
  const others = record.running.filter((id) => id !== turn.id);
  const usage = addUsage(subtractUsage(record.usage, previous?.usage ?? NO_USAGE), turn.usage ?? NO_USAGE);
  const stated = turn.costUsd ?? previous?.costUsd;
  const costUsd =
    stated === undefined
      ? record.costUsd
      : (record.costUsd ?? 0) - (previous?.costUsd ?? 0) + (turn.costUsd ?? 0);
  // A program that joined someone else's conversation does not set its provider and model.
  const isGuests = turn.leased === true && turn.agent !== record.createdBy;
  const held = { provider: turn.provider, ...(turn.model === undefined ? {} : { model: turn.model }) };
  const { ended: _, uncounted: before = 0, cutAsks, ...rest } = record;
  const uncounted = before - (previous?.uncounted ? 1 : 0) + (turn.uncounted ? 1 : 0);
  const ended = turn.status === "error" ? (turn.reason ?? "failed") : undefined;
  // Only for turns started here: nothing can continue an imported turn.
  const isMeant =
    turn.status === "running"
      ? previous !== undefined
      : ended === "interrupted" && turn.startedBy !== undefined;
  return {
    ...rest,
    ...(ended === undefined ? {} : { ended }),
    ...(isMeant && cutAsks !== undefined ? { cutAsks } : {}),
    running: turn.status === "running" ? [...others, turn.id] : others,
    turns: previous === undefined ? record.turns + 1 : record.turns,
    ...(isGuests ? {} : held),
    usage,
    costUsd,
    ...(uncounted > 0 ? { uncounted } : {}),
  };
}

function created(op: Op, body: OpBody & { type: "create" }): Block {
  assert(op.block !== null && op.version === 1, "a block is created once");
  const block = blockOf({
    id: op.block,
    conversation: op.conversation,
    agent: op.agent,
    kind: body.kind,
    role: body.role,
    status: body.status,
    parent: body.parent,
    side: body.side,
    version: 1,
    seq: op.seq,
    born: op.seq,
    createdAt: op.at,
    updatedAt: op.at,
    chars: body.text.length,
    newlines: countNewlines(body.text),
    pruned: false,
    promoted: false,
    metadata: body.metadata,
  });
  if (block.kind !== "tool_call") return block;
  const stage: Stage = isEnded(body.status) ? "end" : "start";
  return { ...block, metadata: { ...block.metadata, stage } };
}

/** Nearly every op is an append, so this allocates only the block. Listing the fields is faster than spreading. */
function appended(block: Block, op: Op, text: string): Block {
  const next = {
    id: block.id,
    conversation: block.conversation,
    agent: block.agent,
    kind: block.kind,
    role: block.role,
    status: block.status,
    parent: block.parent,
    side: block.side,
    version: op.version,
    seq: op.seq,
    born: block.born,
    createdAt: block.createdAt,
    updatedAt: op.at,
    chars: block.chars + text.length,
    newlines: block.newlines + countNewlines(text),
    pruned: block.pruned,
    promoted: block.promoted,
    metadata: block.metadata,
  } as Block;
  return wrote(next, "streaming");
}

/** A write makes a pending block run; a tool call's input increments are its streaming stage. */
function wrote(block: Block, stage: Stage | undefined): Block {
  const running: Block = block.status === "pending" ? { ...block, status: "running" } : block;
  if (running.kind !== "tool_call" || stage === undefined || running.metadata.stage !== "start")
    return running;
  return { ...running, metadata: { ...running.metadata, stage } };
}

/** A tool call that is past its first stage is running. */
function withStage(block: Block): Block {
  const { stage } = block.metadata;
  if (block.kind !== "tool_call" || block.status !== "pending" || stage === "start") return block;
  return { ...block, status: "running" };
}

function withStatus(block: Block, status: Status): Block {
  const next: Block = { ...block, status };
  if (next.kind !== "tool_call") return next;
  const stage: Stage = isEnded(status) ? "end" : status === "running" ? "running" : "start";
  return { ...next, metadata: { ...next.metadata, stage } };
}

function withPatch(block: Block, patch: JsonObject): Block {
  return withMetadata(block, patchMetadata(block.metadata, patch));
}

function grown(block: Block, splices: readonly Splice[]): { chars: number; newlines: number } {
  let { chars, newlines } = block;
  for (const { del, ins } of splices) {
    chars += ins.length - del.length;
    newlines += countNewlines(ins) - countNewlines(del);
  }
  return { chars, newlines };
}
