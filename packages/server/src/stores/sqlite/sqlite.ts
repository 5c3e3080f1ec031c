/**
 * The store on SQLite: one process, one connection that writes, a commit acknowledged when the device has it.
 *
 * How a write goes: `commit` checks and encodes at once (batch.ts); everything that came in the same turn of the event
 * loop becomes one row of the journal in one transaction (journal-writer.ts); when that has returned, the memtable (memtable.ts)
 * takes it in and the callers are answered. Every now and then a transaction also flushes the oldest of the memtable into the
 * tables (memtable-flush.ts) and deletes the journal rows that nobody needs any more. Reading asks the memtable first, then the
 * tables.
 *
 * Not here: the file's layout (schema.ts, codec.ts, journal.ts, runs.ts), damage (integrity.ts), queries (query.ts).
 */

import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type {
  AuditLog,
  Block,
  BlockLog,
  BlockQuery,
  Commit,
  CommitAnswer,
  Compacted,
  Conversation,
  ConversationQuery,
  LogPoint,
  Matcher,
  Op,
  RawRun,
  SearchAnswer,
  SearchQuery,
  Store,
  Turn,
} from "@blockyard/kernel";
import {
  type BlockId,
  type ConversationId,
  type Json,
  type Problem,
  StoreError,
} from "@blockyard/kernel/plain";
import { SearchPool } from "../../search/pool.ts";
import { asFault, guarded } from "../encoding/fault.ts";
import { addAudit, readAudit } from "./audit-table.ts";
import { copyDatabase } from "./backup.ts";
import { writeCompacted } from "./compact.ts";
import { SqliteDeletions } from "./deletions.ts";
import { checkWhole, compareSums, syncDirectory, writeSums } from "./integrity.ts";
import { JournalWriter } from "./journal-writer.ts";
import {
  readAnswer,
  readConversationOps,
  readLog,
  readRaw,
  readRawRuns,
  readText,
  readTurns,
} from "./layered-read.ts";
import { INDEX_AFTER_MS, INDEXED_ROWS } from "./limits.ts";
import { holdLock, type Lock } from "./lock.ts";
import { checkLog } from "./log-check.ts";
import { cutLogTail } from "./log-tail.ts";
import { Memtable } from "./memtable.ts";
import { isWholeLoss, type Loss, OpenFile } from "./open-file.ts";
import { queryBlocks, queryConversations } from "./query.ts";
import { Rescue } from "./rescue.ts";
import { finishRestore } from "./restored.ts";
import { type OpenOptions, openDatabase, transaction } from "./schema.ts";
import { SEARCH_PROGRAM } from "./search/program.ts";
import { Tables } from "./tables.ts";

export async function openSqliteStore(path: string, options: OpenOptions = {}): Promise<SqliteStore> {
  return new SqliteStore(path, options);
}

