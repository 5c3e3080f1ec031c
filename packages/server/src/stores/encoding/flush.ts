/**
 * Flushing: writes heads (memtable.ts) into the tables, inside a transaction that the caller has begun. The heads
 * themselves are updated only after the transaction was committed. Also the reverse: reads an owner's data from the
 * tables.
 */

import type { Compacted, LogPoint, Op } from "@blockyard/kernel";
import { type BlockId, type ConversationId, isEnded, limits } from "@blockyard/kernel/plain";
import type { AnyHead, BlockHead, ConversationHead, Memtable, RawHead } from "../sqlite/memtable.ts";
import type { ChunkRow, CompactedRow } from "../sqlite/table-row.ts";
import type { Tables } from "../sqlite/tables.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { compress, decompress } from "./codec.ts";
import { corrupt } from "./fault.ts";
import { chunksToMerge, decodeOps, encodeOps, mergeRuns } from "./runs.ts";

/** What is encoded here goes into a row at once: consecutive uses may share the same memory. */
const scratch = new ByteWriter();

interface Slice {
  readonly maxHeads: number;
  readonly maxBytes: number;
  /** Heads whose changes begin before this journal row are flushed however little they have, so that it can be deleted. */
  readonly overdue: number;
  readonly except: ReadonlySet<AnyHead>;
}

/**
 * The heads to flush: first the overdue, then those that are worth it, longest waiting first. A block comes after its
 * conversation, by whose number it is found.
 */
export function pickHeads(memtable: Memtable, { maxHeads, maxBytes, overdue, except }: Slice): Set<AnyHead> {
  const picked = new Set<AnyHead>();
  let bytes = 0;
  const isFull = () => picked.size >= maxHeads || bytes >= maxBytes;
  const pick = (head: AnyHead) => {
    if (except.has(head) || picked.has(head)) return;
    if (head.type === "block") {
      const conversation = memtable.conversationHead(head.record.conversation) as ConversationHead;
      if (!conversation.stored) picked.add(conversation);
    }
    picked.add(head);
    bytes += head.pendingBytes;
  };
  for (const head of memtable.dirty) {
    if (head.since >= overdue || isFull()) break;
    pick(head);
  }
  for (const head of memtable.worthwhile) {
    if (isFull()) break;
    pick(head);
  }
  return picked;
}

/** Writes what the tables lack of `head`. */
export function flush(tables: Tables, memtable: Memtable, head: AnyHead): void {
  if (head.type === "conversation") flushConversation(tables, head);
  else if (head.type === "block") flushBlock(tables, memtable, head);
  else flushRaw(tables, head);
}

/** Replaces all chunks of a block by those ops. */
export function rewriteOps(tables: Tables, row: number, ops: readonly Op[]): void {
  tables.deleteChunks(row);
  // No chunk is merged, so no names are needed.
  addOps(tables, { row, stored: false }, { conversation: "", block: "", ended: false }, ops);
}

/** A block as far as the tables have it; `pending`: what they lack. */
type StoredHead = Pick<BlockHead, "row" | "record" | "pending">;

/**
 * A block's ops in the tables, from the chunks that end after a point. They must be complete: a damaged key leaves a
 * gap between the compaction, the chunks and the version in the block's row.
 */
export function storedOps(tables: Tables, head: StoredHead, after: LogPoint, compacted: number): Op[] {
  const { id, conversation } = head.record;
  const from = "version" in after ? Math.max(after.version, compacted) : compacted;
  const stored = (head.pending[0]?.versionFrom ?? head.record.version + 1) - 1;
  const chunks =
    "version" in after ? tables.chunks(head.row, after.version) : tables.chunks(head.row, -1, after.seq);
  let last = "version" in after ? from : (chunks[0]?.first ?? lastVersion(tables, head, compacted) + 1) - 1;
  for (const chunk of chunks) {
    if (chunk.first > last + 1)
      throw corrupt(`${id}: versions ${last + 1} to ${chunk.first - 1} are missing`);
    last = chunk.last;
  }
  if (last < stored) throw corrupt(`${id}: versions ${last + 1} to ${stored} are missing`);
  return chunks.flatMap((chunk) => openOps(tables, chunk, conversation, id));
}

export function storedConversationOps(tables: Tables, head: ConversationHead, afterSeq: number): Op[] {
  const chunks = tables.chunks(head.row, afterSeq);
  const last = chunks.at(-1)?.last ?? Math.min(afterSeq, head.ops);
  if (last < head.ops) throw corrupt(`ops of ${head.record.id} after ${last} are missing`);
  return chunks.flatMap((chunk) => openOps(tables, chunk, head.record.id, null));
}

