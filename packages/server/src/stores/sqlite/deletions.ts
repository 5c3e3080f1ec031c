/**
 * Deleted conversations in SQLite. An entry is a row of `meta`, `deleted:<id>`; it stays when the conversation is gone.
 *
 * Removing is one transaction: it deletes the conversation's row, through which everything else of it is found, and
 * records that in the entry. The rest (blocks, chunks, raw streams, blobs that no other block names) is cleared in
 * small steps afterwards, so that writers do not wait; the next process that opens the database continues it. The last
 * step returns the freed pages and empties the log: then no page of the file has any of the text. Cells are overwritten
 * as they are deleted (`secure_delete = FAST`).
 */

import type { DatabaseSync } from "node:sqlite";
import type { Deletion, DeletionLog } from "@blockyard/kernel";
import { blobsIn, type ConversationId, StoreError } from "@blockyard/kernel/plain";
import { packedMetadata } from "../encoding/codec.ts";
import { BLOB_GRACE_MS, DELETED_BLOCKS, DELETED_CHUNKS, FREED_PAGES, LOOKED_AT_ROWS } from "./limits.ts";
import type { Memtable } from "./memtable.ts";
import { pragma } from "./schema.ts";
import type { Tables } from "./tables.ts";

const PREFIX = "deleted:";

/** A stored entry. */
interface Entry extends Omit<Deletion, "conversation"> {
  /** The key of its remaining rows; absent when there are none. */
  readonly row?: number;
  /** Blobs that its blocks named and that were not checked yet. */
  readonly blobs?: readonly string[];
}

interface DeletionHost {
  readonly db: DatabaseSync;
  readonly tables: Tables;
  readonly memtable: Memtable;
  guard<T>(doing: string, work: () => T): T;
  /** In a transaction of its own, after all earlier requests. */
  write<T>(work: () => T): T;
  /** Brings everything into the tables. */
  flushAll(): void;
  /** Without a transaction. */
  attempt<T>(work: () => T): T;
  /** The search index may contain removed text. */
  removed(): void;
  isClosed(): boolean;
  readonly blobGraceMs?: number | undefined;
}

export class SqliteDeletions implements DeletionLog {
  readonly #host: DeletionHost;
  readonly #putAt = new Map<string, number>();
  readonly #blobGraceMs: number;
  #clearing: Promise<void> | undefined;

  constructor(host: DeletionHost) {
    this.#host = host;
    this.#blobGraceMs = host.blobGraceMs ?? BLOB_GRACE_MS;
  }

