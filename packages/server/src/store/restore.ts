/**
 * Putting a backup back. A restored database gets an epoch of its own, because the sequence numbers after the backup
 * were given out once already and will be given out again for something else.
 */

import { copyFileSync, existsSync, renameSync, rmSync } from "node:fs";
import { StoreError } from "@blockyard/kernel";
import { syncFile } from "./backup.ts";
import { guarded } from "./fault.ts";
import { syncDirectory } from "./integrity.ts";
import { openSqliteStore } from "./sqlite.ts";

/** Puts a backup where there is no database, and gives it a new epoch. */
export async function restoreSqliteStore(from: string, path: string): Promise<void> {
  guarded(`cannot restore ${from}`, () => {
    for (const file of [path, `${path}-wal`]) {
      if (existsSync(file)) throw new StoreError("io", `cannot restore ${from}: ${file} exists`);
    }
    rmSync(`${path}.sums`, { force: true });
    const temporary = `${path}.new`;
    copyFileSync(from, temporary);
    syncFile(temporary);
    renameSync(temporary, path);
    syncDirectory(path);
  });
  const store = await openSqliteStore(path);
  await store.newEpoch();
  await store.close();
}
