/**
 * The SQLite database: its schema, how a file is opened, and what is asserted about it before anything is read.
 *
 * Layout, version 1. Numbers of conversations, blocks and raw runs (`id`) come from one counter.
 *
 *   journal       The commits that are not in the other tables yet, whole (journal.ts). A commit is one row here, and
 *                 that is all that an acknowledgement waits for.
 *   conversation  One row each. `ops`: sequence number of the last of its own ops that is in `chunk`.
 *   block         One row each, without its text. `parent`: the parent's `born` if it is in the same conversation,
 *                 otherwise its id. `path`: metadata.path, for queries.
 *   chunk         Ops and raw bytes (runs.ts). `owner`: a conversation, block or raw run; `first`, `last`: versions for
 *                 blocks, sequence numbers for a conversation's own ops, byte counts for raw runs. `seq`: sequence
 *                 number of the last op. `plain`: bytes before compression; `dictionary`: what they were compressed
 *                 against, or 0. Rows are added at the end, so that pages are full.
 *   dictionary    What chunks are compressed against (dictionary.ts), each in two copies.
 *   fold          What replaced a block's first ops: version, sequence number, and text, anchors and state in `body`.
 *   filter        Empty. Earlier programs kept search filters in it; now the index has files of its own (search/).
 *   turn, answer  One row each; `id` is their age. Of answers the newest limits.keysPerConversation are kept.
 *   raw           One row per raw run; its bytes are in `chunk`.
 *   blob          Values by the hash of their content.
 *   meta          `epoch`; `journal`: the last journal id that was deleted; `rows`: the largest number that a removed row had;
 *                 `deleted:<id>`: a conversation that was deleted (deletions.ts).
 *
 * In conversation, block and raw, `journal` is the last journal row whose changes the row has: replaying the journal
 * skips what a row has already. `sum` is the checksum (fault.ts) of all other columns of its row.
 */

import { DatabaseSync } from "node:sqlite";
import { StoreError } from "@blockyard/kernel/plain";
import { corrupt, guarded } from "../encoding/fault.ts";
import { AUDIT_SCHEMA } from "./audit-table.ts";
import { FILE_LOCK_MS, LOG_PAGES } from "./limits.ts";

export const SCHEMA_VERSION = 2;

/** "Blky": tells our databases from others. */
const APPLICATION_ID = 0x426c6b79;

/** Older ones can lose commits when the log is reset (fixed in 3.51.3). */
const MIN_SQLITE = [3, 51, 3] as const;

/** The length that the log keeps, once it has it: so many pages of 4 KB, and one transaction more. */
const LOG_BYTES = (LOG_PAGES + 256) * (4_096 + 24);

const SCHEMA = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
  `CREATE TABLE journal (id INTEGER PRIMARY KEY, sum INTEGER NOT NULL, body BLOB NOT NULL) STRICT`,
  `CREATE TABLE conversation (id INTEGER PRIMARY KEY, name TEXT NOT NULL, updated_at REAL NOT NULL,
    seq INTEGER NOT NULL, ops INTEGER NOT NULL, journal INTEGER NOT NULL, sum INTEGER NOT NULL,
    body BLOB NOT NULL) STRICT`,
  `CREATE UNIQUE INDEX conversation_by_name ON conversation (name)`,
  `CREATE INDEX conversation_by_age ON conversation (updated_at, name)`,
  `CREATE TABLE block (id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, born INTEGER NOT NULL,
    seq INTEGER NOT NULL, version INTEGER NOT NULL, created_at REAL NOT NULL, parent ANY, kind TEXT NOT NULL,
    status TEXT NOT NULL, path TEXT, journal INTEGER NOT NULL, sum INTEGER NOT NULL, body BLOB NOT NULL) STRICT`,
  `CREATE UNIQUE INDEX block_by_place ON block (conversation, born)`,
  `CREATE INDEX block_by_change ON block (conversation, seq)`,
  `CREATE INDEX block_by_parent ON block (parent, conversation, born) WHERE parent IS NOT NULL`,
  `CREATE INDEX block_by_age ON block (created_at)`,
  `CREATE INDEX block_by_path ON block (path) WHERE path IS NOT NULL`,
  `CREATE INDEX block_open ON block (status, conversation) WHERE status IN ('pending', 'running')`,
  `CREATE TABLE chunk (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    seq INTEGER NOT NULL, dictionary INTEGER NOT NULL, plain INTEGER NOT NULL, sum INTEGER NOT NULL,
    body BLOB NOT NULL) STRICT`,
  `CREATE UNIQUE INDEX chunk_by_owner ON chunk (owner, last)`,
  `CREATE TABLE dictionary (id INTEGER NOT NULL, copy INTEGER NOT NULL, sum INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (id, copy)) STRICT`,
  `CREATE TABLE fold (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, seq INTEGER NOT NULL, sum INTEGER NOT NULL,
    body BLOB NOT NULL) STRICT`,
  `CREATE TABLE filter (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, sum INTEGER NOT NULL,
    body BLOB NOT NULL) STRICT`,
  `CREATE TABLE turn (id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, name TEXT NOT NULL,
    sum INTEGER NOT NULL, body BLOB NOT NULL) STRICT`,
  `CREATE UNIQUE INDEX turn_by_name ON turn (conversation, name)`,
  `CREATE INDEX turn_by_age ON turn (conversation)`,
  `CREATE TABLE answer (id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, key TEXT NOT NULL,
    sum INTEGER NOT NULL, body BLOB NOT NULL) STRICT`,
  `CREATE UNIQUE INDEX answer_by_key ON answer (conversation, key)`,
  `CREATE INDEX answer_by_age ON answer (conversation)`,
  `CREATE TABLE raw (id INTEGER PRIMARY KEY, conversation TEXT NOT NULL, run TEXT NOT NULL, bytes INTEGER NOT NULL,
    journal INTEGER NOT NULL, sum INTEGER NOT NULL) STRICT`,
  `CREATE UNIQUE INDEX raw_by_name ON raw (conversation, run)`,
  `CREATE TABLE blob (id INTEGER PRIMARY KEY, hash TEXT NOT NULL, media_type TEXT NOT NULL, sum INTEGER NOT NULL,
    body BLOB NOT NULL) STRICT`,
  `CREATE UNIQUE INDEX blob_by_hash ON blob (hash)`,
  ...AUDIT_SCHEMA,
] as const;

