/**
 * A copy of a database, taken while it is in use. How it is put back: restore.ts.
 */

import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { backup, type DatabaseSync } from "node:sqlite";
import { asFault } from "./fault.ts";
import { syncDirectory } from "./integrity.ts";

/** Copies the database page by page in the background. The copy appears under its name when it is whole and durable. */
export async function copyDatabase(db: DatabaseSync, path: string): Promise<void> {
  const temporary = `${path}.new`;
  try {
    rmSync(temporary, { force: true });
    await backup(db, temporary, { rate: 256 });
    syncFile(temporary);
    renameSync(temporary, path);
    syncDirectory(path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw asFault(error, `cannot back up to ${path}`);
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
