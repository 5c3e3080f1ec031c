/**
 * From PostgreSQL's errors to the store's: every failure that leaves this folder is a StoreError or a bug. And what to do
 * about one: whether the connection is gone, whether trying again may help, whether it is the fault of the values.
 */

import { StoreError, type StoreErrorCode } from "@blockyard/kernel/plain";

// https://www.postgresql.org/docs/current/errcodes-appendix.html, by code, then by class
const CODES: Readonly<Record<string, StoreErrorCode>> = {
  "53100": "full", // the disk
  XX001: "corrupt", // a page
  XX002: "corrupt", // an index
  "42P01": "corrupt", // a table that should be there is not
  "42703": "corrupt", // a column
  "23": "corrupt", // a unique key that should be free is taken
};

/** The driver's messages without a code. */
const GONE =
  /connection terminated|connection error|timeout exceeded when trying to connect|timeout expired|query read timeout/i;

const GONE_CODES = new Set(["ECONNRESET", "EPIPE", "ECONNREFUSED", "ETIMEDOUT", "EHOSTUNREACH", "ENOTFOUND"]);
const NEVER = new Set(["3D000", "28000", "28P01"]); // no such database, no way in

/** The connection is lost, or none is available at the moment. */
export function isDropped(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) return error instanceof Error && GONE.test(error.message);
  if (NEVER.has(code)) return false;
  // 08: connection; 57P: the server or an administrator ended it; 53300: too many; 25P03: it was idle for too long
  return GONE_CODES.has(code) || /^(08|57P)/.test(code) || code === "53300" || code === "25P03";
}

/** Another transaction was in the way: the same one may succeed now. */
export function isTransient(error: unknown): boolean {
  return ["40001", "40P01", "55P03"].includes(codeOf(error) ?? "");
}

/** The values to write are invalid, so that others in the batch may succeed. */
export function isOfValues(error: unknown): boolean {
  return /^(22|23|54)/.test(codeOf(error) ?? "") || error instanceof RangeError;
}

/** What to throw for `error`: a StoreError if PostgreSQL or the way to it failed, the error itself if it is a bug. */
export function asFault(error: unknown, doing: string): unknown {
  if (error instanceof StoreError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  if (code === undefined && !isDropped(error)) return error;
  const kind = CODES[code ?? ""] ?? CODES[(code ?? "").slice(0, 2)] ?? "io";
  const what = code === undefined ? error.message : `${error.message} (${code})`;
  return new StoreError(kind, `${doing}: ${what}`, { cause: error });
}

export function damaged(what: string): StoreError {
  return new StoreError("corrupt", `the database is damaged: ${what}`);
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  // Five characters are PostgreSQL's; the others are the system's. Neither are Node's own, which are bugs.
  return typeof code === "string" && !code.startsWith("ERR_") ? code : undefined;
}
