/**
 * What git obeys in a folder: hooks and configuration, whose commands would run outside of the sandbox later. In a worktree or a
 * submodule `.git` is a file that names another folder; there it is the file itself, which could be made to name one with hooks.
 * The folders of git inside of `.git` (of submodules, which `git status` looks into, and of other worktrees) have their own; so have
 * repositories inside of the folder.
 *
 * Also what is not there yet: it must not be made. The folder `.git` is held in its place, or another one could be put there.
 */

import { type Dirent, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { smallFile } from "../system/small-file.ts";
import { ledFrom } from "./git-led.ts";
import { inOrder, isThere, type KeptPath, placed } from "./kept-places.ts";
import { GIT_CONFIG_BYTES, GIT_FOLDER_DEPTH, GIT_FOLDERS } from "./limits.ts";

/** `folders`: writable ones; `nested`: repositories in there. */
export function gitObeys(folders: readonly string[], nested: readonly string[] = []): readonly KeptPath[] {
  const room = { left: GIT_FOLDERS };
  const own = folders.flatMap((folder) => obeyedIn(folder, folders, room, false));
  const inner = nested.flatMap((folder) => [
    // Another folder could replace a repository, too.
    { path: folder, isFolder: true, isHeld: true } as const,
    ...obeyedIn(folder, folders, room, true),
  ]);
  return inOrder(placed([...own, ...inner], folders));
}

/** `isKnown`: it was a repository once, whatever remains of it. */
function obeyedIn(
  folder: string,
  folders: readonly string[],
  room: Room,
  isKnown: boolean,
): readonly KeptPath[] {
  const git = join(folder, ".git");
  const stat = statSync(git, { throwIfNoEntry: false });
  if (!stat)
    return isKnown || isBare(folder)
      ? [...inGit(folder), ...insideOf(folder, room), ...ledIn(folder, [folder], folders)]
      : [];
  if (!stat.isDirectory())
    return [{ path: git, isFolder: false }, ...ledIn(folder, ledTo(folder, git), folders)];
  return [
    { path: git, isFolder: true, isHeld: true },
    ...inGit(git),
    ...insideOf(git, room),
    ...ledIn(folder, [git], folders),
  ];
}

function isBare(folder: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => isThere(join(folder, name)));
}

/** The folder that a `.git` file names, and the one that this shares with others. */
function ledTo(folder: string, file: string): readonly string[] {
  const to = /^gitdir: *(.+?)\s*$/m.exec(smallFile(file, GIT_CONFIG_BYTES) ?? "")?.[1];
  if (to === undefined) return [];
  const git = resolve(folder, to);
  const common = smallFile(join(git, "commondir"), GIT_CONFIG_BYTES)?.trim();
  return common ? [git, resolve(git, common)] : [git];
}

/** Files and folders of hooks that git's configuration names, as Husky has them. */
function ledIn(folder: string, gits: readonly string[], folders: readonly string[]): readonly KeptPath[] {
  return ledFrom(folder, gits, folders).flatMap(({ path, isFolder }) => [
    { path, isFolder, isMissing: "may-be-empty" } as const,
    ...(isFolder ? linkedHooks(path) : []),
  ]);
}

/** A hook may be a link to a file of the workspace. */
function linkedHooks(folder: string): readonly KeptPath[] {
  return entriesIn(folder).flatMap((each) =>
    each.isSymbolicLink() ? [{ path: join(folder, each.name), isFolder: false }] : [],
  );
}

function inGit(git: string): readonly KeptPath[] {
  const kept = (name: string, isFolder: boolean, isMissing: KeptPath["isMissing"]): KeptPath => ({
    ...{ path: join(git, name), isFolder },
    ...(isMissing === undefined ? {} : { isMissing }),
  });
  // A worktree has its hooks and configuration where its `commondir` leads.
  const isShared = isThere(join(git, "commondir"));
  return [
    ...(isShared ? [] : [kept("hooks", true, "may-be-empty"), kept("config", false, "may-be-empty")]),
    ...(isShared ? [] : linkedHooks(join(git, "hooks"))),
    kept("config.worktree", false, readsWorktrees(git) ? "may-be-empty" : undefined),
    kept("commondir", false, "must-not-be"),
  ];
}

/** How many of git's folders are still protected one by one. */
interface Room {
  left: number;
}

/**
 * The parts that git obeys in git folders inside a git folder, with their path: of submodules, whose names may have
 * slashes, and of worktrees. If there are more than can be protected one by one, nothing there is writable.
 */
function insideOf(git: string, room: Room): readonly KeptPath[] {
  return ["modules", "worktrees"].flatMap((name) => {
    const top = join(git, name);
    const kept: KeptPath[] = [];
    const isWhole = look(top, 0, kept, room);
    return isWhole ? kept : [{ path: top, isFolder: true }];
  });
}

/** Whether all of it is protected. */
function look(folder: string, depth: number, kept: KeptPath[], room: Room): boolean {
  const names = foldersIn(folder);
  if (names.length === 0) return true;
  if (depth > GIT_FOLDER_DEPTH || names.length > room.left) return false;
  kept.push({ path: folder, isFolder: true, isHeld: true });
  return names.every((name) => {
    const path = join(folder, name);
    if (room.left-- <= 0) return false;
    if (!isGitFolder(path)) return look(path, depth + 1, kept, room);
    kept.push({ path, isFolder: true, isHeld: true }, ...inGit(path));
    return look(join(path, "modules"), depth + 1, kept, room);
  });
}

/** A command can remove `HEAD`, but nothing that is protected. */
function isGitFolder(path: string): boolean {
  return ["HEAD", "config", "commondir"].some((name) => isThere(join(path, name)));
}

/** Git reads the configuration of single worktrees only if its own, which is protected, says so. */
function readsWorktrees(git: string): boolean {
  return /worktreeconfig/i.test(smallFile(join(git, "config"), GIT_CONFIG_BYTES) ?? "worktreeconfig");
}

function foldersIn(folder: string): readonly string[] {
  return entriesIn(folder).flatMap((each) => (each.isDirectory() ? [each.name] : []));
}

function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
