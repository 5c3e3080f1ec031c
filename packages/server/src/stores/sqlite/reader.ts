/**
 * The database as another thread reads it: a separate read-only connection, one snapshot at a time. It sees what is
 * flushed to the tables; its caller passes it what is still in the memtable (memtable.ts).
 *
 * Invariant: a snapshot is short. As long as one is open, the writer's log cannot be emptied.
 */

import { DatabaseSync } from "node:sqlite";
import type { Block, ConversationId, Kind, Op, Status } from "@blockyard/kernel";
import { guarded } from "../encoding/fault.ts";
import { storedOps, unpackCompacted } from "../encoding/flush.ts";
import { textOf } from "../encoding/text.ts";
import { FILE_LOCK_MS } from "./limits.ts";
import { type BlockRow, openBlock, type StoredBlock } from "./table-row.ts";
import { Tables } from "./tables.ts";

/** What the search index needs to know of a block beside its text. */
export interface BlockOutline {
  readonly row: number;
  /** The conversation's row, and its id. */
  readonly conversation: number;
  readonly name: ConversationId;
  readonly born: number;
  readonly seq: number;
  readonly version: number;
  readonly createdAt: number;
  readonly kind: Kind;
  readonly status: Status;
  readonly path: string | null;
  readonly chars: number;
}

/** Where a conversation stands: its last sequence number, and the last journal row whose changes are in its row. */
export interface ConversationState {
  readonly conversation: number;
  readonly name: ConversationId;
  readonly seq: number;
  readonly journal: number;
}

type NamedBlock = StoredBlock & { readonly name: ConversationId };

const BLOCK = "SELECT b.*, c.name FROM block b JOIN conversation c ON c.id = b.conversation";
const STATE = "SELECT id AS conversation, name, seq, journal FROM conversation";

export class StoreReader {
  readonly #db: DatabaseSync;
  readonly #tables: Tables;

  constructor(path: string) {
    this.#db = guarded(
      `cannot read ${path}`,
      () => new DatabaseSync(path, { readOnly: true, timeout: FILE_LOCK_MS }),
    );
    this.#db.exec("PRAGMA cache_size = -16384; PRAGMA query_only = ON");
    this.#tables = new Tables(this.#db);
  }

  /** Everything that `work` reads is from one moment. */
  async snapshot<T>(work: () => Promise<T>): Promise<T> {
    this.#db.exec("BEGIN");
    try {
      return await work();
    } finally {
      if (this.#db.isTransaction) this.#db.exec("COMMIT");
    }
  }

  /** The same for work that does not wait for anything. */
  read<T>(work: () => T): T {
    this.#db.exec("BEGIN");
    try {
      return work();
    } finally {
      if (this.#db.isTransaction) this.#db.exec("COMMIT");
    }
  }

  epoch(): string {
    return this.#tables.meta("epoch") ?? "";
  }

  outline(row: number): BlockOutline | undefined {
    const block = this.block(row);
    return block && outlineOf(block);
  }

  /** Blocks of a conversation that have changed after a sequence number, in the order of their last change. */
  outlinesAfter(conversation: number, seq: number, limit: number): BlockOutline[] {
    const sql = `${BLOCK} WHERE b.conversation = ? AND b.seq > ? ORDER BY b.seq LIMIT ?`;
    return this.#tables.all<NamedBlock>(sql, conversation, seq, limit).map((row) => outlineOf(opened(row)));
  }

  /** The same blocks by their rows, the newest first, as many as are looked at. */
  *rowsAfter(conversation: number, seq: number): Generator<number> {
    const sql = "SELECT id FROM block WHERE conversation = ? AND seq > ? ORDER BY born DESC";
    for (const { id } of this.#tables.all<{ id: number }>(sql, conversation, seq)) yield id;
  }

  /** Every block, conversation by conversation. */
  *blocks(): Generator<Block> {
    const sql = `${BLOCK} ORDER BY b.conversation, b.born`;
    for (const row of this.#tables.each<NamedBlock>(sql)) yield opened(row).record;
  }

  /** Blocks that are still being written. */
  openOutlines(): BlockOutline[] {
    const sql = BLOCK.replace("FROM block b", "FROM block b INDEXED BY block_open");
    const rows = this.#tables.all<NamedBlock>(`${sql} WHERE b.status IN ('pending', 'running')`);
    return rows.map((row) => outlineOf(opened(row)));
  }

  /** The ones that have changed last first. */
  conversationStates(): ConversationState[] {
    return this.#tables.all<ConversationState>(`${STATE} ORDER BY updated_at DESC, name`);
  }

  /** Whether a conversation was ever deleted. */
  hasDeleted(): boolean {
    const found = "SELECT 1 AS n FROM meta WHERE key >= 'deleted:' AND key < 'deleted;' LIMIT 1";
    return this.#tables.get<{ n: number }>(found) !== undefined;
  }

  conversationCount(): number {
    return this.#tables.get<{ n: number }>("SELECT count(*) AS n FROM conversation")?.n ?? 0;
  }

  conversationState(conversation: number): ConversationState | undefined {
    return this.#tables.get<ConversationState>(`${STATE} WHERE id = ?`, conversation);
  }

  /** The row of a conversation. */
  conversationRow(name: ConversationId): number | undefined {
    return this.#tables.get<{ id: number }>("SELECT id FROM conversation WHERE name = ?", name)?.id;
  }

  block(row: number): BlockRow | undefined {
    const stored = this.#tables.get<NamedBlock>(`${BLOCK} WHERE b.id = ?`, row);
    return stored && opened(stored);
  }

  /** The text of a block as the tables have it, with `later` ops behind it. */
  text({ id, record }: BlockRow, later: readonly Op[] = []): string {
    const compacted = this.#tables.compacted(id);
    const head = { row: id, record, pending: [] }; // to a reader every block is as the tables have it
    const ops = storedOps(this.#tables, head, { version: 0 }, compacted?.version ?? 0);
    return textOf(compacted === undefined ? "" : unpackCompacted(compacted).text, [...ops, ...later]);
  }

  close(): void {
    this.#db.close();
  }
}

function opened({ name, ...columns }: NamedBlock): BlockRow {
  return openBlock(columns, name);
}

export function outlineOf({ id: row, conversation, record }: BlockRow): BlockOutline {
  const { conversation: name, born, seq, version, createdAt, kind, status, metadata, chars } = record;
  const path = metadata.path;
  return {
    row,
    conversation,
    name,
    born,
    seq,
    version,
    createdAt,
    kind,
    status,
    path: typeof path === "string" ? path : null,
    chars,
  };
}