  /** Somebody has put a blob: it is not removed before there was time to name it. */
  hasPut(hash: string): void {
    const now = performance.now();
    for (const [old, at] of this.#putAt) {
      if (now - at < this.#blobGraceMs) break;
      this.#putAt.delete(old);
    }
    this.#putAt.delete(hash);
    this.#putAt.set(hash, now);
  }

  async note({ conversation, ...entry }: Deletion): Promise<void> {
    this.#host.guard("note a deletion", () =>
      this.#host.write(() => {
        if (this.#entry(conversation) === undefined) this.#put(conversation, entry);
      }),
    );
  }

  async withdraw(conversation: ConversationId): Promise<void> {
    this.#host.guard("withdraw a deletion", () =>
      this.#host.write(() => {
        if (this.#entry(conversation)?.removedAt === undefined)
          this.#host.tables.run("DELETE FROM meta WHERE key = ?", PREFIX + conversation);
      }),
    );
  }

  async waiting(): Promise<readonly Deletion[]> {
    return this.#host.guard("deletions", () =>
      this.#entries()
        .filter(([, { removedAt }]) => removedAt === undefined)
        .map(([conversation, { at, by }]) => ({ conversation, at, by })),
    );
  }

  async find(conversation: ConversationId): Promise<Deletion | undefined> {
    return this.#host.guard("deletion", () => {
      const entry = this.#entry(conversation);
      if (entry === undefined) return undefined;
      const { at, by, removedAt } = entry;
      return { conversation, at, by, ...(removedAt === undefined ? {} : { removedAt }) };
    });
  }

  async remove(
    conversation: ConversationId,
    expectedSeq: number,
    removedAt: number,
  ): Promise<"removed" | "moved"> {
    const { tables, memtable, guard, write, flushAll } = this.#host;
    const isRemoved = guard("remove a conversation", () => {
      // The journal has its text too, and replaying it would bring the conversation back: it must be empty of it.
      write(() => undefined);
      flushAll();
      const head = memtable.conversationHead(conversation);
      const entry = this.#entry(conversation);
      if (head === undefined || entry === undefined || head.record.seq !== expectedSeq) return false;
      if (memtable.dirty.size > 0)
        throw new StoreError("corrupt", "the database is damaged: repair it first (blockyard doctor)");
      write(() => {
        tables.putMeta("rows", String(tables.lastId())); // numbers that were given are never given again
        tables.run("DELETE FROM turn WHERE conversation = ?", head.row);
        tables.run("DELETE FROM answer WHERE conversation = ?", head.row);
        tables.run("DELETE FROM conversation WHERE id = ?", head.row);
        this.#put(conversation, { ...entry, removedAt, row: head.row });
      });
      memtable.forget(conversation);
      return true;
    });
    if (!isRemoved) return "moved";
    await this.clear();
    return "removed";
  }

  clear(): Promise<void> {
    this.#clearing ??= this.#clear().finally(() => {
      this.#clearing = undefined;
    });
    return this.#clearing;
  }

  async #clear(): Promise<void> {
    const all = this.#host.guard("deletions", () => this.#entries());
    const left = all.filter(([, { row }]) => row !== undefined);
    for (const [conversation, { row }] of left)
      if (!(await this.#steps(() => this.#clearStep(conversation, row as number)))) return;
    for (const [conversation, { row, blobs }] of all)
      if ((row !== undefined || blobs !== undefined) && !(await this.#dropBlobs(conversation))) return;
    if (left.length === 0) return;
    this.#host.removed();
    if (!(await this.#steps(() => this.#vacuumStep()))) return;
    this.#host.guard("empty the log", () =>
      this.#host.attempt(() => this.#host.db.exec("PRAGMA wal_checkpoint(TRUNCATE)")),
    );
    this.#update(left, ({ row: _, ...entry }) => entry);
  }

  #update(entries: readonly (readonly [ConversationId, Entry])[], change: (entry: Entry) => Entry): void {
    this.#host.guard("deletions", () =>
      this.#host.write(() => {
        for (const [conversation] of entries)
          this.#put(conversation, change(this.#entry(conversation) as Entry));
      }),
    );
  }

  /** One step after the other, with other work in between, until one has nothing left to do. False: the store was closed. */
  async #steps(step: () => boolean): Promise<boolean> {
    for (;;) {
      if (this.#host.isClosed()) return false;
      if (!this.#host.guard("clear a removed conversation", step)) return true;
      await new Promise<void>((done) => setImmediate(done));
    }
  }

  #clearStep(conversation: ConversationId, row: number): boolean {
    const { tables, write } = this.#host;
    return write(
      () =>
        this.#clearBlocks(conversation, row) ||
        this.#clearRaw(conversation) ||
        this.#clearChunks(row, tables),
    );
  }

  #clearBlocks(conversation: ConversationId, row: number): boolean {
    const { tables } = this.#host;
    const sql = "SELECT id, body FROM block WHERE conversation = ? LIMIT ?";
    const blocks = tables.all<{ id: number; body: Uint8Array }>(sql, row, DELETED_BLOCKS);
    if (blocks.length === 0) return false;
    const entry = this.#entry(conversation) as Entry;
    const blobs = new Set(entry.blobs);
    for (const { id, body } of blocks) {
      for (const blob of blobsIn(packedMetadata(body))) blobs.add(blob);
      tables.run("DELETE FROM chunk WHERE owner = ?", id);
      tables.run("DELETE FROM fold WHERE id = ?", id);
      tables.run("DELETE FROM filter WHERE id = ?", id);
      tables.run("DELETE FROM block WHERE id = ?", id);
    }
    if (blobs.size > (entry.blobs?.length ?? 0)) this.#put(conversation, { ...entry, blobs: [...blobs] });
    return true;
  }

  #clearRaw(conversation: ConversationId): boolean {
    const { tables } = this.#host;
    const raw = tables.get<{ id: number }>("SELECT id FROM raw WHERE conversation = ? LIMIT 1", conversation);
    if (raw === undefined) return false;
    if (this.#clearChunks(raw.id, tables)) return true;
    tables.run("DELETE FROM raw WHERE id = ?", raw.id);
    return true;
  }

  #clearChunks(owner: number, tables: Tables): boolean {
    const sql = "DELETE FROM chunk WHERE id IN (SELECT id FROM chunk WHERE owner = ? LIMIT ?)";
    return Number(tables.statement(sql).run(owner, DELETED_CHUNKS).changes) > 0;
  }

  /** Removes the blobs that no block names any more. Every block is read, since nothing counts references to a blob. */
  async #dropBlobs(conversation: ConversationId): Promise<boolean> {
    const { tables, guard, write, flushAll } = this.#host;
    const named = guard("deletions", () => this.#entry(conversation)?.blobs) ?? [];
    const now = performance.now();
    const isYoung = (blob: string) =>
      now - (this.#putAt.get(blob) ?? Number.NEGATIVE_INFINITY) < this.#blobGraceMs;
    const unused = new Set(named.filter((blob) => !isYoung(blob)));
    if (unused.size === 0) return true;
    guard("clear a removed conversation", flushAll);
    let after = 0;
    const isThrough = await this.#steps(() => {
      const sql = "SELECT id, body FROM block WHERE id > ? ORDER BY id LIMIT ?";
      const rows = tables.all<{ id: number; body: Uint8Array }>(sql, after, LOOKED_AT_ROWS);
      after = rows.at(-1)?.id ?? after;
      for (const { body } of rows) for (const blob of blobsIn(packedMetadata(body))) unused.delete(blob);
      return rows.length > 0 && unused.size > 0;
    });
    if (!isThrough) return false;
    guard("clear a removed conversation", () =>
      write(() => {
        // A caller that has put it since then is about to name it.
        for (const blob of unused)
          if ((this.#putAt.get(blob) ?? 0) <= now) tables.run("DELETE FROM blob WHERE hash = ?", blob);
        const { blobs: _, ...entry } = this.#entry(conversation) as Entry;
        const blobs = named.filter(isYoung);
        this.#put(conversation, blobs.length === 0 ? entry : { ...entry, blobs });
      }),
    );
    return true;
  }

  #vacuumStep(): boolean {
    const { db, attempt } = this.#host;
    const free = () => pragma(db, "freelist_count") as number;
    const before = free();
    if (before === 0) return false;
    attempt(() => db.exec(`PRAGMA incremental_vacuum(${FREED_PAGES})`));
    return free() < before;
  }

  #entry(conversation: ConversationId): Entry | undefined {
    const value = this.#host.tables.meta(PREFIX + conversation);
    return value === undefined ? undefined : (JSON.parse(value) as Entry);
  }

  #entries(): (readonly [ConversationId, Entry])[] {
    return this.#host.tables
      .metaFrom(PREFIX)
      .map(([key, value]) => [key.slice(PREFIX.length), JSON.parse(value) as Entry] as const);
  }

  #put(conversation: ConversationId, entry: Entry): void {
    this.#host.tables.putMeta(PREFIX + conversation, JSON.stringify(entry));
  }
}
