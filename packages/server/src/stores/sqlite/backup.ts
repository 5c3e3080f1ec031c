/** A copy of a database, taken while it is in use. How it is put back: restore.ts. */

import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";
import { StoreError } from "@blockyard/kernel/plain";
import { linkOrMove } from "../../system/link-file.ts";
import { asFault } from "../encoding/fault.ts";
import { syncDirectory, syncFile } from "./integrity.ts";
import { BACKUP_LOCK_MS } from "./limits.ts";
import { holdLock } from "./lock.ts";
import { finishRestore, isRestored } from "./restored.ts";

/** Copies the database page by page in the background. The copy appears under its name when it is whole and durable. */
export async function copyDatabase(db: DatabaseSync, path: string, pagesAtOnce = 256): Promise<void> {
  // A unique name: two copies at the same time do not collide.
  const temporary = `${path}.${randomBytes(4).toString("hex")}.new`;
  try {
    await backup(db, temporary, { rate: pagesAtOnce });
    syncFile(temporary);
    if (!linkOrMove(temporary, path)) throw new StoreError("io", `${path} already exists`);
    rmSync(temporary, { force: true }); // if it was moved, there is none
    syncDirectory(path);
  } catch (error) {
    for (const ending of ["", "-journal"]) rmSync(`${temporary}${ending}`, { force: true });
    throw asFault(error, `cannot back up to ${path}`);
  }
}

/**
 * Copies a database that another process may have open: everything that it has acknowledged is in the file. In one
 * step, because a copy that another process's writes overtake starts over.
 */
export async function copyDatabaseFile(from: string, to: string): Promise<void> {
  let db: DatabaseSync | undefined;
  try {
    if (isRestored(from)) finishLocked(from);
    db = new DatabaseSync(from, { readOnly: true, timeout: BACKUP_LOCK_MS });
    await copyDatabase(db, to, 0x7fff_ffff);
  } catch (error) {
    throw asFault(error, `cannot back up ${from}`);
  } finally {
    db?.close();
  }
}

/** A restore that was cut is finished first: its database is the one to copy. */
function finishLocked(path: string): void {
  const lock = holdLock(path);
  try {
    finishRestore(path);
  } finally {
    lock.release();
  }
}
