/**
 * Repositories inside of the folders that commands may write to, as far as they were ever found. They are looked for in a bounded number of
 * entries, and a command can add entries, or take away what shows that a folder is a repository: what was found once stays
 * kept for as long as its folder is there, also after a restart.
 */

import { statSync } from "node:fs";
import { join } from "node:path";
import { isInside } from "../processes/folder.ts";
import { writePrivate } from "../system/private-file.ts";
import { smallFile } from "../system/small-file.ts";
import { KNOWN_BYTES, NESTED_REPOSITORIES } from "./limits.ts";
import { nestedRepositories } from "./nested.ts";

export class KnownRepositories {
  readonly #file: string;
  #known: readonly string[] | undefined;

  /** `data`: the server's data directory. */
  constructor(data: string) {
    this.#file = join(data, "repositories.json");
  }

  /** Those below a folder, the ones that were known first before all others. */
  async in(folder: string): Promise<readonly string[]> {
    const found = await nestedRepositories(folder);
    const known = this.#read().filter((path) => isInside(folder, path) && isFolder(path));
    const all = [...new Set([...known, ...found])].slice(0, NESTED_REPOSITORIES);
    this.#keep(folder, all);
    return all;
  }

  #keep(folder: string, repositories: readonly string[]): void {
    const before = this.#read();
    const others = before.filter((path) => !isInside(folder, path));
    const now = [...repositories, ...others].slice(0, NESTED_REPOSITORIES * FOLDERS);
    if (now.length === before.length && now.every((path) => before.includes(path))) return;
    this.#known = now;
    // Where the disk is full they are known until the next start.
    try {
      writePrivate(this.#file, JSON.stringify(now));
    } catch {}
  }

  #read(): readonly string[] {
    this.#known ??= listIn(smallFile(this.#file, KNOWN_BYTES) ?? "[]");
    return this.#known;
  }
}

/** Of so many folders that were served. */
const FOLDERS = 20;

function listIn(text: string): readonly string[] {
  try {
    const paths: unknown = JSON.parse(text);
    return Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [];
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
