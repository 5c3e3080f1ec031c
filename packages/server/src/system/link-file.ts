/** A second name for a file: unlike a move it replaces nothing. */

import { linkSync, renameSync } from "node:fs";

/** What a file system without hard links answers. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "ENOSYS", "EMLINK"]);

/** False where the name is taken; then nothing changes. Where there are no hard links, the file is moved. */
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
