/**
 * Writing a fold: the text of a block at a version takes the place of the ops before it, in the tables. When to fold is the
 * kernel's business.
 */

import type { Fold } from "@blockyard/kernel";
import { assert, type BlockId } from "@blockyard/kernel/plain";
import { flush, packFold, rewriteOps } from "../encoding/flush.ts";
import { cutRun } from "../encoding/runs.ts";
import { opsOf } from "./layered-read.ts";
import type { AnyHead, ConversationHead, Memtable } from "./memtable.ts";
import type { Tables } from "./tables.ts";

/** Inside a transaction: puts the fold in the place of the ops before it. Gives the heads that this has flushed. */
export function writeFold(tables: Tables, memtable: Memtable, block: BlockId, fold: Fold): AnyHead[] {
  const head = memtable.blockHead(block);
  assert(head !== undefined, `fold of ${block}, which does not exist`);
  assert(fold.version <= head.record.version, `fold of ${block} at ${fold.version} is past its last version`);
  const older = head.stored ? tables.fold(head.row) : undefined;
  // A fold that came late is older than what is kept: its ops are gone already, and so is its use.
  if (older !== undefined && fold.version <= older.version) return [];
  const ops = opsOf(tables, head, older?.version ?? 0);
  // Of a run that the fold cuts, only the last number is known: history before it is better given twice than never.
  const seq = ops.findLast((op) => op.versionFrom <= fold.version)?.seq ?? 0;
  const kept = ops.filter((op) => op.version > fold.version);
  const heads: AnyHead[] = [head];
  const conversation = memtable.conversationHead(head.record.conversation) as ConversationHead;
  if (!conversation.stored) heads.unshift(conversation);
  for (const each of heads) flush(tables, memtable, each);
  rewriteOps(
    tables,
    head.row,
    kept.map((op) => cutRun(op, fold.version, fold.text.length)),
  );
  tables.putFold({ id: head.row, version: fold.version, seq, body: packFold(fold) });
  return heads;
}
