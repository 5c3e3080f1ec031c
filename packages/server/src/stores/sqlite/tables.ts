/**
 * The tables, a row at a time: prepared statements, and the checksum written with every row. What belongs into a row is
 * decided elsewhere (flush.ts); which rows a query wants, too (query.ts); how a row is opened is table-row.ts.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ConversationId, Json, Turn } from "@blockyard/kernel";
import { packBlock, packJson } from "../encoding/codec.ts";
import { checkSum, corrupt, rowSum } from "../encoding/fault.ts";
import { Dictionaries, type Packed } from "./dictionary.ts";
import {
  type BlockRow,
  type ChunkRow,
  type CompactedRow,
  type ConversationRow,
  checkChunk,
  type NamedRow,
  openBlock,
  openConversation,
  openNamed,
  openRaw,
  parentColumn,
  pathColumn,
  type RawRow,
  type StoredBlock,
  type StoredConversation,
} from "./table-row.ts";

// Not a replacement of the row: that would write all its indexes again, and most of them do not change.
const PUT_BLOCK = `INSERT INTO block VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
  seq = excluded.seq, version = excluded.version, status = excluded.status, path = excluded.path,
  journal = excluded.journal, sum = excluded.sum, body = excluded.body`;
const PUT_CONVERSATION = `INSERT INTO conversation VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
  updated_at = excluded.updated_at, seq = excluded.seq, ops = excluded.ops, journal = excluded.journal,
  sum = excluded.sum, body = excluded.body`;

const ADD_CHUNK = `INSERT INTO chunk (owner, first, last, seq, dictionary, plain, sum, body)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
const CHUNK_COLUMNS = "id, owner, first, last, seq, dictionary, plain, sum, body";

export class Tables {
  readonly #db: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();
  readonly dictionaries: Dictionaries;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.dictionaries = new Dictionaries(this);
  }

  get<T>(sql: string, ...values: (number | string | bigint | null)[]): T | undefined {
    return this.statement(sql).get(...values) as T | undefined;
  }

  all<T>(sql: string, ...values: (number | string | bigint | null)[]): T[] {
    return this.statement(sql).all(...values) as T[];
  }

  /** One row after the other, as many as are consumed. */
  each<T>(sql: string, ...values: (number | string | bigint | null)[]): Iterable<T> {
    return this.statement(sql).iterate(...values) as Iterable<T>;
  }

  run(sql: string, ...values: (number | string | bigint | null | Uint8Array)[]): void {
    this.statement(sql).run(...values);
  }

  /** Texts of statements are few: they are written in this folder, and queries have a limited number of shapes. */
  statement(sql: string): StatementSync {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }

  /** The largest number that a conversation, a block or a raw run has, or has had before it was removed. */
  lastId(): number {
    const row = this.get<{ id: number }>(`SELECT max(
      (SELECT ifnull(max(id), 0) FROM conversation), (SELECT ifnull(max(id), 0) FROM block),
      (SELECT ifnull(max(id), 0) FROM raw)) AS id`);
    return Math.max(row?.id ?? 0, Number(this.meta("rows") ?? 0));
  }

  meta(key: string): string | undefined {
    const row = this.get<{ value: string; sum: number }>("SELECT value, sum FROM meta WHERE key = ?", key);
    if (row === undefined) return undefined;
    checkSum(`meta ${key}`, row.sum, [key, row.value]);
    return row.value;
  }

  /** The rows of `meta` whose keys begin with this. */
  metaFrom(prefix: string): (readonly [key: string, value: string])[] {
    const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
    const sql = "SELECT key, value, sum FROM meta WHERE key >= ? AND key < ?";
    return this.all<{ key: string; value: string; sum: number }>(sql, prefix, end).map(
      ({ key, value, sum }) => {
        checkSum(`meta ${key}`, sum, [key, value]);
        return [key, value] as const;
      },
    );
  }

  putMeta(key: string, value: string): void {
    this.run("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", key, value, rowSum([key, value]));
  }

  // -- journal

  addJournal(id: number, body: Uint8Array): void {
    this.run("INSERT INTO journal VALUES (?, ?, ?)", id, rowSum([id], body), body);
  }

  *journal(): Generator<{ id: number; body: Uint8Array }> {
    const sql = "SELECT id, sum, body FROM journal ORDER BY id";
    for (const row of this.each<{ id: number; sum: number; body: Uint8Array }>(sql)) {
      checkSum(`journal ${row.id}`, row.sum, [row.id], row.body);
      yield row;
    }
  }

  lastJournal(): number {
    return this.get<{ id: number }>("SELECT ifnull(max(id), 0) AS id FROM journal")?.id ?? 0;
  }

  deleteJournalBefore(id: number): void {
    this.run("DELETE FROM journal WHERE id < ?", id);
  }

  // -- conversations

  conversation(name: ConversationId): ConversationRow | undefined {
    const row = this.get<StoredConversation>("SELECT * FROM conversation WHERE name = ?", name);
    return row && openConversation(row);
  }

  putConversation({ id, record, ops, journal }: ConversationRow): void {
    const body = packJson(record);
    const { id: name, updatedAt, seq } = record;
    const sum = rowSum([id, name, updatedAt, seq, ops, journal], body);
    this.statement(PUT_CONVERSATION).run(id, name, updatedAt, seq, ops, journal, sum, body);
  }

  // -- blocks

  block(conversation: number, name: ConversationId, born: number): BlockRow | undefined {
    const row = this.get<StoredBlock>(
      "SELECT * FROM block WHERE conversation = ? AND born = ?",
      conversation,
      born,
    );
    return row && openBlock(row, name);
  }

  putBlock({ id, conversation, record, journal }: BlockRow): void {
    const { born, seq, version, createdAt, kind, status } = record;
    const body = packBlock(record);
    const parent = parentColumn(record);
    const path = pathColumn(record);
    const columns = [id, conversation, born, seq, version, createdAt, parent, kind, status, path, journal];
    const sum = rowSum(columns, body);
    const place = typeof parent === "number" ? BigInt(parent) : parent;
    const put = this.statement(PUT_BLOCK);
    put.run(id, conversation, born, seq, version, createdAt, place, kind, status, path, journal, sum, body);
  }

  // -- chunks

  /** Chunks of an owner, oldest first: those that end after `last`, and after the sequence number `seq`. */
  chunks(owner: number, last = -1, seq = -1): ChunkRow[] {
    const rows = this.all<ChunkRow>(
      `SELECT ${CHUNK_COLUMNS} FROM chunk WHERE owner = ? AND last > ? AND seq > ? ORDER BY last`,
      owner,
      last,
      seq,
    );
    for (const row of rows) checkChunk(row);
    return rows;
  }

  /** The chunks of an owner, newest first, without their bodies: as many as are consumed. */
  *newestChunks(owner: number): Generator<Omit<ChunkRow, "body" | "sum">> {
    const sql =
      "SELECT id, owner, first, last, seq, dictionary, plain FROM chunk WHERE owner = ? ORDER BY last DESC";
    yield* this.each<ChunkRow>(sql, owner);
  }

  chunk(id: number): ChunkRow {
    const row = this.get<ChunkRow>(`SELECT ${CHUNK_COLUMNS} FROM chunk WHERE id = ?`, id);
    if (row === undefined) throw corrupt(`chunk ${id} is missing`);
    checkChunk(row);
    return row;
  }

  addChunk(owner: number, first: number, last: number, seq: number, packed: Packed): void {
    const { dictionary, plain, body } = packed;
    const sum = rowSum([owner, first, last, seq, dictionary, plain], body);
    this.statement(ADD_CHUNK).run(owner, first, last, seq, dictionary, plain, sum, body);
  }

  deleteChunk(id: number): void {
    this.run("DELETE FROM chunk WHERE id = ?", id);
  }

  deleteChunks(owner: number): void {
    this.run("DELETE FROM chunk WHERE owner = ?", owner);
  }

  // -- dictionaries

  lastDictionary(): number {
    return this.get<{ id: number }>("SELECT ifnull(max(id), 0) AS id FROM dictionary")?.id ?? 0;
  }

  /** The first undamaged copy. */
  dictionary(id: number): Uint8Array | undefined {
    const copies = this.all<{ copy: number; sum: number; body: Uint8Array }>(
      "SELECT copy, sum, body FROM dictionary WHERE id = ? ORDER BY copy",
      id,
    );
    return copies.find(({ copy, sum, body }) => sum === rowSum([id, copy], body))?.body;
  }

  addDictionary(id: number, body: Uint8Array): void {
    for (const copy of [0, 1]) {
      this.run("INSERT INTO dictionary VALUES (?, ?, ?, ?)", id, copy, rowSum([id, copy], body), body);
    }
  }

  // -- compactions

  compacted(block: number): CompactedRow | undefined {
    const row = this.get<CompactedRow & { sum: number }>("SELECT * FROM fold WHERE id = ?", block);
    if (row !== undefined)
      checkSum(`compaction ${row.id}`, row.sum, [row.id, row.version, row.seq], row.body);
    return row;
  }

  putCompacted({ id, version, seq, body }: CompactedRow): void {
    const columns = [id, version, seq] as const;
    this.run("INSERT OR REPLACE INTO fold VALUES (?, ?, ?, ?, ?)", ...columns, rowSum(columns, body), body);
  }

  /** Deletes some of the filters that earlier versions of the program kept. False: there are none left. */
  deleteFilters(limit: number): boolean {
    const sql = "DELETE FROM filter WHERE id IN (SELECT id FROM filter LIMIT ?)";
    return Number(this.statement(sql).run(limit).changes) > 0;
  }

  // -- turns and answers

  turns(conversation: number): Turn[] {
    const rows = this.all<NamedRow>("SELECT * FROM turn WHERE conversation = ? ORDER BY id", conversation);
    return rows.map((row) => openNamed<Turn>("turn", row));
  }

  putTurn(conversation: number, turn: Turn): void {
    const stored = this.get<{ id: number }>(
      "SELECT id FROM turn WHERE conversation = ? AND name = ?",
      conversation,
      turn.id,
    );
    const id = stored?.id ?? this.#nextId("turn");
    this.#putNamed("turn", id, conversation, turn.id, turn);
  }

  answer(conversation: number, key: string): Json | undefined {
    const sql =
      "SELECT id, conversation, key AS name, sum, body FROM answer WHERE conversation = ? AND key = ?";
    const row = this.get<NamedRow>(sql, conversation, key);
    return row && openNamed<Json>("answer", row);
  }

  putAnswer(conversation: number, key: string, answer: Json): void {
    this.#putNamed("answer", this.#nextId("answer"), conversation, key, answer);
  }

  /** Keeps the newest `keep` answers of a conversation. */
  trimAnswers(conversation: number, keep: number): void {
    const oldest = this.get<{ id: number }>(
      "SELECT id FROM answer WHERE conversation = ? ORDER BY id DESC LIMIT 1 OFFSET ?",
      conversation,
      keep,
    );
    if (oldest) this.run("DELETE FROM answer WHERE conversation = ? AND id <= ?", conversation, oldest.id);
  }

  // -- raw runs and blobs

  raw(conversation: ConversationId, run: string): RawRow | undefined {
    const sql = "SELECT * FROM raw WHERE conversation = ? AND run = ?";
    const row = this.get<RawRow & { sum: number }>(sql, conversation, run);
    return row && openRaw(row);
  }

  raws(conversation: ConversationId): RawRow[] {
    const sql = "SELECT * FROM raw WHERE conversation = ? ORDER BY id";
    return this.all<RawRow & { sum: number }>(sql, conversation).map(openRaw);
  }

  putRaw({ id, conversation, run, bytes, journal }: RawRow): void {
    const columns = [id, conversation, run, bytes, journal] as const;
    this.run("INSERT OR REPLACE INTO raw VALUES (?, ?, ?, ?, ?, ?)", ...columns, rowSum(columns));
  }

  blob(hash: string): { readonly mediaType: string; readonly bytes: Uint8Array } | undefined {
    const row = this.get<{ media_type: string; sum: number; body: Uint8Array }>(
      "SELECT media_type, sum, body FROM blob WHERE hash = ?",
      hash,
    );
    if (row === undefined) return undefined;
    checkSum(`blob ${hash}`, row.sum, [hash, row.media_type], row.body);
    return { mediaType: row.media_type, bytes: row.body };
  }

  putBlob(hash: string, mediaType: string, bytes: Uint8Array): void {
    const sql = "INSERT OR IGNORE INTO blob (hash, media_type, sum, body) VALUES (?, ?, ?, ?)";
    this.run(sql, hash, mediaType, rowSum([hash, mediaType], bytes), bytes);
  }

  #putNamed(table: "turn" | "answer", id: number, conversation: number, name: string, value: unknown): void {
    const body = packJson(value);
    const columns = [id, conversation, name] as const;
    this.run(
      `INSERT OR REPLACE INTO ${table} VALUES (?, ?, ?, ?, ?)`,
      ...columns,
      rowSum(columns, body),
      body,
    );
  }

  #nextId(table: "turn" | "answer"): number {
    return (this.get<{ id: number }>(`SELECT ifnull(max(id), 0) + 1 AS id FROM ${table}`) as { id: number })
      .id;
  }
}
