/**
 * The PostgreSQL database: its tables, who makes them, and what is asserted about them before anything is read.
 *
 * Layout, version 1, in a schema of its own. A conversation's `seq` is the sequencer: it moves in the transaction that
 * commits, under the lock of its row, so that no number is seen before all that are smaller.
 *
 *   conversation  One row each. `body`: its record (store/codec.ts).
 *   block         One row each, without its text. `path`: metadata.path in UTF-8, `chars`: length of the text. `texted`:
 *                 the last version that changed the text; `filtered`: the version that `filter` is of, 0: none. `loose`:
 *                 chunks that are not gathered yet (gather.ts). `changed`: the transaction that last wrote the row.
 *   chunk         Ops (store/runs.ts). `born`: the block's, or 0 for ops of the conversation itself; `first`, `last`:
 *                 versions of a block, sequence numbers of a conversation. `seq`: of the last op. `plain`: bytes
 *                 before compression; a body of that length is not compressed.
 *   fold          What replaced a block's first ops.
 *   filter        The trigram filter of a block's text.
 *   turn, answer  `place`: their age. Of answers the newest limits.keysPerConversation are kept.
 *   raw           One row per raw run, `name` in UTF-8; its bytes are in raw_chunk, `at` their place.
 *   blob          Values by the hash of their content; `put_at`: when somebody last brought it.
 *   deletion      Conversations that were deleted (deletions.ts).
 *   node          The nodes that have this database open, each with the end of its lease (register.ts).
 *   meta          `schema`: this version; `epoch`; `place`: the server and history that the epoch was made in.
 *
 * Names that come from outside are kept as bytes: PostgreSQL's text cannot hold U+0000, nor an index long keys (rows.ts).
 */

import { randomBytes } from "node:crypto";
import { StoreError } from "@blockyard/kernel/plain";
import { AUDIT_TABLES } from "./audit.ts";
import type { Connection } from "./connections.ts";
import { INDEXED_PATH_BYTES, LOOSE_CHUNKS } from "./limits.ts";

export const SCHEMA_VERSION = 3;

/** Any number will do that no other program takes: "Blky". */
const LOCK = 0x426c6b79;

const DELETION_TABLES = `
  CREATE TABLE blockyard.deletion (conversation text COLLATE "C" PRIMARY KEY, at double precision NOT NULL,
    agent text COLLATE "C" NOT NULL, removed_at double precision, blobs text[]);
  CREATE INDEX deletion_waiting ON blockyard.deletion (conversation) WHERE removed_at IS NULL OR blobs IS NOT NULL;
  ALTER TABLE blockyard.blob ADD COLUMN put_at timestamptz NOT NULL DEFAULT now();
`;

const TABLES = `
  CREATE SCHEMA IF NOT EXISTS blockyard;
  CREATE TABLE blockyard.meta (key text PRIMARY KEY, value text NOT NULL);
  CREATE TABLE blockyard.conversation (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE, seq bigint NOT NULL, updated_at double precision NOT NULL,
    body bytea NOT NULL);
  CREATE INDEX conversation_by_age ON blockyard.conversation (updated_at, name);
  CREATE TABLE blockyard.block (conversation bigint NOT NULL, born bigint NOT NULL, seq bigint NOT NULL,
    version bigint NOT NULL, created_at double precision NOT NULL, parent text COLLATE "C", kind text NOT NULL,
    status text NOT NULL, path bytea, chars bigint NOT NULL, texted bigint NOT NULL, filtered bigint NOT NULL,
    loose integer NOT NULL, changed bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY (conversation, born));
  CREATE INDEX block_by_change ON blockyard.block (conversation, seq);
  CREATE INDEX block_by_parent ON blockyard.block (parent, born) WHERE parent IS NOT NULL;
  CREATE INDEX block_by_age ON blockyard.block (created_at);
  CREATE INDEX block_by_path ON blockyard.block (substr(path, 1, ${INDEXED_PATH_BYTES})) WHERE path IS NOT NULL;
  CREATE INDEX block_open ON blockyard.block (status, conversation) WHERE status IN ('pending', 'running');
  CREATE INDEX block_by_transaction ON blockyard.block (changed);
  CREATE INDEX block_loose ON blockyard.block (conversation, born) WHERE loose >= ${LOOSE_CHUNKS}
    OR (status IN ('done', 'error') AND (loose > 1 OR filtered < texted));
  CREATE TABLE blockyard.chunk (conversation bigint NOT NULL, born bigint NOT NULL, first bigint NOT NULL,
    last bigint NOT NULL, seq bigint NOT NULL, plain integer NOT NULL, body bytea NOT NULL,
    PRIMARY KEY (conversation, born, last));
  CREATE TABLE blockyard.fold (conversation bigint NOT NULL, born bigint NOT NULL, version bigint NOT NULL,
    seq bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY (conversation, born));
  CREATE TABLE blockyard.filter (conversation bigint NOT NULL, born bigint NOT NULL, body bytea NOT NULL,
    PRIMARY KEY (conversation, born));
  CREATE TABLE blockyard.turn (conversation bigint NOT NULL, key bytea NOT NULL,
    place bigint GENERATED ALWAYS AS IDENTITY, body bytea NOT NULL, PRIMARY KEY (conversation, key));
  CREATE TABLE blockyard.answer (conversation bigint NOT NULL, key bytea NOT NULL,
    place bigint GENERATED BY DEFAULT AS IDENTITY, body bytea NOT NULL, PRIMARY KEY (conversation, key));
  CREATE INDEX answer_by_age ON blockyard.answer (conversation, place);
  CREATE TABLE blockyard.raw (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, conversation text COLLATE "C" NOT NULL,
    key bytea NOT NULL, name bytea NOT NULL, bytes bigint NOT NULL, loose integer NOT NULL, UNIQUE (conversation, key));
  CREATE INDEX raw_loose ON blockyard.raw (id) WHERE loose >= ${LOOSE_CHUNKS};
  CREATE TABLE blockyard.raw_chunk (raw bigint NOT NULL, at bigint NOT NULL, plain integer NOT NULL,
    body bytea NOT NULL, PRIMARY KEY (raw, at));
  CREATE TABLE blockyard.node (name text COLLATE "C" PRIMARY KEY, until timestamptz NOT NULL);
  CREATE TABLE blockyard.blob (key bytea PRIMARY KEY, media_type bytea NOT NULL, body bytea NOT NULL);
${AUDIT_TABLES}${DELETION_TABLES}`;

