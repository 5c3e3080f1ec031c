/**
 * Small files of the home folder that only their owner can read: tokens, and the running server's address. A file is written
 * beside its place, synced and then moved there, so that whoever reads it finds the old content or the new one, never half
 * of it, also after a crash, a power loss or on a full disk. What was removed stays so: a revoked token or session does not come back.
 */

import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { linkOrMove } from "./link-file.ts";

/** Replaces the content. Throws the system's error, and leaves the previous content. */
export function writePrivate(path: string, text: string): void {
  placed(path, text, (fresh) => renameSync(fresh, path));
}

/** False where another process has made it first; that one's content stays. */
export function createPrivate(path: string, text: string): boolean {
  return placed(path, text, (fresh) => linkOrMove(fresh, path));
}

/** Whether it existed, and this call has removed it. */
export function removePrivate(path: string): boolean {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
  syncFolder(path);
  return true;
}

/** Makes durable which files a folder has. A system that cannot (Windows) does so by itself. */
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function placed<T>(path: string, text: string, place: (fresh: string) => T): T {
  const fresh = `${path}.${randomBytes(4).toString("hex")}`;
  try {
    const file = openSync(fresh, "wx", 0o600);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    const answer = place(fresh);
    syncFolder(path);
    return answer;
  } catch (error) {
    // Of a write to an open file the system does not say which one it was.
    throw Object.assign(error as NodeJS.ErrnoException, { path });
  } finally {
    removeQuietly(fresh); // if it was moved, there is none
  }
}

/** The write's own error names a file that cannot be removed either. */
function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // a file system that has become read-only
  }
}
