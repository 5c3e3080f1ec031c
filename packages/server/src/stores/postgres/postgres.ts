/**
 * The store on PostgreSQL: any number of nodes on one database, each conversation's row the sequencer of its ops, a
 * commit acknowledged when the server has it on its device. Nothing is kept here that the database does not have,
 * except a cache that saves queries (versions.ts).
 *
 * Not here: commits (writer.ts, group.ts), queries (query.ts), tables (schema.ts), background work (gather.ts), the
 * search thread (search.worker.ts), and how a node learns of other nodes' commits.
 */

import { randomBytes } from "node:crypto";
import type {
  Block,
  BlockLog,
  BlockQuery,
  Commit,
  CommitAnswer,
  Compacted,
  Conversation,
  ConversationQuery,
  DeletionLog,
  LogPoint,
  Missed,
  Op,
  RawRun,
  SearchAnswer,
  SearchQuery,
  Store,
  Turn,
  TurnedCommit,
} from "@blockyard/kernel";
import {
  type BlockId,
  type ConversationId,
  type Json,
  type Problem,
  StoreError,
} from "@blockyard/kernel/plain";
import { DatabaseAddress } from "../../config/database-address.ts";
import { SearchPool } from "../../search/pool.ts";
import { unpackJson } from "../encoding/codec.ts";
import { textOf } from "../encoding/text.ts";
import { postgresAudit } from "./audit.ts";
import { compactBlock } from "./compact.ts";
import { type Connection, Connections } from "./connections.ts";
import { postgresDeletions } from "./deletions.ts";
import { damaged } from "./fault.ts";
import { Gatherer } from "./gather.ts";
import { PREPARE_MS } from "./limits.ts";
import { readAnswers, readMissed } from "./missed.ts";
import { queryBlocks, queryConversations, readBlock, readConversationOps, readLog } from "./query.ts";
import { PostgresRegister } from "./register.ts";
import { isText, keyOf, openRecord, type Packed, unpack } from "./rows.ts";
import { prepare, requireSame } from "./schema.ts";
import { Writer } from "./writer.ts";

/** How the connections of all nodes are called, for whoever looks at the server; each node adds a name of its own. */
const PROGRAM = "blockyard";

export interface PostgresOptions {
  /** How long the end of a commit is waited for whose answer was lost. Small numbers are for tests. */
  readonly doubtMs?: number;
  /** How long a blob that nobody names is kept after it was put. Small numbers are for tests. */
  readonly blobGraceMs?: number;
}

export async function openPostgresStore(
  url: string | DatabaseAddress,
  options: PostgresOptions = {},
): Promise<PostgresStore> {
  const address = typeof url === "string" ? new DatabaseAddress(url) : url;
  const node = `${PROGRAM} ${randomBytes(6).toString("base64url")}`;
  const connections = new Connections(address, node);
  const preparing = new Connections(address, node, { max: 1, answerMs: PREPARE_MS });
  try {
    const opening = `cannot open ${address.shown}`;
    const opened = await preparing.again(opening, (connection) => prepare(connection, address.shown));
    connections.expect((connection) => requireSame(connection, address.shown, opened));
    return new PostgresStore(address, connections, opened.epoch, options);
  } catch (error) {
    await connections.close();
    throw error;
  } finally {
    await preparing.close();
  }
}

export class PostgresStore implements Store {
  readonly address: DatabaseAddress;
  readonly epoch: string;
  readonly nodes: PostgresRegister;
  readonly deletions: DeletionLog;
  readonly #connections: Connections;
  readonly #writer: Writer;
  /** For conversations that other nodes write to as well: whoever waits for their locks holds up nobody else. */
  readonly #turnWriter: Writer;
  readonly #gatherer: Gatherer;
  readonly #searchPool: SearchPool;
  #closed = false;