export function storedRaw(tables: Tables, head: RawHead): Uint8Array[] {
  const chunks = tables.chunks(head.row);
  let at = 0;
  for (const { first, last } of chunks) {
    if (first !== at) throw corrupt(`raw run ${head.run.run}: bytes ${at} to ${first} are missing`);
    at = last;
  }
  if (at !== head.bytes) throw corrupt(`raw run ${head.run.run}: bytes ${at} to ${head.bytes} are missing`);
  return chunks.map((chunk) => tables.dictionaries.unpack(chunk));
}

/** The text, the anchors, and what follows as bits: the CRDT state, the editors. */
export function packCompacted({ text, anchors, state, editors }: Compacted): Uint8Array {
  const writer = new ByteWriter(text.length + 64);
  writer.string(text);
  writer.json(anchors);
  writer.varint((state === undefined ? 0 : HAS_STATE) | (editors === undefined ? 0 : HAS_EDITORS));
  if (state !== undefined) writer.bytes(state);
  if (editors !== undefined) writer.json(editors);
  return compress(writer.view());
}

export function unpackCompacted({ version, body }: CompactedRow): Compacted {
  const reader = new ByteReader(decompress(body));
  const text = reader.string();
  const anchors = reader.json<{ readonly [agent: string]: string }>();
  const has = reader.varint();
  return {
    ...{ version, text, anchors },
    ...(has & HAS_STATE ? { state: reader.bytes() } : {}),
    ...(has & HAS_EDITORS ? { editors: reader.json<readonly string[]>() } : {}),
  };
}

const HAS_STATE = 1;
const HAS_EDITORS = 2;

function flushConversation(tables: Tables, head: ConversationHead): void {
  const { row, record, pending } = head;
  addOps(tables, head, { conversation: record.id, block: null, ended: false }, pending);
  const ops = pending.at(-1)?.seq ?? head.ops;
  tables.putConversation({ id: row, record, ops, journal: head.changed });
  for (const turn of head.turns.values()) tables.putTurn(row, turn);
  for (const [key, answer] of head.answers) tables.putAnswer(row, key, answer);
  if (head.answers.size > 0) tables.trimAnswers(row, limits.keysPerConversation);
}

function flushBlock(tables: Tables, memtable: Memtable, head: BlockHead): void {
  const { row, record, pending } = head;
  const conversation = memtable.conversationHead(record.conversation) as ConversationHead;
  const ended = isEnded(record.status);
  const owner: Owner = { conversation: record.conversation, block: record.id, ended };
  addOps(tables, head, owner, pending);
  tables.putBlock({ id: row, conversation: conversation.row, record, journal: head.changed });
}

function flushRaw(tables: Tables, { row, run, bytes, pending, changed }: RawHead): void {
  let plain: Uint8Array = Buffer.concat(pending);
  const last = bytes + plain.length;
  const merged = chunksToMerge(tables.newestChunks(row), plain.length, false).reverse();
  const older = merged.map(({ id }) => tables.chunk(id));
  plain = Buffer.concat([...older.map((chunk) => tables.dictionaries.unpack(chunk)), plain]);
  for (const { id } of merged) tables.deleteChunk(id);
  tables.addChunk(row, older[0]?.first ?? bytes, last, 0, tables.dictionaries.pack(plain, true));
  tables.putRaw({ id: row, ...run, bytes: last, journal: changed });
}

interface Owner {
  readonly conversation: ConversationId;
  readonly block: BlockId | null;
  readonly ended: boolean;
}

/** Adds ops after an owner's chunks, if it has any. */
function addOps(
  tables: Tables,
  { row, stored }: { readonly row: number; readonly stored: boolean },
  owner: Owner,
  added: readonly Op[],
): void {
  let ops = mergeRuns(added);
  if (ops.length === 0) return;
  let plain = encodeOps(ops, scratch);
  const merged = stored ? chunksToMerge(tables.newestChunks(row), plain.length, owner.ended).reverse() : [];
  if (merged.length > 0) {
    const older = merged.flatMap(({ id }) =>
      openOps(tables, tables.chunk(id), owner.conversation, owner.block),
    );
    ops = mergeRuns([...older, ...ops]);
    plain = encodeOps(ops, scratch);
  }
  // Replaced chunks are deleted first.
  for (const { id } of merged) tables.deleteChunk(id);
  const { versionFrom, seqFrom } = ops[0] as Op;
  const { version, seq } = ops[ops.length - 1] as Op;
  const isBlock = owner.block !== null;
  const packed = tables.dictionaries.pack(plain, !owner.ended);
  tables.addChunk(row, isBlock ? versionFrom : seqFrom, isBlock ? version : seq, seq, packed);
}

function openOps(tables: Tables, chunk: ChunkRow, conversation: ConversationId, block: BlockId | null): Op[] {
  return decodeOps(tables.dictionaries.unpack(chunk), conversation, block);
}

function lastVersion(tables: Tables, head: StoredHead, compacted: number): number {
  for (const { last } of tables.newestChunks(head.row)) return last;
  return compacted;
}
