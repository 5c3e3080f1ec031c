/**
 * Is the file still what was written? Three nets, because SQLite itself does not notice a flipped bit in a value:
 *
 *   - Closing writes the checksums of the whole file beside it (`<database>.sums`); opening compares them, so that any
 *     changed byte is found before anything is read. The file of sums is removed before the first write, so that one
 *     that is there belongs to the database beside it.
 *   - Without sums (after a crash), a database of moderate size is checked row by row, its indexes against its tables.
 *   - Every row has a checksum that is checked whenever the row is read (tables.ts).
 *
 * A large database opens and closes without the first two nets, so that neither takes longer because more is stored.
 *
 * Format of the sums: "BLKSUMS1" · the file's bytes as a 64-bit number · the CRC-32 of each SUMMED_SEGMENT_BYTES of it ·
 * the CRC-32 of all of that; little-endian.
 */

import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { checkSum, corrupt, type SumPart } from "../encoding/fault.ts";
import { CHECKED_BYTES, SUMMED_BYTES, SUMMED_SEGMENT_BYTES } from "./limits.ts";
import type { Tables } from "./tables.ts";

const MAGIC = Buffer.from("BLKSUMS1");

/** Writes the sums of a database that was just closed, unless it is too large for that. */
export function writeSums(path: string, maxBytes = SUMMED_BYTES): void {
  const sums = sumsOf(path, maxBytes);
  if (sums === undefined) return;
  const temporary = `${sumsPath(path)}.new`;
  const file = openSync(temporary, "w", 0o600);
  try {
    writeSync(file, sums);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, sumsPath(path));
  syncDirectory(path);
}

/** Compares a database with its checksums and removes them. False: there are no usable ones. */
export function compareSums(path: string): boolean {
  if (!existsSync(sumsPath(path))) return false;
  const written = readFileSync(sumsPath(path));
  const log = `${path}-wal`;
  // Checksums that are damaged themselves, or of a database that something else has written to since, prove nothing.
  const usable = isWhole(written) && existsSync(path) && !(existsSync(log) && statSync(log).size > 0);
  const found = usable ? sumsOf(path) : undefined;
  if (found !== undefined && !found.equals(written)) {
    throw corrupt(
      `${path} differs from what was last written${describeDifference(written, found)}. ` +
        `If you have put a backup there yourself, remove ${sumsPath(path)}`,
    );
  }
  rmSync(sumsPath(path), { force: true });
  syncDirectory(path);
  return found !== undefined;
}

/** Makes a file's content durable. */
export function syncFile(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Makes the names in a file's directory durable. */
export function syncDirectory(path: string): void {
  const directory = openSync(dirname(path), "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Checks every page, index and row, unless the database is too large for that. */
export function checkWhole(
  path: string,
  db: DatabaseSync,
  tables: Tables,
  maxBytes: number = CHECKED_BYTES,
): void {
  if (statSync(path).size > maxBytes) return;
  const verdict = db
    .prepare("PRAGMA integrity_check(3)")
    .all()
    .map((row) => String(row["integrity_check"]));
  if (verdict.join() !== "ok") throw corrupt(verdict.join("; "));
  for (const [table, columns] of Object.entries(SUMMED)) checkRows(tables, table, columns);
}

/** The columns that each table's checksums cover besides `body`, in their order. */
const SUMMED: Readonly<Record<string, readonly string[]>> = {
  meta: ["key", "value"],
  journal: ["id"],
  conversation: ["id", "name", "updated_at", "seq", "ops", "journal"],
  block: [
    "id",
    "conversation",
    "born",
    "seq",
    "version",
    "created_at",
    "parent",
    "kind",
    "status",
    "path",
    "journal",
  ],
  chunk: ["owner", "first", "last", "seq", "dictionary", "plain"],
  dictionary: ["id", "copy"],
  fold: ["id", "version", "seq"],
  filter: ["id", "version"],
  turn: ["id", "conversation", "name"],
  answer: ["id", "conversation", "key"],
  raw: ["id", "conversation", "run", "bytes", "journal"],
  blob: ["hash", "media_type"],
  audit: ["at", "agent", "action", "once", "entry"],
};

function checkRows(tables: Tables, table: string, columns: readonly string[]): void {
  for (const stored of tables.statement(`SELECT * FROM ${table}`).iterate()) {
    const row = stored as Record<string, SumPart | Uint8Array>;
    const body = row["body"] as Uint8Array | undefined;
    checkSum(
      `a row of ${table}`,
      row["sum"],
      columns.map((column) => row[column] as SumPart),
      body,
    );
  }
}

function sumsPath(path: string): string {
  return `${path}.sums`;
}

function isWhole(sums: Buffer): boolean {
  const end = sums.length - 4;
  return end >= MAGIC.length + 8 && sums.readUInt32LE(end) === crc32(sums.subarray(0, end));
}

function sumsOf(path: string, maxBytes = SUMMED_BYTES): Buffer | undefined {
  const bytes = statSync(path).size;
  if (bytes > maxBytes) return undefined;
  const segments = Math.ceil(bytes / SUMMED_SEGMENT_BYTES);
  const sums = Buffer.alloc(MAGIC.length + 8 + segments * 4 + 4);
  sums.set(MAGIC);
  sums.writeBigUInt64LE(BigInt(bytes), MAGIC.length);
  const segment = Buffer.allocUnsafe(SUMMED_SEGMENT_BYTES);
  const file = openSync(path, "r");
  try {
    for (let n = 0; n < segments; n++) {
      const read = readSync(file, segment, 0, SUMMED_SEGMENT_BYTES, n * SUMMED_SEGMENT_BYTES);
      sums.writeUInt32LE(crc32(segment.subarray(0, read)), MAGIC.length + 8 + n * 4);
    }
  } finally {
    closeSync(file);
  }
  const end = sums.length - 4;
  sums.writeUInt32LE(crc32(sums.subarray(0, end)), end);
  return sums;
}

function describeDifference(written: Buffer, found: Buffer): string {
  const size = (sums: Buffer) => sums.readBigUInt64LE(MAGIC.length);
  if (size(written) !== size(found)) return ": its size has changed";
  for (let at = MAGIC.length + 8; at < found.length - 4; at += 4) {
    if (written.readUInt32LE(at) === found.readUInt32LE(at)) continue;
    const from = ((at - MAGIC.length - 8) / 4) * SUMMED_SEGMENT_BYTES;
    return `: bytes ${from} to ${from + SUMMED_SEGMENT_BYTES} differ`;
  }
  return "";
}