  constructor(
    address: DatabaseAddress,
    connections: Connections,
    epoch: string,
    { doubtMs, blobGraceMs }: PostgresOptions,
  ) {
    this.address = address;
    this.epoch = epoch;
    this.#connections = connections;
    this.nodes = new PostgresRegister(connections);
    this.deletions = postgresDeletions((doing, work) => this.#read(doing, work), blobGraceMs);
    this.#gatherer = new Gatherer(connections);
    this.#writer = new Writer(connections, () => this.#gatherer.wake(), doubtMs);
    this.#turnWriter = new Writer(connections, () => this.#gatherer.wake(), doubtMs);
    this.#searchPool = new SearchPool({
      path: address.reveal(),
      program: new URL("./search.worker.ts", import.meta.url),
    });
  }

  async commit(commit: Commit): Promise<CommitAnswer> {
    this.#assertOpen("commit");
    return this.#writer.commit(commit);
  }

  async commitInTurn(commit: TurnedCommit): Promise<CommitAnswer> {
    this.#assertOpen("commit");
    return this.#turnWriter.commitInTurn(commit);
  }

  async missed(conversation: ConversationId, since: number): Promise<Missed | undefined> {
    if (!isText(conversation)) return undefined;
    await this.#requireCertain(conversation);
    const known = new Map([[conversation, since]]);
    const missed = await this.#read("missed", (connection) => readMissed(connection, known));
    return missed.get(conversation);
  }

  async conversation(id: ConversationId): Promise<Conversation | undefined> {
    if (!isText(id)) return undefined;
    await this.#requireCertain(id);
    const [row] = await this.#rows<{ body: Buffer }>(
      "conversation",
      "SELECT body FROM blockyard.conversation WHERE name = $1",
      [id],
    );
    return row && openRecord(row.body);
  }

  async seqs(ids: readonly ConversationId[]): Promise<ReadonlyMap<ConversationId, number>> {
    const rows = await this.#rows<{ name: string; seq: number }>(
      "seqs",
      "SELECT name, seq FROM blockyard.conversation WHERE name = ANY($1::text[])",
      [ids.filter(isText)],
    );
    return new Map(rows.map(({ name, seq }) => [name, seq]));
  }

  conversations(query: ConversationQuery): Promise<readonly Conversation[]> {
    return this.#read("conversations", (connection) => queryConversations(connection, query));
  }

  async turns(conversation: ConversationId): Promise<readonly Turn[]> {
    if (!isText(conversation)) return [];
    const rows = await this.#rows<{ body: Buffer }>(
      "turns",
      `SELECT t.body FROM blockyard.conversation c JOIN blockyard.turn t ON t.conversation = c.id
        WHERE c.name = $1 ORDER BY t.place`,
      [conversation],
    );
    return rows.map(({ body }) => unpackJson<Turn>(body));
  }

  async answer(conversation: ConversationId, key: string): Promise<Json | undefined> {
    if (!isText(conversation)) return undefined;
    await this.#requireCertain(conversation);
    const [row] = await this.#rows<{ body: Buffer }>(
      "answer",
      `SELECT a.body FROM blockyard.conversation c JOIN blockyard.answer a ON a.conversation = c.id
        WHERE c.name = $1 AND a.key = $2`,
      [conversation, keyOf(key)],
    );
    return row && unpackJson<Json>(row.body);
  }

  async answers(conversation: ConversationId, keys: readonly string[]): Promise<ReadonlyMap<string, Json>> {
    if (!isText(conversation)) return new Map();
    await this.#requireCertain(conversation);
    const asked = new Map([[conversation, keys]]);
    const answers = await this.#read("answers", (connection) => readAnswers(connection, asked));
    return answers.get(conversation) ?? new Map();
  }

  block(id: BlockId): Promise<Block | undefined> {
    return this.#read("block", (connection) => readBlock(connection, id));
  }

  blocks(query: BlockQuery): Promise<readonly Block[]> {
    return this.#read("blocks", (connection) => queryBlocks(connection, query));
  }

  async log(block: BlockId, after: LogPoint): Promise<BlockLog> {
    const log = await this.#read("log", (connection) => readLog(connection, block, after));
    if (log === undefined) return { ops: [] };
    const isAfter = (op: Op) => ("version" in after ? op.version > after.version : op.seq > after.seq);
    const ops = log.ops.filter(isAfter);
    if (log.compacted === undefined) return { ops };
    const { seq, ...compacted } = log.compacted;
    const isReplaced = "version" in after ? after.version < compacted.version : after.seq < seq;
    return isReplaced ? { compacted, ops } : { ops };
  }

  async text(block: BlockId): Promise<string> {
    const log = await this.#read("text", (connection) => readLog(connection, block, { version: 0 }));
    return log === undefined ? "" : textOf(log.compacted?.text ?? "", log.ops);
  }

  async conversationOps(conversation: ConversationId, afterSeq: number): Promise<readonly Op[]> {
    if (!isText(conversation)) return [];
    return this.#read("conversationOps", (connection) =>
      readConversationOps(connection, conversation, afterSeq),
    );
  }

  async compact(block: BlockId, compacted: Compacted): Promise<void> {
    const kept = compacted.state === undefined ? compacted : { ...compacted, state: compacted.state.slice() };
    await this.#read("compact", (connection) => compactBlock(connection, block, kept));
  }

  /** Runs in another thread, which has a connection of its own. */
  async search(query: SearchQuery): Promise<SearchAnswer | Problem> {
    this.#assertOpen("search");
    return this.#searchPool.search(query, []);
  }

  async appendRaw(run: RawRun, bytes: Uint8Array): Promise<void> {
    this.#assertOpen("appendRaw");
    await this.#writer.appendRaw({ run, bytes });
  }

  async raw(run: RawRun): Promise<Uint8Array> {
    if (!isText(run.conversation)) return new Uint8Array();
    const rows = await this.#rows<Packed & { at: number; bytes: number }>(
      "raw bytes",
      `SELECT r.bytes, k.at, k.plain, k.body FROM blockyard.raw r JOIN blockyard.raw_chunk k ON k.raw = r.id
        WHERE r.conversation = $1 AND r.key = $2 ORDER BY k.at`,
      [run.conversation, keyOf(run.run)],
    );
    let at = 0;
    for (const row of rows) {
      if (row.at !== at) throw damaged(`raw run ${run.run}: bytes ${at} to ${row.at} are missing`);
      at += row.plain;
    }
    if (at !== (rows[0]?.bytes ?? 0)) throw damaged(`raw run ${run.run} ends at ${at}`);
    return new Uint8Array(Buffer.concat(rows.map(unpack)));
  }

  async rawRuns(conversation: ConversationId): Promise<readonly string[]> {
    if (!isText(conversation)) return [];
    const rows = await this.#rows<{ name: Buffer }>(
      "raw runs",
      "SELECT name FROM blockyard.raw WHERE conversation = $1 ORDER BY id",
      [conversation],
    );
    return rows.map(({ name }) => name.toString());
  }

  readonly audit = postgresAudit((...asked) => this.#rows(...asked));

  async putBlob(hash: string, mediaType: string, bytes: Uint8Array): Promise<void> {
    const values = [keyOf(hash), Buffer.from(mediaType), Buffer.from(bytes)];
    await this.#rows(
      "put blob",
      `INSERT INTO blockyard.blob (key, media_type, body) VALUES ($1, $2, $3)
        ON CONFLICT (key) DO UPDATE SET put_at = now()`,
      values,
    );
  }

  async blob(hash: string): Promise<{ readonly mediaType: string; readonly bytes: Uint8Array } | undefined> {
    const [row] = await this.#rows<{ media_type: Buffer; body: Buffer }>(
      "blob",
      "SELECT media_type, body FROM blockyard.blob WHERE key = $1",
      [keyOf(hash)],
    );
    return row && { mediaType: row.media_type.toString(), bytes: new Uint8Array(row.body) };
  }

  /** Whether the database answers now; throws what is wrong. */
  async check(): Promise<void> {
    this.#assertOpen("check");
    await this.#connections.check();
  }

  /** Gathers what is loose now instead of later. */
  async gather(): Promise<void> {
    await this.#gatherer.run();
  }

  /** Waits for what was accepted, and lets go of all connections. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writer.idle();
    await this.#turnWriter.idle();
    await this.#gatherer.close();
    await this.#searchPool.close();
    await this.#connections.close();
  }

  async #requireCertain(conversation: ConversationId): Promise<void> {
    await this.#writer.requireCertain(conversation);
    await this.#turnWriter.requireCertain(conversation);
  }

  async #read<T>(doing: string, work: (connection: Connection) => Promise<T>): Promise<T> {
    this.#assertOpen(doing);
    return this.#connections.again(doing, work);
  }

  #rows<T>(doing: string, text: string, values: readonly unknown[]): Promise<T[]> {
    return this.#read(doing, (connection) => connection.rows<T>({ name: doing, text, values }));
  }

  #assertOpen(doing: string): void {
    if (this.#closed) throw new StoreError("closed", `${doing}: the store is closed`);
  }
}