export class SqliteStore implements Store {
  readonly path: string;
  readonly #lock: Lock;
  readonly #searchPool: SearchPool;
  readonly #db: DatabaseSync;
  readonly #file: OpenFile;
  readonly #rescue: Rescue;
  readonly #tables: Tables;
  readonly #memtable: Memtable;
  readonly #journal: JournalWriter;
  readonly deletions: SqliteDeletions;
  #epoch: string;
  #indexTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(path: string, options: OpenOptions) {
    this.path = path;
    this.#searchPool = new SearchPool({
      program: SEARCH_PROGRAM,
      path,
      flushedBefore: () => this.#memtable.firstNeeded() ?? this.#journal.next,
    });
    this.#lock = holdLock(path);
    try {
      finishRestore(path);
      const sound = guarded(`cannot check ${path}`, () => compareSums(path));
      guarded(`cannot check ${path}`, () => checkLog(path));
      this.#db = openDatabase(path, options);
      try {
        // A new database was created with a rollback journal. Its removal must be durable before anything
        // else is: if it came back, it would undo everything.
        guarded(`cannot sync ${path}`, () => syncDirectory(path));
        this.#tables = guarded(`cannot read ${path}`, () => new Tables(this.#db));
        const checkedBytes = options.isBackup ? Number.POSITIVE_INFINITY : undefined;
        if (!sound || options.isBackup)
          guarded(`cannot check ${path}`, () => checkWhole(path, this.#db, this.#tables, checkedBytes));
        this.#memtable = guarded(`cannot read ${path}`, () => new Memtable(this.#tables));
        this.#journal = guarded(`cannot read ${path}`, () => this.#openJournal(options));
        this.#epoch = guarded(`cannot prepare ${path}`, () => this.#prepare());
        this.#file = guarded(`cannot read ${path}`, () => new OpenFile(path));
      } catch (error) {
        this.#db.close();
        throw error;
      }
    } catch (error) {
      this.#lock.release();
      throw error;
    }
    this.#rescue = new Rescue(this.#db, path);
    this.deletions = new SqliteDeletions({
      ...{ db: this.#db, tables: this.#tables, memtable: this.#memtable },
      guard: (doing, work) => this.#guard(doing, work),
      write: (work) => this.#write(work),
      flushAll: () => this.#journal.flushAll(),
      attempt: (work) => this.#attempt(work),
      removed: () => this.#searchPool.removed(),
      isClosed: () => this.#closed,
      blobGraceMs: options.blobGraceMs,
    });
    // A large database may have come without an index, or with half of one. A short opening does not wait for that.
    if (this.#tables.lastId() < INDEXED_ROWS) return;
    this.#indexTimer = setTimeout(() => this.#searchPool.indexNow(), INDEX_AFTER_MS);
    this.#indexTimer.unref();
  }

  get epoch(): string {
    return this.#epoch;
  }

  commit(commit: Commit): Promise<CommitAnswer> {
    try {
      this.#assertOpen("commit");
      return this.#journal.commit(commit);
    } catch (error) {
      return Promise.reject(asFault(error, "commit"));
    }
  }

  async conversation(id: ConversationId): Promise<Conversation | undefined> {
    return this.#guard("conversation", () => this.#memtable.conversation(id));
  }

  async conversations(query: ConversationQuery): Promise<readonly Conversation[]> {
    return this.#guard("conversations", () => queryConversations(this.#tables, this.#memtable, query));
  }

  async turns(conversation: ConversationId): Promise<readonly Turn[]> {
    return this.#guard("turns", () => readTurns(this.#tables, this.#memtable, conversation));
  }

  async answer(conversation: ConversationId, key: string): Promise<Json | undefined> {
    return this.#guard("answer", () => readAnswer(this.#tables, this.#memtable, conversation, key));
  }

  async block(id: BlockId): Promise<Block | undefined> {
    return this.#guard("block", () => this.#memtable.block(id));
  }

  async blocks(query: BlockQuery): Promise<readonly Block[]> {
    return this.#guard("blocks", () => queryBlocks(this.#tables, this.#memtable, query));
  }

  async log(block: BlockId, after: LogPoint): Promise<BlockLog> {
    return this.#guard("log", () => readLog(this.#tables, this.#memtable, block, after));
  }

  async text(block: BlockId): Promise<string> {
    return this.#guard("text", () => readText(this.#tables, this.#memtable, block));
  }

  async conversationOps(conversation: ConversationId, afterSeq: number): Promise<readonly Op[]> {
    return this.#guard("conversationOps", () =>
      readConversationOps(this.#tables, this.#memtable, conversation, afterSeq),
    );
  }

  async compact(block: BlockId, compacted: Compacted): Promise<void> {
    this.#guard("compact", () => {
      const heads = this.#write(() => writeCompacted(this.#tables, this.#memtable, block, compacted));
      this.#journal.flushed(heads);
    });
  }

  /** Runs in another thread, which reads the tables; what they lack is passed to it. */
  async search(query: SearchQuery): Promise<SearchAnswer | Problem> {
    const memtable = this.#guard("search", () => this.#memtable.dirtyBlockHeads());
    return this.#searchPool.search(
      query,
      memtable.map(({ record, row, pending }) => ({ record, row, pending })),
    );
  }

  /** Finds a pattern in one text, in the thread that searches. */
  get matcher(): Matcher {
    return this.#searchPool.matcher;
  }

  async appendRaw(run: RawRun, bytes: Uint8Array): Promise<void> {
    await this.#guard("appendRaw", () => this.#journal.appendRaw(run, bytes));
  }

  async raw(run: RawRun): Promise<Uint8Array> {
    return this.#guard("raw", () => readRaw(this.#tables, this.#memtable, run));
  }

  async rawRuns(conversation: ConversationId): Promise<readonly string[]> {
    return this.#guard("rawRuns", () => readRawRuns(this.#tables, this.#memtable, conversation));
  }

  async putBlob(hash: string, mediaType: string, bytes: Uint8Array): Promise<void> {
    this.deletions.hasPut(hash);
    this.#guard("putBlob", () => this.#write(() => this.#tables.putBlob(hash, mediaType, bytes)));
  }

  async blob(hash: string): Promise<{ readonly mediaType: string; readonly bytes: Uint8Array } | undefined> {
    return this.#guard("blob", () => this.#tables.blob(hash));
  }

  /** Whether written data would be found again. */
  async check(): Promise<void> {
    this.#guard("check", () => this.#assertFound());
  }

  readonly audit: AuditLog = {
    append: async (entry, once) =>
      this.#guard("audit", () => this.#write(() => addAudit(this.#tables, entry, once))),
    read: async (query) => this.#guard("audit", () => readAudit(this.#tables, query)),
  };

  /** Declares that sequence numbers may have a new meaning: a restored database must do this. */
  async newEpoch(): Promise<string> {
    this.#epoch = this.#guard("newEpoch", () => this.#write(() => putEpoch(this.#tables)));
    return this.#epoch;
  }

  /** Copies everything acknowledged so far into a new file, while this one stays in use. */
  async backup(path: string): Promise<void> {
    this.#guard("backup", () => this.#journal.commitBatch());
    await copyDatabase(this.#db, path);
  }

  /** Flushes everything, so that the file holds exactly its data, and closes it. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#journal.commitBatch();
    this.#closed = true;
    clearTimeout(this.#indexTimer);
    // A thread that is in the middle of its work, on a busy machine, takes longer to end than all that follows. Only the log must wait
    // for it: it cannot be emptied while the thread reads.
    const ended = this.#searchPool.close();
    const loss = this.#file.loss();
    if (loss !== undefined) {
      await ended;
      return this.#abandon(loss);
    }
    try {
      this.#journal.flushAll();
      this.#db.exec("PRAGMA incremental_vacuum");
      await ended;
      this.#db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      this.#db.close();
      writeSums(this.path);
    } catch (error) {
      // Everything acknowledged is durable already, so a failure here only costs time at the next opening.
      const fault = asFault(error, `close ${this.path}`);
      if (!(fault instanceof StoreError)) throw fault;
    } finally {
      await ended;
      if (this.#db.isOpen) this.#db.close();
      this.#lock.release();
    }
  }

  /** For a removed database: its data is copied, and nothing is written to its replacement. */
  async #abandon(loss: Loss): Promise<void> {
    await this.#rescue.done(loss);
    // Closing brings the log into the file, which must not happen to another one's.
    if (isWholeLoss(loss)) this.#db.close();
    if (this.#file.hasOwnLog()) guarded(`close ${this.path}`, () => this.#rescue.moveLog());
    this.#lock.release();
  }

  #assertFound(): void {
    const loss = this.#file.loss();
    if (loss !== undefined) throw this.#rescue.refusal(loss);
  }

  /** Every write passes through here: if it fails, it is not there after the next start either. */
  #attempt<T>(write: () => T): T {
    this.#assertFound();
    try {
      const result = write();
      this.#file.written();
      return result;
    } catch (error) {
      const fault = asFault(error, "commit");
      if (!(fault instanceof StoreError)) throw error;
      try {
        cutLogTail(this.#db, this.path);
      } catch (cause) {
        throw new StoreError(fault.code, fault.message, { cause, isUncertain: true });
      }
      throw fault;
    }
  }

  #guard<T>(doing: string, work: () => T): T {
    this.#assertOpen(doing);
    return guarded(doing, work);
  }

  #assertOpen(doing: string): void {
    if (this.#closed) throw new StoreError("closed", `${doing}: the store is closed`);
  }

  #write<T>(work: () => T): T {
    return this.#journal.write(work);
  }

  #openJournal({ journalBytes, pendingBytes }: OpenOptions): JournalWriter {
    return new JournalWriter({
      ...{ db: this.#db, tables: this.#tables, memtable: this.#memtable, journalBytes, pendingBytes },
      attempt: (write) => this.#attempt(write),
      onChange: (row) => this.#searchPool.changed(row),
      onFlushed: () => this.#searchPool.index(),
    });
  }

  #prepare(): string {
    const epoch = this.#tables.meta("epoch");
    if (epoch !== undefined) return epoch;
    return transaction(this.#db, () => putEpoch(this.#tables));
  }
}

function putEpoch(tables: Tables): string {
  const epoch = randomBytes(12).toString("base64url");
  tables.putMeta("epoch", epoch);
  return epoch;
}
