/**
 * A copy of a database, taken while it is in use. How it is put back: restore.ts.
 */

import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";
import { asFault } from "./fault.ts";
import { syncDirectory } from "./integrity.ts";

/** Copies the database page by page in the background. The copy appears under its name when it is whole and durable. */
export async function copyDatabase(db: DatabaseSync, path: string, pagesAtOnce = 256): Promise<void> {
  const temporary = `${path}.new`;
  try {
    rmSync(temporary, { force: true });
    await backup(db, temporary, { rate: pagesAtOnce });
    syncFile(temporary);
    renameSync(temporary, path);
    syncDirectory(path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw asFault(error, `cannot back up to ${path}`);
  }
}

/**
 * Copies a database that another process may have open: everything that it has acknowledged is in the file. In one step,
 * because a copy that another process's writes overtake begins again.
 */
export async function copyDatabaseFile(from: string, to: string): Promise<void> {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(from, { readOnly: true, timeout: 10_000 });
    await copyDatabase(db, to, 0x7fff_ffff);
  } catch (error) {
    throw asFault(error, `cannot back up ${from}`);
  } finally {
    db?.close();
  }
}

export function syncFile(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
