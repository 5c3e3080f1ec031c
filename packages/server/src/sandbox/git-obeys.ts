/**
 * What git obeys in a folder: hooks and configuration, whose commands would run outside of the sandbox later. In a worktree or a
 * submodule `.git` is a file that names another folder; there it is the file itself, which could be made to name one with hooks.
 */

import { statSync } from "node:fs";
import { join } from "node:path";

export function gitObeys(folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) => {
    const git = join(folder, ".git");
    const stat = statSync(git, { throwIfNoEntry: false });
    if (!stat) return [];
    return stat.isDirectory() ? [join(git, "hooks"), join(git, "config")] : [git];
  });
}
