/**
 * What git obeys in a folder: hooks and configuration, whose commands would run outside of the sandbox later. In a worktree or a
 * submodule `.git` is a file that names another folder; there it is the file itself, which could be made to name one with hooks.
 * The folders of git inside of `.git` (of submodules, which `git status` looks into, and of other worktrees) have their own.
 *
 * Also what is not there yet: it must not be made. The folder `.git` is held in its place, or another one could be put there.
 */

import { lstatSync, readdirSync, rmSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { smallFile } from "../system/small-file.ts";
import { GIT_CONFIG_BYTES, GIT_FOLDER_DEPTH, GIT_FOLDERS } from "./limits.ts";

export interface KeptPath {
  readonly path: string;
  readonly isFolder: boolean;
  /** Something empty can stand in its place. Otherwise it is taken away again when the program is gone. */
  readonly isMissing?: "may-be-empty" | "must-not-be";
  /** It may be written in, and not moved. */
  readonly isHeld?: true;
}

export function gitObeys(folders: readonly string[]): readonly KeptPath[] {
  return folders.flatMap((folder) => {
    const git = join(folder, ".git");
    const stat = statSync(git, { throwIfNoEntry: false });
    if (!stat) return [];
    if (!stat.isDirectory()) return [{ path: git, isFolder: false }];
    return [
      { path: git, isFolder: true, isHeld: true } as const,
      ...inGit(git),
      ...insideOf(git),
      ...ownHooks(folder, git),
    ];
  });
}

/** Takes away what a program has made and git would obey. */
export function takeAway(kept: readonly KeptPath[]): void {
  for (const { path, isMissing } of kept)
    if (isMissing === "must-not-be") rmSync(path, { force: true, recursive: true });
}

function inGit(git: string): readonly KeptPath[] {
  const kept = (name: string, isFolder: boolean, isMissing: KeptPath["isMissing"]): KeptPath => {
    const path = join(git, name);
    return isThere(path) || isMissing === undefined ? { path, isFolder } : { path, isFolder, isMissing };
  };
  // A worktree has its hooks and configuration where its `commondir` leads.
  const isShared = isThere(join(git, "commondir"));
  return [
    ...(isShared ? [] : [kept("hooks", true, "may-be-empty"), kept("config", false, "may-be-empty")]),
    kept("config.worktree", false, readsWorktrees(git) ? "may-be-empty" : undefined),
    kept("commondir", false, "must-not-be"),
  ];
}

/** What is obeyed in the folders of git in a folder of git, with the way to it: of submodules, whose names may have slashes, and of worktrees. */
function insideOf(git: string): readonly KeptPath[] {
  const kept: KeptPath[] = [];
  let left = GIT_FOLDERS;
  const look = (folder: string, depth: number): void => {
    const names = depth > GIT_FOLDER_DEPTH ? [] : foldersIn(folder);
    if (names.length > 0) kept.push({ path: folder, isFolder: true, isHeld: true });
    for (const path of names.map((name) => join(folder, name))) {
      if (left-- <= 0) return;
      if (!isThere(join(path, "HEAD"))) look(path, depth + 1);
      else {
        kept.push({ path, isFolder: true, isHeld: true }, ...inGit(path));
        look(join(path, "modules"), depth + 1);
      }
    }
  };
  for (const name of ["modules", "worktrees"]) look(join(git, name), 0);
  return kept;
}

/** Hooks that git's configuration keeps in the workspace, as Husky does. */
function ownHooks(folder: string, git: string): readonly KeptPath[] {
  const config = smallFile(join(git, "config"), GIT_CONFIG_BYTES) ?? "";
  const name = /^\s*hookspath\s*=\s*"?([^"\n#;]+?)"?\s*$/im.exec(config)?.[1];
  if (name === undefined) return [];
  const path = resolve(folder, name);
  const way = relative(folder, path);
  const isInside = way !== "" && !way.startsWith("..") && !isAbsolute(way);
  const hooks = isInside && statSync(path, { throwIfNoEntry: false })?.isDirectory();
  return hooks ? [...above(folder, way), { path, isFolder: true }] : [];
}

/** The folders on the way to a path, which are held: another one could be put in the place of any of them. */
function above(folder: string, way: string): readonly KeptPath[] {
  const parts = way.split("/").slice(0, -1);
  return parts.map((_, index) => ({
    ...{ path: join(folder, ...parts.slice(0, index + 1)), isFolder: true, isHeld: true },
  }));
}

/** Git reads the configuration of single worktrees only where its own, which is kept, says so. */
function readsWorktrees(git: string): boolean {
  return /worktreeconfig/i.test(smallFile(join(git, "config"), GIT_CONFIG_BYTES) ?? "worktreeconfig");
}

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((each) =>
      each.isDirectory() ? [each.name] : [],
    );
  } catch {
    return [];
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
