/**
 * Guarded files of the workspace, for a command that runs without the owner having seen it: under the turn's allowance, or a rule. Secrets
 * are not there for it, and what agents, editors and git obey is only read. So a shell does no more to a guarded file than
 * the other tools, which ask.
 *
 * Looked for from the top down, in a bounded number of entries, past what is installed and built.
 */

import { type Dirent, promises as fs } from "node:fs";
import { basename, join, relative } from "node:path";
import { veilOf } from "../../../files/guarded-path.ts";
import { placed } from "../../../sandbox/kept-places.ts";
import type { KnownPaths } from "../../../sandbox/known-paths.ts";
import type { Veil } from "../../../sandbox/sandbox.ts";
import { GUARDED_LOOKED_AT, GUARDED_NAMED } from "../limits.ts";
import type { Workspace } from "./workspace.ts";

export interface Guarded extends Veil {
  /** The names of hidden files. */
  readonly unseen: readonly string[];
}

const PASSED = new Set([".git", "node_modules", ".venv", "venv", "site-packages", "__pycache__", "target"]);

/** `known`: caches what was found, whatever a command leaves beside it. */
export async function guardedIn(
  workspace: Pick<Workspace, "root" | "guardOf">,
  known: Pick<KnownPaths, "with">,
): Promise<Guarded> {
  const root = await fs.realpath(workspace.root);
  const found = {
    hidden: [] as Veil["hidden"][number][],
    kept: [] as Veil["kept"][number][],
    unseen: [] as string[],
  };
  const names = (await namesIn(root, workspace)).map((name) => join(root, name));
  for (const path of known.with(root, names)) {
    const name = relative(root, path);
    const at = await placeOf(path);
    if (at === undefined) continue;
    const isClosed = at.isFolder && !(await isOpen(path));
    const veil = isClosed ? "hidden" : workspace.guardOf(name) && veilOf(name, at.isFolder);
    if (veil === undefined) continue;
    // A folder that can be moved could be moved out of sight.
    found.kept.push(...placed([{ path, isFolder: at.isFolder }], [root]));
    if (veil === "hidden") {
      found.hidden.push(at);
      found.unseen.push(name);
    }
  }
  return found;
}

async function namesIn(root: string, workspace: Pick<Workspace, "guardOf">): Promise<readonly string[]> {
  const found: string[] = [];
  const folders = [""];
  let left = GUARDED_LOOKED_AT;
  for (let folder = folders.shift(); folder !== undefined && left > 0; folder = folders.shift()) {
    for (const entry of await entriesIn(join(root, folder))) {
      if (left-- <= 0) break;
      if (PASSED.has(entry.name)) continue;
      const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const isFolder = entry.isDirectory();
      const isGuarded = veilOf(name, isFolder) !== undefined && workspace.guardOf(name) !== undefined;
      if (isGuarded || (isFolder && !(await isOpen(join(root, name))))) found.push(name);
      else if (isFolder) folders.push(name);
    }
  }
  return found;
}

/** What the model is told of it; `about`: only of the files named there. */
export function noteOf(unseen: readonly string[], about?: string): string | undefined {
  const named = unseen.filter((name) => about === undefined || about.includes(basename(name)));
  if (named.length === 0) return undefined;
  const names = named.slice(0, GUARDED_NAMED).join(", ");
  const more = named.length > GUARDED_NAMED ? ` and ${named.length - GUARDED_NAMED} more` : "";
  return `Guarded, and empty for this command: ${names}${more}. To ask the owner for one, read it with the tool read`;
}

/** The real path of a file; undefined if it does not exist. */
async function placeOf(
  path: string,
): Promise<{ readonly path: string; readonly isFolder: boolean } | undefined> {
  try {
    const real = await fs.realpath(path);
    return { path: real, isFolder: (await fs.stat(real)).isDirectory() };
  } catch {
    return undefined;
  }
}

/** A file closed to the server is not closed to a command of the same user, which can open it first. */
async function isOpen(folder: string): Promise<boolean> {
  return fs.access(folder, fs.constants.R_OK | fs.constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function entriesIn(folder: string): Promise<readonly Dirent[]> {
  return fs.readdir(folder, { withFileTypes: true }).catch(() => []);
}
