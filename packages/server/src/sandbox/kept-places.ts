/**
 * The real locations of paths that are protected from a program. Links may lead there, and no mount can hold a link in
 * place. So their targets are protected where they are, below the writable folders, and a replaced link is restored
 * when the program has ended.
 */

import { randomBytes } from "node:crypto";
import { chmodSync, lstatSync, readlinkSync, renameSync, statSync, symlinkSync } from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";
import { isInside } from "../processes/folder.ts";
import { LINKS_ON_A_WAY } from "./limits.ts";

export interface KeptPath {
  readonly path: string;
  readonly isFolder: boolean;
  /**
   * It does not exist. An empty placeholder can take its place; otherwise anything there is removed when the program is
   * gone.
   */
  readonly isMissing?: "may-be-empty" | "must-not-be";
  /** It may be written in, and not moved. */
  readonly isHeld?: true;
  /** It is a link with this text. */
  readonly link?: string;
}

/**
 * The same by its real path, with the folders and links on the way. Places outside of the folders are not writable
 * anyway.
 */
export function placed(kept: readonly KeptPath[], folders: readonly string[]): readonly KeptPath[] {
  const topOf = (path: string) => folders.find((folder) => isInside(folder, path));
  return kept.flatMap((each) => {
    const top = topOf(each.path);
    if (top === undefined) return [];
    const { place, links } = follow(top, each.path);
    const back = links.flatMap((link) => {
      const at = topOf(link.path);
      return at === undefined ? [] : [...above(at, link.path), link];
    });
    const inside = place === undefined ? undefined : topOf(place);
    if (place === undefined || inside === undefined) return back;
    return [...back, ...standing({ ...each, path: place }, inside, links.length > 0)];
  });
}

/** The folders on the way to a path, which are pinned: another one could replace any of them. */
function above(folder: string, path: string): readonly KeptPath[] {
  const parts = relative(folder, path).split("/").slice(0, -1);
  return parts.map((_, index) => ({
    ...{ path: join(folder, ...parts.slice(0, index + 1)), isFolder: true, isHeld: true },
  }));
}

/** A missing path is kept from being created, from its first missing part. */
function standing(each: KeptPath, top: string, isLinked: boolean): readonly KeptPath[] {
  const { path, isFolder, isMissing = isLinked ? "may-be-empty" : undefined, ...rest } = each;
  const way = relative(top, path).split("/");
  const gone = way.findIndex((_, at) => !isThere(join(top, ...way.slice(0, at + 1))));
  if (gone === -1) return [...above(top, path), { path, isFolder, ...rest }];
  if (isMissing === undefined) return [];
  const missing = join(top, ...way.slice(0, gone + 1));
  const isLast = gone === way.length - 1;
  if (isMissing === "must-not-be" && !isLast) return [];
  return [...above(top, missing), { path: missing, isFolder: isFolder || !isLast, isMissing }];
}

/** Pinned folders come first, from the top down: a folder pinned after what is protected in it could be written to again. */
export function inOrder(kept: readonly KeptPath[]): readonly KeptPath[] {
  const held = new Set(kept.flatMap(({ path, isHeld }) => (isHeld ? [path] : [])));
  const others = new Map(kept.flatMap((each) => (each.isHeld ? [] : [[each.path, each]])));
  const paths = [...held].sort((a, b) => a.length - b.length);
  return [...paths.map((path) => ({ path, isFolder: true, isHeld: true }) as const), ...others.values()];
}

/**
 * Removes what a program has created and git would obey, and restores the links that it has replaced. Folders on the
 * way that it has closed are opened again: in an unreadable folder, nothing could be found to protect from the next
 * program.
 */
export function putBack(kept: readonly KeptPath[]): void {
  const ways = new Set(
    kept.flatMap(({ path, isHeld }) => (isHeld ? [dirname(path), path] : [dirname(path)])),
  );
  const failed: unknown[] = [];
  const attempt = (work: () => void) => {
    try {
      work();
    } catch (error) {
      failed.push(error); // the others are restored anyway
    }
  };
  for (const folder of [...ways].sort((a, b) => a.length - b.length)) attempt(() => open(folder));
  for (const each of kept) attempt(() => restore(each));
  if (failed.length > 0) throw new AggregateError(failed, failed.join("; "));
}

/** A folder that somebody else has removed meanwhile need not be opened. */
function open(folder: string): void {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode;
  if (mode !== undefined && (mode & 0o700) !== 0o700) chmodSync(folder, mode | 0o700);
}

function restore({ path, isMissing, link }: KeptPath): void {
  if (isMissing === "must-not-be") takeAway(path);
  if (link === undefined || linkAt(path) === link || !isThere(dirname(path))) return;
  takeAway(path);
  symlinkSync(link, path);
}

/** The replacement may be somebody's work: it stays, under a name that nothing obeys. */
function takeAway(path: string): void {
  if (isThere(path)) renameSync(path, `${path}.replaced-${randomBytes(6).toString("hex")}`);
}

interface Followed {
  /** Undefined if links form a cycle. */
  readonly place?: string;
  readonly links: readonly KeptPath[];
}

/** The target of a path below a folder, link by link; missing parts stay as they are. */
function follow(top: string, path: string): Followed {
  const links: KeptPath[] = [];
  const parts = relative(top, path).split("/");
  let place = top;
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (part === "" || part === ".") continue;
    const next = part === ".." ? dirname(place) : join(place, part);
    const link = part === ".." ? undefined : linkAt(next);
    if (link === undefined) place = next;
    else {
      if (links.length === LINKS_ON_A_WAY) return { links };
      links.push({ path: next, isFolder: false, link });
      if (isAbsolute(link)) place = "/";
      parts.unshift(...link.split("/"));
    }
  }
  return { place, links };
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined; // not for us, so nor for what we start
  }
}

export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
