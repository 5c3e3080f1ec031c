/**
 * Where git's configuration leads inside of what may be written to: files that it includes, and folders of hooks, whichever of git's
 * configurations says so (the repository's, the user's, the system's). What they hold is run or obeyed like git's own.
 */

import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isInside } from "../processes/folder.ts";
import { settingsIn } from "../system/git-settings.ts";
import { smallFile } from "../system/small-file.ts";
import { GIT_CONFIG_BYTES, GIT_CONFIG_INCLUDES } from "./limits.ts";

interface Led {
  readonly path: string;
  readonly isFolder: boolean;
}

const INCLUDES = /^(include|includeif)\.path$/;

/** `gits`: the folders of git that count for `folder`; `folders`: those that may be written to. */
export function ledFrom(folder: string, gits: readonly string[], folders: readonly string[]): readonly Led[] {
  const isLedTo = (path: string) =>
    // A folder with the whole repository in it cannot be only read.
    !isInside(path, folder) && folders.some((top) => isInside(top, path));
  const own = gits.flatMap((git) => [join(git, "config"), join(git, "config.worktree")]);
  const waiting = [...own, ...everywhere()];
  const found = new Map<string, Led>();
  for (const file of waiting) {
    if (isLedTo(file) && !own.includes(file)) found.set(file, { path: file, isFolder: false });
    for (const { name, value } of settingsIn(smallFile(file, GIT_CONFIG_BYTES) ?? "")) {
      const to = (from: string) => resolve(from, value.replace(/^~(?=\/)/, homedir()));
      if (name === "core.hookspath" && value !== "" && isLedTo(to(folder)))
        found.set(to(folder), { path: to(folder), isFolder: true });
      const included = to(dirname(file));
      if (INCLUDES.test(name) && !waiting.includes(included) && waiting.length < GIT_CONFIG_INCLUDES)
        waiting.push(included);
    }
  }
  return [...found.values()];
}

/** The configurations that count for every repository. */
function everywhere(): readonly string[] {
  const home = homedir();
  const base = process.env["XDG_CONFIG_HOME"] || join(home, ".config");
  return ["/etc/gitconfig", join(base, "git/config"), join(home, ".gitconfig")];
}