/** What is compressed already, or random, is not compressed again. */
const STORAGE = ["chunk", "fold", "filter", "raw_chunk", "blob"]
  .map((table) => `ALTER TABLE blockyard.${table} ALTER COLUMN body SET STORAGE EXTERNAL;`)
  .join("\n");

/** A step brings a database from the version that is its place in the list, plus one, to the next. */
const MIGRATIONS: readonly string[] = [AUDIT_TABLES, DELETION_TABLES];

interface Opened {
  readonly epoch: string;
  readonly place: string;
}

/** Makes or migrates the tables where that is needed. */
export async function prepare(connection: Connection, shown: string): Promise<Opened> {
  const known = await readMeta(connection, shown);
  if (known?.version === SCHEMA_VERSION && known.place === (await placeOf(connection))) return known;
  // Only whoever finds something to do waits for the others who do.
  await connection.script("BEGIN ISOLATION LEVEL READ COMMITTED");
  await connection.rows({ text: "SELECT pg_advisory_xact_lock($1)", values: [LOCK] });
  const meta = await readMeta(connection, shown);
  if (meta === undefined) await connection.script(`${TABLES}${STORAGE}`);
  for (let version = meta?.version ?? SCHEMA_VERSION; version < SCHEMA_VERSION; version++)
    await connection.script(MIGRATIONS[version - 1] as string);
  const place = await placeOf(connection);
  const epoch = meta?.place === place ? meta.epoch : randomBytes(12).toString("base64url");
  // Numbers of transactions are another server's now: whoever follows them begins anew.
  if (meta !== undefined && epoch !== meta.epoch)
    await connection.script("UPDATE blockyard.block SET changed = 0");
  await putMeta(connection, { schema: String(SCHEMA_VERSION), place, epoch });
  await connection.commit();
  return { epoch, place };
}

/** Stops at a database that is not the one which was opened any more: it was restored, or a standby took over. */
export async function requireSame(connection: Connection, shown: string, opened: Opened): Promise<void> {
  const [now] = await connection.rows<Opened>({
    text: `SELECT (SELECT value FROM blockyard.meta WHERE key = 'epoch') AS epoch, ${PLACE} AS place`,
  });
  if (now?.epoch === opened.epoch && now.place === opened.place) return;
  throw new StoreError(
    "io",
    `${shown} is not the database that was opened: it was restored, or another server took over. Restart this server`,
  );
}

/** The version of the tables, if there are any. Changes nothing. */
export async function readVersion(connection: Connection, shown: string): Promise<number | undefined> {
  return (await readMeta(connection, shown))?.version;
}

interface Meta extends Opened {
  readonly version: number;
}

async function readMeta(connection: Connection, shown: string): Promise<Meta | undefined> {
  const [found] = await connection.rows<{ meta: string | null; others: number }>({
    text: `SELECT to_regclass('blockyard.meta')::text AS meta,
      (SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'blockyard') AS others`,
  });
  if (!found?.meta) {
    if (!found?.others) return undefined;
    throw new StoreError("version", `${shown} has a schema named blockyard that belongs to another program`);
  }
  const rows = await connection.rows<{ key: string; value: string }>({
    text: "SELECT key, value FROM blockyard.meta",
  });
  const meta = new Map(rows.map(({ key, value }) => [key, value]));
  const version = Number(meta.get("schema"));
  if (!Number.isInteger(version) || version < 1 || version > SCHEMA_VERSION) {
    const known = `this version supports 1 to ${SCHEMA_VERSION}`;
    throw new StoreError("version", `${shown} has schema version ${meta.get("schema")}; ${known}`);
  }
  return { version, epoch: meta.get("epoch") ?? "", place: meta.get("place") ?? "" };
}

/**
 * Which server's history this is: the cluster, its timeline (another one after a standby took over, or after a restore to
 * a point in time), the database in it, and the tables in that (others after a dump was put back).
 */
const PLACE = `concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
  (SELECT oid FROM pg_database WHERE datname = current_database()), to_regclass('blockyard.meta')::oid)`;

async function placeOf(connection: Connection): Promise<string> {
  const [row] = await connection.rows<{ place: string }>({ text: `SELECT ${PLACE} AS place` });
  return row?.place ?? "";
}

async function putMeta(connection: Connection, meta: Readonly<Record<string, string>>): Promise<void> {
  await connection.run({
    text: `INSERT INTO blockyard.meta SELECT * FROM unnest($1::text[], $2::text[])
      ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    values: [Object.keys(meta), Object.values(meta)],
  });
}
