/**
 * A file of somebody else's, read at once: no longer than it may be, and nothing that has no end or keeps its reader waiting, such as a pipe
 * that was put in its place.
 */

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** Undefined if it is no file, is too long, or cannot be read. A file of size 0 is not opened. */
export function smallFile(
  path: string,
  maxBytes: number,
  encoding: "utf8" | "latin1" = "utf8",
): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > maxBytes) return undefined;
    return stat.size === 0 ? "" : readFileSync(file, encoding);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
