/**
 * Repositories inside a folder, with a `.git` of their own or bare: a served folder often has several. The search goes
 * from the top down, over a bounded number of entries, and skips installed packages and build output.
 */

import { type Dirent, promises as fs } from "node:fs";
import { join } from "node:path";
import { NESTED_LOOKED_AT, NESTED_REPOSITORIES } from "./limits.ts";

const PASSED = new Set([".git", "node_modules", ".venv", "venv", "site-packages", "__pycache__", "target"]);

export async function nestedRepositories(root: string): Promise<readonly string[]> {
  const found: string[] = [];
  const folders = [root];
  let left = NESTED_LOOKED_AT;
  for (const folder of folders) {
    const entries = await entriesIn(folder);
    left -= entries.length;
    if (folder !== root && isRepository(entries)) found.push(folder);
    if (left <= 0 || found.length >= NESTED_REPOSITORIES) break;
    for (const entry of entries)
      if (entry.isDirectory() && !PASSED.has(entry.name)) folders.push(join(folder, entry.name));
  }
  return found;
}

function isRepository(entries: readonly Dirent[]): boolean {
  const has = (name: string) => entries.some((entry) => entry.name === name);
  return has(".git") || ["HEAD", "objects", "refs"].every(has);
}

async function entriesIn(folder: string): Promise<readonly Dirent[]> {
  return fs.readdir(folder, { withFileTypes: true }).catch(() => []);
}
