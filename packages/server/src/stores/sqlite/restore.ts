/**
 * Putting a backup back. A restored database gets an epoch of its own, because the sequence numbers after the backup
 * were given out once already and will be given out again for something else.
 *
 * It is all or nothing, wherever the process is killed. Everything that takes time is done in a folder beside the database:
 * copying, checking, migrating, the new epoch. Then one rename, to `<database>.restored`, decides: from then on that is the
 * database, and the little that is left to do is done by whoever opens it next, if not here (restored.ts).
 *
 * The search index needs nothing: it belongs to an epoch (search/index-folder.ts).
 */

import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { StoreError } from "@blockyard/kernel/plain";
import { guarded } from "../encoding/fault.ts";
import { syncDirectory, syncFile } from "./integrity.ts";
import { holdLock } from "./lock.ts";
import { finishRestore, hasDatabase, removeRestoring, restoredPath, restoringFolder } from "./restored.ts";
import { openSqliteStore } from "./sqlite.ts";

interface RestoreOptions {
  /** Even if there is a database. */
  readonly replace?: boolean;
  /** Repairs the copy, which nobody has open, before the replacement. An exception ends the restore, and changes nothing. */
  readonly change?: (fresh: string) => Promise<void>;
}

/**
 * Puts a backup in the database's place, under a new epoch. Returns the name under which the old one is kept, if there
 * was one.
 */
export async function restoreSqliteStore(
  from: string,
  path: string,
  { replace = false, change }: RestoreOptions = {},
): Promise<string | undefined> {
  const lock = holdLock(path);
  try {
    finishRestore(path);
    if (!replace && (hasDatabase(path) || existsSync(`${path}-wal`)))
      throw new StoreError("io", `cannot restore ${from}: ${path} exists`);
    const fresh = await prepare(from, restoringFolder(path), basename(path), change);
    guarded(`cannot restore ${from}`, () => {
      renameSync(fresh, restoredPath(path));
      syncDirectory(path);
    });
    return finishRestore(path);
  } finally {
    removeRestoring(path);
    lock.release();
  }
}

/** Creates a separate database, whole and durable in one file, from `from`. */
async function prepare(
  from: string,
  folder: string,
  name: string,
  change?: RestoreOptions["change"],
): Promise<string> {
  const fresh = join(folder, name);
  guarded(`cannot restore ${from}`, () => {
    mkdirSync(folder, { mode: 0o700 });
    // A database that an earlier restore has replaced may have a log, and checksums that report damage. A
    // backup has neither.
    for (const ending of ["", "-wal", ".sums"])
      if (ending === "" || existsSync(`${from}${ending}`))
        copyPrivate(`${from}${ending}`, `${fresh}${ending}`);
  });
  const store = await openSqliteStore(fresh, { isBackup: true });
  try {
    await store.newEpoch();
  } finally {
    await store.close();
  }
  await change?.(fresh);
  const log = statSync(`${fresh}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0)
    throw new StoreError("io", `cannot restore ${from}: its log could not be merged into the file`);
  guarded(`cannot restore ${from}`, () => syncFile(fresh));
  return fresh;
}

function copyPrivate(from: string, to: string): void {
  copyFileSync(from, to);
  chmodSync(to, 0o600);
}
