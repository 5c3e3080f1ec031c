/**
 * Everything that was ever found below the folders that commands may write to, and must be protected: repositories,
 * guarded files. The search covers a bounded number of entries, and a command can add entries, or remove what
 * identifies something. So what was found once stays known for as long as it exists, also after a restart.
 */

import { lstatSync } from "node:fs";
import { isInside } from "../processes/folder.ts";
import { writePrivate } from "../system/private-file.ts";
import { smallFile } from "../system/small-file.ts";
import { KNOWN_BYTES, KNOWN_FOLDERS } from "./limits.ts";

export class KnownPaths {
  readonly #file: string;
  readonly #most: number;
  #known: readonly string[] | undefined;

  /** `most`: so many of one folder are remembered, those that were found first. */
  constructor(file: string, most: number) {
    this.#file = file;
    this.#most = most;
  }

  /** All below a folder, those that are known before those that were found now. */
  with(folder: string, found: readonly string[]): readonly string[] {
    const before = this.#read();
    const known = before.filter((path) => isInside(folder, path) && isThere(path));
    const all = [...new Set([...known, ...found])];
    const others = before.filter((path) => !isInside(folder, path));
    this.#keep([...all.slice(0, this.#most), ...others].slice(0, this.#most * KNOWN_FOLDERS));
    return all;
  }

  #keep(now: readonly string[]): void {
    const before = new Set(this.#read());
    if (now.length === before.size && now.every((path) => before.has(path))) return;
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

function listIn(text: string): readonly string[] {
  try {
    const paths: unknown = JSON.parse(text);
    return Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [];
  } catch {
    return [];
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
