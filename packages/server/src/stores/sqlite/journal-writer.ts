/**
 * Writes commits: everything that came in the same turn of the event loop becomes one row of the journal, in one transaction, and
 * all who wait for it are answered when that has returned. Every now and then a transaction also flushes the oldest of the
 * memtable into the tables (memtable-flush.ts). At the start it takes in the rows that an earlier process has left.
 *
 * A commit that fails leaves nothing behind, and the next one is not the worse for it.
 */

import type { DatabaseSync } from "node:sqlite";
import type { Commit, CommitAnswer, RawRun } from "@blockyard/kernel";
import { asFault } from "../encoding/fault.ts";
import { Batch } from "./batch.ts";
import { readEntries } from "./journal.ts";
import { JournalWindow } from "./journal-window.ts";
import { JOURNAL_BYTES } from "./limits.ts";
import type { AnyHead, Memtable } from "./memtable.ts";
import { MemtableFlush } from "./memtable-flush.ts";
import { transaction } from "./schema.ts";
import type { Tables } from "./tables.ts";

const COMMITTED: CommitAnswer = { type: "committed" };

interface JournalWriterOptions {
  readonly db: DatabaseSync;
  readonly tables: Tables;
  readonly memtable: Memtable;
  readonly journalBytes: number | undefined;
  readonly pendingBytes: number | undefined;
  /** Runs a write: where it fails, it is not there after the next start either. */
  readonly attempt: <T>(write: () => T) => T;
  /** Told of each block that the tables have got, and when several were. */
  readonly onChange: (row: number) => void;
  readonly onFlushed: () => void;
}

export class JournalWriter {
  readonly #options: JournalWriterOptions;
  readonly #batch: Batch;
  readonly #window: JournalWindow;
  readonly #flushing: MemtableFlush;
  /** What all who are in the batch at hand wait for. */
  #written: PromiseWithResolvers<CommitAnswer> | undefined;
  /** The last number that a journal row has had. */
  #last: number;

  constructor(options: JournalWriterOptions) {
    const { db, tables, memtable, pendingBytes, onChange } = options;
    this.#options = options;
    this.#batch = new Batch(memtable);
    this.#window = new JournalWindow(options.journalBytes ?? JOURNAL_BYTES);
    this.#flushing = new MemtableFlush({
      db,
      tables,
      memtable,
      window: this.#window,
      pendingBytes,
      onChange,
    });
    this.#last = this.#replay();
  }

  /** The number of the next row. */
  get next(): number {
    return this.#last + 1;
  }

  commit(commit: Commit): Promise<CommitAnswer> {
    const answer = this.#batch.add(commit);
    // One who came too late waits as well: what was faster is there to be read only when it is written.
    return answer.type === "committed" ? this.#committed() : this.#committed().then(() => answer);
  }

  appendRaw(run: RawRun, bytes: Uint8Array): Promise<unknown> {
    this.#batch.addRaw({ run, bytes });
    return this.#committed();
  }

  /** A write beside the journal, in a transaction of its own, after everything that was asked for before it. */
  write<T>(work: () => T): T {
    this.commitBatch();
    return this.#options.attempt(() => transaction(this.#options.db, work));
  }

  /** Heads that a write beside the journal has brought into the tables. */
  flushed(heads: Iterable<AnyHead>): void {
    this.#flushing.flushed(heads);
  }

  /** Brings everything into the tables. */
  flushAll(): void {
    this.#flushing.all(this.#last);
  }

  /** Writes the batch and answers all who wait for it. Never throws: the failure is theirs. */
  commitBatch(): void {
    const written = this.#written;
    if (written === undefined) return;
    this.#written = undefined;
    try {
      if (!this.#batch.isEmpty) this.#writeBatch();
      written.resolve(COMMITTED);
    } catch (error) {
      written.reject(asFault(error, "commit"));
    } finally {
      this.#batch.clear();
    }
  }

  /** Resolves when the batch at hand is written. */
  #committed(): Promise<CommitAnswer> {
    if (this.#written === undefined) {
      this.#written = Promise.withResolvers();
      setImmediate(() => this.commitBatch());
    }
    return this.#written.promise;
  }

  #writeBatch(): void {
    const journal = this.next;
    const body = this.#batch.body();
    const picked = this.#flushing.pick(body.length, this.#batch.touched);
    let flushed = picked.size > 0;
    try {
      this.#options.attempt(() => this.#writeRow(journal, body, picked));
    } catch (error) {
      // Flushing is housekeeping: it must not cost anyone a commit that fits without it.
      if (!flushed) throw error;
      flushed = false;
      this.#options.attempt(() => this.#writeRow(journal, body, new Set()));
    }
    this.#last = journal;
    this.#window.add(journal, body.length);
    if (flushed) this.#flushing.flushed(picked);
    this.#batch.apply(journal);
    if (flushed) this.#options.onFlushed();
  }

  #writeRow(journal: number, body: Uint8Array, picked: ReadonlySet<AnyHead>): void {
    const { db, tables } = this.#options;
    if (picked.size === 0) {
      tables.addJournal(journal, body);
      return;
    }
    const dictionary = transaction(db, () => {
      tables.addJournal(journal, body);
      this.#flushing.flush(picked, journal);
      return tables.dictionaries.make();
    });
    if (dictionary !== undefined) tables.dictionaries.use(dictionary);
  }

  /** Takes in the rows that are there. */
  #replay(): number {
    const { tables, memtable } = this.#options;
    for (const { id, body } of tables.journal()) {
      this.#window.add(id, body.length);
      readEntries(body, memtable, {
        commit: (commit) => memtable.applyCommit(id, commit),
        raw: (entry) => memtable.applyRaw(id, entry),
      });
    }
    const deleted = Number(tables.meta("journal") ?? 0);
    return Math.max(deleted, tables.lastJournal());
  }
}
