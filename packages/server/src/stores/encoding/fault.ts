/**
 * From SQLite's errors to the store's: every failure that leaves this folder is a StoreError or a bug. Also the
 * checksums of rows, whose mismatch is one of those failures.
 */

import { crc32 } from "node:zlib";
import { StoreError, type StoreErrorCode } from "@blockyard/kernel/plain";

// SQLite's primary result codes, https://sqlite.org/rescode.html
const CODES: Readonly<Record<number, StoreErrorCode>> = {
  1: "corrupt", // a table or column that should be there is not
  5: "locked",
  6: "locked",
  7: "io", // out of memory
  8: "io", // read-only file system
  10: "io",
  11: "corrupt",
  13: "full",
  14: "io", // cannot open
  15: "locked",
  19: "corrupt", // a unique key that should be free is taken
  20: "corrupt",
  26: "corrupt", // not a database
};

/** The log's shared memory could not grow: it is a file, and there was no room for it. */
const NO_ROOM = 4874;

interface SqliteError extends Error {
  readonly code: "ERR_SQLITE_ERROR";
  readonly errcode: number;
  readonly errstr: string;
}

/** What to throw for `error`: a StoreError if SQLite or the system failed, the error itself if it is a bug. */
export function asFault(error: unknown, doing: string): unknown {
  if (isSqliteError(error)) {
    const code = error.errcode === NO_ROOM ? "full" : CODES[error.errcode & 0xff];
    if (code === undefined) return error;
    return new StoreError(code, `${doing}: ${error.message} (SQLite ${error.errcode})`, { cause: error });
  }
  const system = systemCode(error);
  if (system === undefined) return error;
  const full = system === "ENOSPC" || system === "EDQUOT";
  return new StoreError(full ? "full" : "io", `${doing}: ${(error as Error).message}`, { cause: error });
}

/** Runs `work` and lets nothing but StoreErrors and bugs out. */
export function guarded<T>(doing: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asFault(error, doing);
  }
}

export type SumPart = string | number | null;

/** The checksum of a row: of its key columns and of its body. */
export function rowSum(columns: readonly SumPart[], body?: Uint8Array): number {
  const keys = crc32(columns.join("\u0000"));
  return body === undefined ? keys : crc32(body, keys);
}

/** Throws on a row that differs from what was written. */
export function checkSum(what: string, sum: unknown, columns: readonly SumPart[], body?: Uint8Array): void {
  if (sum === rowSum(columns, body)) return;
  throw corrupt(`${what}: the stored bytes do not match their checksum`);
}

export function corrupt(what: string, cause?: unknown): StoreError {
  return new StoreError("corrupt", `the database is damaged: ${what}`, { cause });
}

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && (error as { code?: unknown }).code === "ERR_SQLITE_ERROR";
}

function systemCode(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown; syscall?: unknown }) : undefined;
  return typeof code?.code === "string" && typeof code.syscall === "string" ? code.code : undefined;
}
