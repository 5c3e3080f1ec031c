/**
 * The op: one immutable committed change. The ops of a conversation, in order of `seq`, are the ground truth; a block
 * is what its ops fold to, in order of `version`. This file defines ops and how a block's record follows from them; how
 * the text follows from them is in text/.
 *
 * Numbers: `seq` is dense in a conversation and given by the store's commit. `version` is dense in a block. `unit` is
 * the version of the first op of the unit (the ops that undo together), so it needs no name of its own.
 *
 * Runs: the store may merge consecutive appends of one unit into one op that covers several versions. Such an op has
 * `versionFrom < version` and `seqFrom < seq` (other blocks' ops may lie between). Nothing else is ever merged.
 */

import { assert, unreachable } from "./assert.ts";
import {
  type AgentId,
  type Block,
  type BlockId,
  type ConversationId,
  isEnded,
  type Kind,
  patchMetadata,
  type Role,
  type Stage,
  type Status,
} from "./block.ts";
import type { ConversationPatch, Turn } from "./conversation.ts";
import type { JsonObject } from "./json.ts";

/** At `at`, `del` was replaced by `ins`. The splices of an op apply one after the other, in UTF-16 units. */
export interface Splice {
  readonly at: number;
  readonly del: string;
  readonly ins: string;
}

export type OpBody =
  | {
      readonly type: "create";
      readonly kind: Kind;
      readonly role: Role;
      readonly parent: BlockId | null;
      readonly side: boolean;
      readonly status: Status;
      readonly text: string;
      readonly metadata: JsonObject;
    }
  /** Text at the end of a plain block, by its writer. `at` is where: the length before it. */
  | { readonly type: "append"; readonly at: number; readonly text: string }
  /** From here on the text is a CRDT document, whose base is the text so far. */
  | { readonly type: "promote" }
  /**
   * A change of a promoted block's text. `update` is the CRDT update that makes it; `splices` is what it came to in
   * this block's order. `anchor`: where the agent's append stream goes on. `flips`: the units that an undo made
   * inactive or a redo active.
   */
  | {
      readonly type: "splice";
      readonly splices: readonly Splice[];
      readonly update: Uint8Array;
      readonly anchor?: string;
      readonly undo?: number;
      readonly redo?: number;
    }
  | { readonly type: "status"; readonly status: Status; readonly metadata: JsonObject }
  /** A metadata patch: null deletes. */
  | { readonly type: "meta"; readonly metadata: JsonObject }
  | { readonly type: "prune"; readonly pruned: boolean }
  /** The ops with no block: they change the conversation's own record. */
  | { readonly type: "conversation"; readonly patch: ConversationPatch }
  | { readonly type: "turn"; readonly turn: Turn };

export type OpType = OpBody["type"];

export interface Op {
  readonly conversation: ConversationId;
  readonly seq: number;
  readonly seqFrom: number;
  /** null: an op of the conversation itself, whose version counts for nothing. */
  readonly block: BlockId | null;
  readonly version: number;
  readonly versionFrom: number;
  readonly agent: AgentId;
  readonly unit: number;
  /** Wall clock of the commit's planning, for people. */
  readonly at: number;
  readonly body: OpBody;
}

/** The block after `op`. The op must be the next one of that block; the caller has checked what is legal. */
export function applyOp(block: Block | undefined, op: Op): Block {
  const { body } = op;
  if (body.type === "create") return created(op, body);
  assert(block !== undefined, `op ${op.seq} on a block that does not exist`);
  assert(op.versionFrom === block.version + 1, `op version ${op.versionFrom} after version ${block.version}`);
  const head = { version: op.version, seq: op.seq, updatedAt: op.at };
  switch (body.type) {
    case "append":
      return wrote(
        { ...block, ...head, ...grown(block, [{ at: body.at, del: "", ins: body.text }]) },
        "streaming",
      );
    case "splice":
      return wrote({ ...block, ...head, ...grown(block, body.splices) }, undefined);
    case "promote":
      return { ...block, ...head, promoted: true };
    case "status":
      return withStatus(
        { ...block, ...head, metadata: patchMetadata(block.metadata, body.metadata) },
        body.status,
      );
    case "meta":
      return withStage({ ...block, ...head, metadata: patchMetadata(block.metadata, body.metadata) });
    case "prune":
      return { ...block, ...head, pruned: body.pruned };
    case "conversation":
    case "turn":
      throw new Error("an op of the conversation has no block");
    default:
      return unreachable(body, "op");
  }
}

/** The splices of an op, whatever its type. */
export function splicesOf(op: Op): readonly Splice[] {
  switch (op.body.type) {
    case "create":
      return op.body.text === "" ? [] : [{ at: 0, del: "", ins: op.body.text }];
    case "append":
      return [{ at: op.body.at, del: "", ins: op.body.text }];
    case "splice":
      return op.body.splices;
    default:
      return [];
  }
}

export function countNewlines(text: string): number {
  let count = 0;
  for (let i = text.indexOf("\n"); i !== -1; i = text.indexOf("\n", i + 1)) count++;
  return count;
}

function created(op: Op, body: OpBody & { type: "create" }): Block {
  assert(op.block !== null && op.version === 1, "a block is created once");
  const block: Block = {
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
  };
  if (body.kind !== "tool_call") return block;
  const stage: Stage = isEnded(body.status) ? "end" : "start";
  return { ...block, metadata: { ...block.metadata, stage } };
}

/** A write makes a pending block run; a tool call's input increments are its streaming stage. */
function wrote(block: Block, stage: Stage | undefined): Block {
  const running: Block = block.status === "pending" ? { ...block, status: "running" } : block;
  if (running.kind !== "tool_call" || stage === undefined || running.metadata["stage"] !== "start")
    return running;
  return { ...running, metadata: { ...running.metadata, stage } };
}

/** A tool call whose stage moved on is running, whoever moved it. */
function withStage(block: Block): Block {
  const stage = block.metadata["stage"];
  if (block.kind !== "tool_call" || block.status !== "pending" || stage === "start") return block;
  return { ...block, status: "running" };
}

function withStatus(block: Block, status: Status): Block {
  const next: Block = { ...block, status };
  if (block.kind !== "tool_call") return next;
  const stage: Stage = isEnded(status) ? "end" : status === "running" ? "running" : "start";
  return { ...next, metadata: { ...next.metadata, stage } };
}

function grown(block: Block, splices: readonly Splice[]): { chars: number; newlines: number } {
  let { chars, newlines } = block;
  for (const { del, ins } of splices) {
    chars += ins.length - del.length;
    newlines += countNewlines(ins) - countNewlines(del);
  }
  return { chars, newlines };
}
