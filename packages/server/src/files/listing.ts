/**
 * Lists folders of the workspace: names, types and sizes, without what is ignored, `.git`, the server's own folder and our
 * temporary files. Links are named, never followed. Bounded in entries, depth and time; the answer says when it was cut.
 */

import { constants } from "node:fs";
import { lstat, open, opendir } from "node:fs/promises";
import { join } from "node:path";
import { isProblem, type Problem } from "@blockyard/kernel";
import { isTemporary } from "./disk-file.ts";
import { IgnoreStack } from "./ignore-rules.ts";
import { type Bounds, bounds as usual } from "./limits.ts";
import { type CleanPath, isGit } from "./path.ts";
import type { Folder, Root } from "./root.ts";

export interface Entry {
  readonly path: string;
  readonly type: "file" | "folder" | "link" | "other";
  readonly bytes?: number;
}

interface Listing {
  readonly entries: readonly Entry[];
  /** There is more than this. */
  readonly more: boolean;
}

export interface ListingOptions {
  readonly depth: number;
  readonly limit: number;
  /** Also what `.gitignore` files name. */
  readonly ignored: boolean;
}

export async function listFolder(
  root: Root,
  path: CleanPath,
  options: ListingOptions,
  bounds: Bounds,
): Promise<Listing | Problem> {
  const walk = new Walk(root, options, bounds);
  const refused = await walk.begin(path.parts);
  return refused ?? { entries: walk.entries, more: walk.isCut };
}

class Walk {
  readonly entries: Entry[] = [];
  isCut = false;
  readonly #root: Root;
  readonly #options: ListingOptions;
  readonly #bounds: Bounds;
  readonly #until: number;
  #read = 0;

  constructor(root: Root, options: ListingOptions, bounds: Bounds) {
    this.#root = root;
    this.#options = options;
    this.#bounds = bounds;
    this.#until = performance.now() + bounds.listMs;
  }

  /** The rules of the folders above are read first. */
  async begin(parts: readonly string[]): Promise<Problem | undefined> {
    let rules = new IgnoreStack();
    for (let depth = 0; depth < parts.length; depth++) {
      const folder = await this.#root.folder(parts.slice(0, depth));
      if (isProblem(folder)) return folder;
      rules = await withRules(rules, folder, parts.slice(0, depth).join("/"));
      await folder.close();
    }
    return this.#folder(parts, rules, this.#options.depth);
  }

  async #folder(parts: readonly string[], above: IgnoreStack, depth: number): Promise<Problem | undefined> {
    const folder = await this.#root.folder(parts);
    if (isProblem(folder)) return folder;
    const name = parts.join("/");
    let below: string[];
    let rules = above;
    try {
      rules = await withRules(above, folder, name);
      const names = await this.#names(folder);
      const entries = await Promise.all(names.map((each) => entryOf(folder, name, each)));
      const shown = entries.filter((entry) => entry !== undefined && this.#isShown(entry, rules)) as Entry[];
      below = this.#take(shown);
    } finally {
      await folder.close();
    }
    if (depth <= 1) return undefined;
    for (const path of below) {
      if (this.isCut) return undefined;
      await this.#folder(path.split("/"), rules, depth - 1); // one that is gone meanwhile is no failure
    }
    return undefined;
  }

  /** Adds the entries that fit; the folders among them. */
  #take(entries: readonly Entry[]): string[] {
    const room = this.#options.limit - this.entries.length;
    if (entries.length > room) this.isCut = true;
    const taken = entries.slice(0, room);
    this.entries.push(...taken);
    return taken.filter(({ type }) => type === "folder").map(({ path }) => path);
  }

  async #names(folder: Folder): Promise<string[]> {
    const names: string[] = [];
    for await (const { name } of await opendir(folder.at("."))) {
      if (++this.#read > this.#bounds.listRead || performance.now() > this.#until) {
        this.isCut = true;
        break;
      }
      if (!isGit(name) && !isTemporary(name)) names.push(name);
    }
    return names.sort((a, b) => (a < b ? -1 : 1));
  }

  #isShown({ path, type }: Entry, rules: IgnoreStack): boolean {
    if (this.#root.isClosed(join(this.#root.path, path))) return false;
    if (performance.now() > this.#until) {
      this.isCut = true;
      return false;
    }
    return this.#options.ignored || !rules.ignores(type === "folder" ? `${path}/` : path);
  }
}

async function entryOf(folder: Folder, above: string, name: string): Promise<Entry | undefined> {
  const stat = await lstat(folder.at(name)).catch(() => undefined);
  if (!stat) return undefined;
  const path = above === "" ? name : `${above}/${name}`;
  if (stat.isFile()) return { path, type: "file", bytes: stat.size };
  return { path, type: stat.isDirectory() ? "folder" : stat.isSymbolicLink() ? "link" : "other" };
}

async function withRules(rules: IgnoreStack, folder: Folder, name: string): Promise<IgnoreStack> {
  const text = await readSmall(folder, ".gitignore");
  return text === undefined ? rules : rules.with(name, text);
}

async function readSmall(folder: Folder, name: string): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(folder.at(name), flags).catch(() => undefined);
  if (!handle) return undefined;
  try {
    const stat = await handle.stat();
    return stat.isFile() && stat.size <= usual.ignoreBytes ? await handle.readFile("utf8") : undefined;
  } finally {
    await handle.close();
  }
}
