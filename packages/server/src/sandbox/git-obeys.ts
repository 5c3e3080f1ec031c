/**
 * What git obeys in a folder: hooks and configuration, whose commands would run outside of the sandbox later. In a worktree or a
 * submodule `.git` is a file that names another folder; there it is the file itself, which could be made to name one with hooks.
 *
 * Also what is not there yet: it must not be made. The folder `.git` is held in its place, or another one could be put there.
 */

import { lstatSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { smallFile } from "../system/small-file.ts";
import { GIT_CONFIG_BYTES } from "./limits.ts";

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
    const kept = (name: string, isFolder: boolean, isMissing: KeptPath["isMissing"]): KeptPath => {
      const path = join(git, name);
      return isThere(path) || isMissing === undefined ? { path, isFolder } : { path, isFolder, isMissing };
    };
    return [
      { path: git, isFolder: true, isHeld: true },
      kept("hooks", true, "may-be-empty"),
      kept("config", false, "may-be-empty"),
      kept("config.worktree", false, readsWorktrees(git) ? "may-be-empty" : undefined),
      kept("commondir", false, "must-not-be"),
    ];
  });
}

/** Takes away what a program has made and git would obey. */
export function takeAway(kept: readonly KeptPath[]): void {
  for (const { path, isMissing } of kept)
    if (isMissing === "must-not-be") rmSync(path, { force: true, recursive: true });
}

/** Git reads the configuration of single worktrees only where its own, which is kept, says so. */
function readsWorktrees(git: string): boolean {
  return /worktreeconfig/i.test(smallFile(join(git, "config"), GIT_CONFIG_BYTES) ?? "worktreeconfig");
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
