/**
 * The last part of a restore (restore.ts), for whoever opens a database next: `<database>.restored`, where it exists, is
 * whole and is the database; it only has not got its name yet. Here it gets it. What was there before is kept under another
 * name, with the log that belongs to it: beside the new database that log would be taken for its own.
 *
 * To be called under the database's lock. Every step may be the last one of this process: it is done again, or found done.
 */

import { existsSync, lstatSync, renameSync, rmSync, type Stats } from "node:fs";
import { linkOrMove } from "../../system/link-file.ts";
import { guarded } from "../encoding/fault.ts";
import { syncDirectory } from "./integrity.ts";

const RESTORED = ".restored";
const RESTORING = ".restoring";

/** The files beside a database that belong to its content. */
const BESIDE = ["-wal", "-journal", ".sums"];

export function restoredPath(path: string): string {
  return `${path}${RESTORED}`;
}

/** The folder in which a restored database is built. */
export function restoringFolder(path: string): string {
  return `${path}${RESTORING}`;
}

/** Whether a restore is decided and not yet finished. */
export function isRestored(path: string): boolean {
  return existsSync(restoredPath(path));
}

/** Whether there is a database, or files that the next opening turns into one. */
export function hasDatabase(path: string): boolean {
  return existsSync(path) || isRestored(path);
}

/**
 * Finishes a decided restore, and removes the files of an undecided one. Returns the name under which the old one is
 * kept.
 */
export function finishRestore(path: string): string | undefined {
  return guarded(`cannot finish the restore of ${path}`, () => {
    const kept = isRestored(path) ? exchange(path, restoredPath(path)) : undefined;
    removeRestoring(path);
    return kept;
  });
}

/** A folder that cannot be removed takes up space, and nothing else. */
export function removeRestoring(path: string): void {
  try {
    if (existsSync(restoringFolder(path))) rmSync(restoringFolder(path), { recursive: true, force: true });
  } catch {
    // a disk that has become read-only: the next opening retries
  }
}

function exchange(path: string, restored: string): string | undefined {
  const old = statOf(path);
  const kept = keptName(path, statOf(restored)?.mtime ?? new Date(), old);
  // By a second name, so that there is a database at every moment.
  if (old !== undefined) linkOrMove(path, kept);
  for (const ending of BESIDE)
    if (statOf(`${path}${ending}`) !== undefined) renameSync(`${path}${ending}`, `${kept}${ending}`);
  rmSync(`${path}-shm`, { force: true });
  // Before the new one exists: after a power loss the old log must not be back beside it.
  syncDirectory(path);
  renameSync(restored, path);
  syncDirectory(path);
  return old === undefined ? undefined : kept;
}

/** Always the same for one restore; distinct from other files' names. */
function keptName(path: string, at: Date, old: Stats | undefined): string {
  const name = `${path}.before-${at.toISOString().slice(0, 19).replace(/[:T]/g, "-")}`;
  for (let n = 1; ; n++) {
    const kept = n === 1 ? name : `${name}-${n}`;
    const there = statOf(kept);
    if (there === undefined || old === undefined) return kept;
    if (there.ino === old.ino && there.dev === old.dev) return kept;
  }
}

/** Of the name itself, also if it is a link. */
function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
