/**
 * The op: one immutable committed change. The ops of a conversation, in order of `seq`, are the ground truth; a block
 * is what its ops come to, in order of `version`. This file defines them; how a record follows from them is in
 * apply.ts, how the text does in text/.
 *
 * Numbers: `seq` is dense in a conversation and given by the store's commit. `version` is dense in a block. `unit` is
 * the version of the first op of the unit (the ops that undo together), so it needs no name of its own.
 *
 * Runs: the store may merge consecutive appends of one unit into one op that covers several versions. Such an op has
 * `versionFrom < version` and `seqFrom < seq` (other blocks' ops may lie between). Nothing else is ever merged.
 */

import type { ConversationPatch, Turn } from "./conversation.ts";
import type { AgentId, BlockId, ConversationId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Kind, Role, Status } from "./kind.ts";

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

/** Whether an op is an append of the same unit, right behind another: the two can be one. */
export function continues(before: Op, op: Op): boolean {
  return (
    before.body.type === "append" &&
    op.body.type === "append" &&
    before.unit === op.unit &&
    before.agent === op.agent &&
    before.version + 1 === op.versionFrom &&
    before.body.at + before.body.text.length === op.body.at
  );
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
