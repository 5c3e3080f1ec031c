/**
 * Reading over both layers of the store: the memtable first, then the tables. Turns, answers, logs, texts and raw streams, each
 * as it was acknowledged. Lists with conditions are query.ts; nothing is written here.
 */

import type { BlockId, BlockLog, ConversationId, Json, LogPoint, Op, RawRun, Turn } from "@blockyard/kernel";
import { storedConversationOps, storedOps, storedRaw, unpackCompacted } from "../encoding/flush.ts";
import { textOf } from "../encoding/text.ts";
import type { BlockHead, Memtable } from "./memtable.ts";
import type { Tables } from "./tables.ts";

export function readTurns(tables: Tables, memtable: Memtable, conversation: ConversationId): readonly Turn[] {
  const head = memtable.conversationHead(conversation);
  if (head === undefined) return [];
  const turns = new Map(head.stored ? tables.turns(head.row).map((turn) => [turn.id, turn]) : []);
  for (const [id, turn] of head.turns) turns.set(id, turn);
  return [...turns.values()];
}

export function readAnswer(
  tables: Tables,
  memtable: Memtable,
  conversation: ConversationId,
  key: string,
): Json | undefined {
  const head = memtable.conversationHead(conversation);
  const recent = head?.answers.get(key);
  if (recent !== undefined || !head?.stored) return recent;
  return tables.answer(head.row, key);
}

export function readLog(tables: Tables, memtable: Memtable, block: BlockId, after: LogPoint): BlockLog {
  const head = memtable.blockHead(block);
  if (head === undefined) return { ops: [] };
  const compacted = head.stored ? tables.compacted(head.row) : undefined;
  const stored = head.stored ? storedOps(tables, head, after, compacted?.version ?? 0) : [];
  const isAfter = (op: Op) => ("version" in after ? op.version > after.version : op.seq > after.seq);
  const ops = [...stored, ...head.pending.map(withOwnBytes)].filter(isAfter);
  if (compacted === undefined) return { ops };
  const replaced = "version" in after ? after.version < compacted.version : after.seq < compacted.seq;
  return replaced ? { compacted: unpackCompacted(compacted), ops } : { ops };
}

function withOwnBytes(op: Op): Op {
  return op.body.type === "splice" ? { ...op, body: { ...op.body, update: op.body.update.slice() } } : op;
}

export function readText(tables: Tables, memtable: Memtable, block: BlockId): string {
  const head = memtable.blockHead(block);
  if (head === undefined) return "";
  const compacted = head.stored ? tables.compacted(head.row) : undefined;
  const ops = opsOf(tables, head, compacted?.version ?? 0);
  return textOf(compacted === undefined ? "" : unpackCompacted(compacted).text, ops);
}

/** All ops of a block after its compaction. */
export function opsOf(tables: Tables, head: BlockHead, compacted: number): Op[] {
  const stored = head.stored ? storedOps(tables, head, { version: 0 }, compacted) : [];
  return [...stored, ...head.pending];
}

export function readConversationOps(
  tables: Tables,
  memtable: Memtable,
  conversation: ConversationId,
  afterSeq: number,
): readonly Op[] {
  const head = memtable.conversationHead(conversation);
  if (head === undefined) return [];
  const stored = head.stored ? storedConversationOps(tables, head, afterSeq) : [];
  return [...stored, ...head.pending].filter((op) => op.seq > afterSeq);
}

export function readRaw(tables: Tables, memtable: Memtable, run: RawRun): Uint8Array {
  const head = memtable.rawHead(run);
  if (head === undefined) return new Uint8Array();
  const stored = head.stored ? storedRaw(tables, head) : [];
  return new Uint8Array(Buffer.concat([...stored, ...head.pending]));
}

export function readRawRuns(
  tables: Tables,
  memtable: Memtable,
  conversation: ConversationId,
): readonly string[] {
  const runs = tables.raws(conversation).map((row) => [row.id, row.run] as const);
  const recent = memtable.dirtyRaws().filter((head) => head.run.conversation === conversation);
  const all = new Map([...runs, ...recent.map((head) => [head.row, head.run.run] as const)]);
  return [...all].sort(([a], [b]) => a - b).map(([, run]) => run);
}