/** A step brings a database from the version that is its place in the list, plus one, to the next. */
type Migration = (db: DatabaseSync) => void;
const MIGRATIONS: readonly Migration[] = [
  (db) => {
    for (const statement of AUDIT_SCHEMA) db.exec(statement);
  },
];

export interface OpenOptions {
  /**
   * `normal` acknowledges before the device has the bytes: a power loss then loses acknowledged commits. It exists so
   * that the power-loss test can show that it would notice.
   */
  readonly durability?: "full" | "normal";
  /** To be restored: there must be a database in it, and all of it is checked, however large it is. */
  readonly isBackup?: boolean;
  /** How much may wait in the journal before it is flushed, and before everything is. Small numbers are for tests. */
  readonly pendingBytes?: number;
  readonly journalBytes?: number;
  /** How long a blob that nobody names is kept after it was put. Small numbers are for tests. */
  readonly blobGraceMs?: number;
}

/** Opens the file, creates or migrates its tables, and asserts the settings that durability rests on. */
export function openDatabase(path: string, options: OpenOptions = {}): DatabaseSync {
  return guarded(`cannot open ${path}`, () => {
    const db = new DatabaseSync(path, { enableForeignKeyConstraints: false, timeout: FILE_LOCK_MS });
    try {
      assertSqlite(db);
      refuseForeign(db, path, options.isBackup);
      configure(db, options);
      prepareSchema(db);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

/** One value of a pragma. */
export function pragma(db: DatabaseSync, name: string): unknown {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}

/** Brings `db` from its version to the newest, each step in a transaction of its own. */
export function migrate(db: DatabaseSync, steps: readonly Migration[]): void {
  const newest = steps.length + 1;
  for (let version = pragma(db, "user_version") as number; version < newest; version++) {
    transaction(db, () => {
      (steps[version - 1] as Migration)(db);
      db.exec(`PRAGMA user_version = ${version + 1}`);
    });
  }
}

export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    // Some failures have rolled back already.
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

function assertSqlite(db: DatabaseSync): void {
  const { version } = db.prepare("SELECT sqlite_version() AS version").get() as { version: string };
  const parts = version.split(".").map(Number);
  const at = MIN_SQLITE.findIndex((least, i) => (parts[i] ?? 0) !== least);
  if (at === -1 || (parts[at] ?? 0) > (MIN_SQLITE[at] as number)) return;
  throw new StoreError(
    "version",
    `SQLite ${version} is too old: ${MIN_SQLITE.join(".")} or newer is required`,
  );
}

function refuseForeign(db: DatabaseSync, path: string, isBackup = false): void {
  const application = pragma(db, "application_id");
  const version = pragma(db, "user_version") as number;
  const { tables } = db.prepare("SELECT count(*) AS tables FROM sqlite_schema").get() as { tables: number };
  const isNew = application === 0 && version === 0 && tables === 0;
  if (isNew && isBackup) throw new StoreError("version", `${path} is empty`);
  if (isNew) return;
  if (application !== APPLICATION_ID) {
    throw new StoreError("version", `${path} is a database of another program, or its header is damaged`);
  }
  if (version < 1 || version > SCHEMA_VERSION) {
    throw new StoreError(
      "version",
      `${path} has schema version ${version}; this version supports 1 to ${SCHEMA_VERSION}`,
    );
  }
}

function configure(db: DatabaseSync, { durability = "full" }: OpenOptions): void {
  const wanted = durability === "full" ? 2 : 1;
  db.exec(`
    PRAGMA auto_vacuum = INCREMENTAL;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = ${wanted};
    PRAGMA cell_size_check = ON;
    PRAGMA trusted_schema = OFF;
    PRAGMA secure_delete = FAST;
    PRAGMA wal_autocheckpoint = ${LOG_PAGES};
    PRAGMA journal_size_limit = ${LOG_BYTES};
    PRAGMA cache_size = -16384;
    PRAGMA temp_store = MEMORY;
  `);
  const mode = pragma(db, "journal_mode");
  const synchronous = pragma(db, "synchronous");
  if (mode !== "wal" || synchronous !== wanted) {
    throw new StoreError(
      "io",
      `commits are not durable here: journal_mode is ${mode}, synchronous is ${synchronous}`,
    );
  }
}

function prepareSchema(db: DatabaseSync): void {
  if (pragma(db, "user_version") === 0) {
    transaction(db, () => {
      for (const statement of SCHEMA) db.exec(statement);
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
    });
    return;
  }
  migrate(db, MIGRATIONS);
  compareSchema(db);
}

/** A flipped byte in a table's definition would change what its rows mean. */
function compareSchema(db: DatabaseSync): void {
  const wanted = new DatabaseSync(":memory:");
  for (const statement of SCHEMA) wanted.exec(statement);
  const definitions = (of: DatabaseSync) =>
    JSON.stringify(of.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name").all());
  const same = definitions(wanted) === definitions(db);
  wanted.close();
  if (!same) throw corrupt("its tables differ from this version's schema");
}
