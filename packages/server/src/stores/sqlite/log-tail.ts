/**
 * The end of SQLite's write-ahead log after a commit that failed. Its frames may be in the file all the same, the last one
 * included: if no other commit came to lie over them, whoever opens the database next would take them for a commit, which
 * its caller was told is not there. So they are cut off. That needs no space.
 */

import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { FRAME_BYTES, HEADER_BYTES } from "./log-check.ts";
import { pragma } from "./schema.ts";

/** Keeps the frames of commits that succeeded. Throws if that cannot be done. */
export function cutLogTail(db: DatabaseSync, path: string): void {
  // NOOP: writes nothing into the file, and returns how many frames count.
  const { log } = db.prepare("PRAGMA wal_checkpoint(NOOP)").get() as { log: number };
  if (log < 0) return; // no log
  const end = HEADER_BYTES + log * (FRAME_BYTES + (pragma(db, "page_size") as number));
  const file = openSync(`${path}-wal`, "r+");
  try {
    if (fstatSync(file).size <= end) return;
    ftruncateSync(file, end);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
