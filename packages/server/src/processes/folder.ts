/**
 * In which folder a turn or a command works. It is the one that the conversation (or the command) says it has, else the
 * caller's, else the folder that the server serves. One that is not there, or not inside the served folder, is never used
 * silently and never replaced silently: it is asked for, and whoever answers names the folder.
 */

import { realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { type Problem, problem } from "@blockyard/kernel/plain";
import { visible } from "./visible.ts";

interface FolderWish {
  /** Named by the caller for this one time: used wherever it is. */
  readonly chosen?: string | undefined;
  /** The folder that the conversation or the command has. */
  readonly own?: string | undefined;
  /** The caller's, where there is no other. */
  readonly callers?: string | undefined;
  /** What has the folder, for the question. */
  readonly whose: "conversation" | "command";
}

/** The folder's real path, or the question which one it shall be. */
export function folderFor(root: string, { chosen, own, callers, whose }: FolderWish): string | Problem {
  if (chosen !== undefined) return chosenFolder(chosen);
  const wanted = own || callers;
  if (!wanted) return realFolder(root) ?? root;
  const path = isAbsolute(wanted) ? wanted : resolve(root, wanted);
  const real = realFolder(path);
  const name = own ? `the folder of this ${whose}, ${visible(path)},` : `the folder ${visible(path)}`;
  if (real === undefined) return question(`${name} does not exist`, path, root, true);
  if (isInside(realFolder(root) ?? root, real)) return real;
  return question(`${name} is not inside ${visible(root)}, which this server serves`, real, root, false);
}

export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** `details.ask` tells pages and commands that naming a folder is the answer. */
function question(why: string, cwd: string, root: string, missing: boolean): Problem {
  return problem(missing ? "not_found" : "conflict", `${why}: pass the folder to work in (cwd)`, {
    ask: "cwd",
    cwd,
    root,
    missing,
  });
}

function chosenFolder(path: string): string | Problem {
  if (!isAbsolute(path))
    return problem("invalid", `cwd must be an absolute path, not ${visible(path)}`, { cwd: path });
  return realFolder(path) ?? problem("not_found", `there is no folder ${visible(path)}`, { cwd: path });
}

function realFolder(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined; // not there, or not for us
  }
}
