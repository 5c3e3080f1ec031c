/**
 * The op: one immutable committed change. The ops of a conversation, in order of `seq`, are the source of truth; a block is the
 * result of its ops, in order of `version`. This file defines them; apply.ts derives records from them, text/ the text.
 *
 * Numbers: `seq` is dense in a conversation and assigned by the store's commit. `version` is dense in a block. `unit`
 * identifies the undo step: it is the version of the step's first op.
 *
 * Runs: the store may merge consecutive appends of one undo step into one op that covers several versions. Such an op
 * has `versionFrom < version` and `seqFrom < seq` (ops of other blocks may lie between). Nothing else is ever merged.
 */

import type { ConversationPatch, Turn } from "./conversation.ts";
import type { AgentId, BlockId, ConversationId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Kind, Role, Status } from "./kind.ts";

/** Replaces `del` at `at` by `ins`. The splices of an op apply one after the other; offsets are in UTF-16 units. */
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
  /** Text appended to a plain block by its writer. `at` is the length before it. */
  | { readonly type: "append"; readonly at: number; readonly text: string }
  /** The text becomes a CRDT document, based on the text so far. */
  | { readonly type: "promote" }
  /**
   * A text change in a promoted block. `update` is the CRDT update, `splices` its effect on the text. `anchor`: where the
   * agent's append stream continues. `undo` and `redo`: the undo step that this op deactivates or reactivates.
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
  /** null for ops of the conversation itself; their versions mean nothing. */
  readonly block: BlockId | null;
  readonly version: number;
  readonly versionFrom: number;
  readonly agent: AgentId;
  readonly unit: number;
  /** Wall clock at planning time, for people to read. */
  readonly at: number;
  readonly body: OpBody;
}

/** Whether two appends of one undo step are adjacent, so that they can be merged into one op. */
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
