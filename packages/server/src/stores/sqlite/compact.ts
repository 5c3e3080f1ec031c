/**
 * Writing a compaction: the text of a block at a version takes the place of the ops before it, in the tables. When to compact is the
 * kernel's business.
 */

import type { Compacted } from "@blockyard/kernel";
import { assert, type BlockId } from "@blockyard/kernel/plain";
import { flush, packCompacted, rewriteOps } from "../encoding/flush.ts";
import { cutRun } from "../encoding/runs.ts";
import { opsOf } from "./layered-read.ts";
import type { AnyHead, ConversationHead, Memtable } from "./memtable.ts";
import type { Tables } from "./tables.ts";

/** Inside a transaction: replaces the ops by the compaction. Returns the heads that this has flushed. */
export function writeCompacted(
  tables: Tables,
  memtable: Memtable,
  block: BlockId,
  compacted: Compacted,
): AnyHead[] {
  const head = memtable.blockHead(block);
  assert(head !== undefined, `compaction of ${block}, which does not exist`);
  assert(
    compacted.version <= head.record.version,
    `compaction of ${block} at ${compacted.version} is past its last version`,
  );
  const older = head.stored ? tables.compacted(head.row) : undefined;
  // A compaction that came late is older than the stored one: its ops are already gone, so it is useless.
  if (older !== undefined && compacted.version <= older.version) return [];
  const ops = opsOf(tables, head, older?.version ?? 0);
  // Of a run that the compaction cuts, only the last number is known: history before it is better given twice than never.
  const seq = ops.findLast((op) => op.versionFrom <= compacted.version)?.seq ?? 0;
  const kept = ops.filter((op) => op.version > compacted.version);
  const heads: AnyHead[] = [head];
  const conversation = memtable.conversationHead(head.record.conversation) as ConversationHead;
  if (!conversation.stored) heads.unshift(conversation);
  for (const each of heads) flush(tables, memtable, each);
  rewriteOps(
    tables,
    head.row,
    kept.map((op) => cutRun(op, compacted.version, compacted.text.length)),
  );
  tables.putCompacted({ id: head.row, version: compacted.version, seq, body: packCompacted(compacted) });
  return heads;
}
