/**
 * What every store does alike, written once: the checks before a commit, the meaning of a query, how a splice applies,
 * and the error that a store throws when it cannot do its work. No storage here.
 */

import { AssertionError, assert } from "../model/assert.ts";
import type { Block } from "../model/block.ts";
import type { Conversation } from "../model/conversation.ts";
import type { BlockId, ConversationId } from "../model/ids.ts";
import type { Op, Splice } from "../model/op.ts";
import type { BlockQuery, Commit, SearchPlace } from "./store.ts";

/**
 * Why a store could not do a request. Nothing of the commit was kept, unless the store says that it does not know.
 *
 *   full      no space; reads continue, and commits too as soon as there is space again
 *   io        the device or the file system failed
 *   corrupt   stored data differs from what was written
 *   version   a database of another program, or of a newer version of this one
 *   locked    another process has the database open
 *   closed    the store was closed
 *   lost      the database was deleted, replaced or overwritten under the store, which stops writing
 */
export type StoreErrorCode = "full" | "io" | "corrupt" | "version" | "locked" | "closed" | "lost";

export class StoreError extends Error {
  override name = "StoreError";
  readonly code: StoreErrorCode;
  /** The commit may be there, or may be there after the next start: reading now does not tell. */
  readonly isUncertain: boolean;

  constructor(
    code: StoreErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly isUncertain?: boolean } = {},
  ) {
    super(message, options);
    this.code = code;
    this.isUncertain = options.isUncertain === true;
  }
}

/**
 * Throws on a commit that no correct kernel makes: gaps in sequence numbers or versions, a touched block without its
 * record, a record whose seq differs from its ops. Every store runs it before it writes.
 */
export function checkCommit(commit: Commit, storedVersion: (block: BlockId) => number): void {
  const { conversation, expectedSeq, ops, blocks } = commit;
  const lone = ops.length === 1 && blocks.length === 1 ? blocks[0] : undefined;
  if (lone !== undefined && ops[0]?.block === lone.id) return checkLone(commit, storedVersion(lone.id));
  checkRecord(commit);
  const versions = new Map<BlockId, number>();
  for (const [i, op] of ops.entries()) {
    checkOp(op, conversation, expectedSeq + 1 + i);
    if (op.block === null) continue;
    const version = (versions.get(op.block) ?? storedVersion(op.block)) + 1;
    checkVersion(op, op.block, version);
    versions.set(op.block, version);
  }
  for (const block of blocks) {
    const version = versions.get(block.id) ?? storedVersion(block.id);
    if (block.version !== version || version === 0)
      broken(`${block.id}: record at ${block.version}, ops at ${version}`);
    versions.delete(block.id);
  }
  if (versions.size > 0) broken(`commit without the record of ${[...versions.keys()].join(", ")}`);
}

/** The same for one op on one block, the most common commit. */
export function checkLone(commit: Commit, storedVersion: number): void {
  const { conversation, expectedSeq, ops, blocks } = commit;
  const op = ops[0] as Op;
  const { id, version } = blocks[0] as Block;
  checkRecord(commit);
  checkOp(op, conversation, expectedSeq + 1);
  checkVersion(op, id, storedVersion + 1);
  if (version !== op.version) broken(`${id}: record at ${version}, ops at ${op.version}`);
}

function checkRecord({ conversation, expectedSeq, ops, record }: Commit): void {
  if (record.id !== conversation) broken(`commit to ${conversation} carries the record of ${record.id}`);
  if (record.seq !== expectedSeq + ops.length) {
    broken(`record at ${record.seq} after ${expectedSeq} + ${ops.length}`);
  }
}

function checkOp(op: Op, conversation: ConversationId, seq: number): void {
  const { body } = op;
  if (op.conversation !== conversation) broken(`op of ${op.conversation} in a commit to ${conversation}`);
  if (op.seq !== seq || op.seqFrom !== seq) broken(`op ${op.seqFrom}..${op.seq} where ${seq} is next`);
  const whole =
    body.type === "append" || body.type === "create"
      ? body.text.isWellFormed()
      : body.type !== "splice" ||
        body.splices.every(({ del, ins }) => del.isWellFormed() && ins.isWellFormed());
  if (!whole) broken(`${op.block}: half a character in op ${op.seq}`);
}

function checkVersion(op: Op, block: BlockId, version: number): void {
  if (op.version !== version || op.versionFrom !== version)
    broken(`${block}: version ${op.version}, not ${version}`);
  if ((op.body.type === "create") !== (version === 1))
    broken(`${block}: ${op.body.type} as version ${version}`);
}

function broken(what: string): never {
  throw new AssertionError(what);
}

/** Whether a block matches the query, apart from order and limit. */
export function fitsQuery(block: Block, query: BlockQuery): boolean {
  const { conversation, except, parent, kinds, status, pathPrefix, changedSince, before, after } = query;
  if (conversation !== undefined && block.conversation !== conversation) return false;
  if (except?.includes(block.conversation)) return false;
  if (parent !== undefined && block.parent !== parent) return false;
  if (kinds !== undefined && !kinds.includes(block.kind)) return false;
  if (status !== undefined && block.status !== status) return false;
  if (changedSince !== undefined && block.seq <= changedSince) return false;
  if (before !== undefined && block.born >= before) return false;
  if (after !== undefined && block.born <= after) return false;
  if (pathPrefix === undefined) return true;
  const path = block.metadata.path;
  return typeof path === "string" && path.startsWith(pathPrefix);
}

/** Newest first. Ties within a millisecond are ordered by id. */
export function newestFirst(a: Conversation, b: Conversation): number {
  return b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/**
 * Oldest first. Inside one conversation this is the order of creation; across several only the clock orders them, so
 * only queries without a conversation depend on it.
 */
export function oldestFirst(query: BlockQuery): (a: Block, b: Block) => number {
  if (query.conversation !== undefined) return (a, b) => a.born - b.born;
  return (a, b) => newestBlockFirst(b, a);
}

/** The order in which blocks of everywhere are searched. */
export function newestBlockFirst(a: SearchPlace, b: SearchPlace): number {
  const age = b.createdAt - a.createdAt;
  if (age !== 0) return age;
  return a.conversation < b.conversation ? 1 : a.conversation > b.conversation ? -1 : b.born - a.born;
}

/** The text after one splice; the deleted text must be there. */
export function spliced(text: string, { at, del, ins }: Splice): string {
  assert(
    text.startsWith(del, at) && at <= text.length,
    `splice at ${at} does not fit a text of ${text.length}`,
  );
  return text.slice(0, at) + ins + text.slice(at + del.length);
}
