/**
 * The database as another thread reads it: a connection of its own that cannot write, one snapshot at a time. It sees
 * what is settled in the tables; what is still young (young.ts) is handed to it by whoever asks.
 *
 * Invariant: a snapshot is short. As long as one is open, the log of the writer cannot be emptied behind it.
 */

import { DatabaseSync } from "node:sqlite";
import type { ConversationId, Kind, Op } from "@blockyard/kernel";
import { checkSum, guarded } from "./fault.ts";
import { storedOps, unpackFold } from "./settle.ts";
import { type BlockRow, openBlock, type StoredBlock, Tables } from "./tables.ts";
import { textOf } from "./text.ts";

/** What is needed of a block to tell whether it is worth reading. */
export interface Outline {
  readonly row: number;
  readonly conversation: ConversationId;
  readonly born: number;
  readonly createdAt: number;
  readonly kind: Kind;
  readonly path: string | null;
  readonly version: number;
  /** Of the text at `version`, if there is one. */
  readonly filter: Uint8Array | undefined;
}

interface StoredOutline {
  readonly row: number;
  readonly conversation: ConversationId;
  readonly born: number;
  readonly created_at: number;
  readonly kind: Kind;
  readonly path: string | null;
  readonly version: number;
  readonly filter_version: number | null;
  readonly sum: number | null;
  readonly body: Uint8Array | null;
}

const OUTLINE = `SELECT b.id AS row, c.name AS conversation, b.born, b.created_at, b.kind, b.path, b.version,
  f.version AS filter_version, f.sum, f.body
  FROM block b JOIN conversation c ON c.id = b.conversation LEFT JOIN filter f ON f.id = b.id`;

export class StoreReader {
  readonly #db: DatabaseSync;
  readonly #tables: Tables;

  constructor(path: string) {
    this.#db = guarded(
      `cannot read ${path}`,
      () => new DatabaseSync(path, { readOnly: true, timeout: 2_000 }),
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

  *outlines(): Generator<Outline> {
    for (const stored of this.#tables.statement(OUTLINE).iterate())
      yield outlineOf(stored as unknown as StoredOutline);
  }

  outline(row: number): Outline | undefined {
    const stored = this.#tables.get<StoredOutline>(`${OUTLINE} WHERE b.id = ?`, row);
    return stored && outlineOf(stored);
  }

  block(row: number): BlockRow | undefined {
    const stored = this.#tables.get<StoredBlock & { readonly name: ConversationId }>(
      "SELECT b.*, c.name FROM block b JOIN conversation c ON c.id = b.conversation WHERE b.id = ?",
      row,
    );
    if (stored === undefined) return undefined;
    const { name, ...columns } = stored;
    return openBlock(columns, name);
  }

  /** The text of a block as the tables have it, with `later` ops behind it. */
  text({ id, record }: BlockRow, later: readonly Op[] = []): string {
    const fold = this.#tables.fold(id);
    const head = { row: id, record, pending: [] }; // to a reader every block is as the tables have it
    const ops = storedOps(this.#tables, head, { version: 0 }, fold?.version ?? 0);
    return textOf(fold === undefined ? "" : unpackFold(fold).text, [...ops, ...later]);
  }

  close(): void {
    this.#db.close();
  }
}

function outlineOf(stored: StoredOutline): Outline {
  const { row, conversation, born, created_at, kind, path, version, filter_version, sum, body } = stored;
  const outline = { row, conversation, born, createdAt: created_at, kind, path, version };
  if (filter_version === null || body === null || filter_version !== version)
    return { ...outline, filter: undefined };
  checkSum(`filter ${row}`, sum, [row, filter_version], body);
  return { ...outline, filter: body };
}
