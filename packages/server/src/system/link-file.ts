/** A second name for a file: unlike a move it replaces nothing. */

import { linkSync, renameSync } from "node:fs";

/** The error of a file system without hard links. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "ENOSYS", "EMLINK"]);

/** False if the name is taken; then nothing changes. Without hard links, the file is moved. */
export function linkOrMove(from: string, to: string): boolean {
  try {
    linkSync(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (!NO_LINKS.has(code ?? "")) throw error;
    renameSync(from, to);
  }
  return true;
}
