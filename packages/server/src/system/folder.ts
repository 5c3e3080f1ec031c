/**
 * Folders of our own. One by one, since a recursive `mkdir` of Node tries for ever where a file system (such as /proc) answers that a
 * folder whose parent exists cannot be made for want of a parent.
 */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Creates the folder and its parents, private if they are new; throws the file system's error if one cannot be created. */
export function makeFolder(path: string): void {
  if (makeOne(path) !== "no parent") return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

function makeOne(path: string): "made" | "no parent" {
  try {
    mkdirSync(path, { mode: 0o700 });
    return "made";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return "made";
    if (code === "ENOENT") return "no parent";
    throw error;
  }
}
