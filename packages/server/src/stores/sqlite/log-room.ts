/**
 * Room for SQLite's write-ahead log, made ahead. A sync of bytes that a file has got anew also has to write where they
 * lie, and takes half as long again as a sync of bytes that lie where others have lain. The log is written from its
 * beginning after every checkpoint, so that this matters until it has its full length; a busy store therefore gives
 * it that length at once, in zeros, behind the end that it has. To SQLite zeros are no frames: it never reads them.
 *
 * To be called while nothing is being written: what SQLite has written is never touched.
 */

import { closeSync, fstatSync, openSync, writeSync } from "node:fs";

/** Pages that the log takes up before they are brought into the file: the pragma of schema.ts. */
export const LOG_PAGES = 4_000;

/** The length of a log of so many pages of 4 KB, and of one transaction more. */
export const LOG_BYTES = (LOG_PAGES + 256) * (4_096 + 24);

/** Commits after which a store counts as busy: most programs that open one write less. */
export const BUSY_AFTER = 64;

const STEP_BYTES = 1024 * 1024;

/** Gives the log of the database at `path` its full length. It is a help and nothing more: where it fails, it is left. */
export function makeLogRoom(path: string): void {
  try {
    const file = openSync(`${path}-wal`, "r+");
    try {
      const zeros = Buffer.alloc(STEP_BYTES);
      for (let at = fstatSync(file).size; at < LOG_BYTES; at += STEP_BYTES) {
        writeSync(file, zeros, 0, Math.min(STEP_BYTES, LOG_BYTES - at), at);
      }
    } finally {
      closeSync(file);
    }
  } catch {
    // A full disk, for example: SQLite makes room for itself, or says that there is none.
  }
}
