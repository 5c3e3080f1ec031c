/**
 * Guarded files of the workspace, for a command that runs without the owner having seen it: under the turn's allowance, or a rule. Secrets
 * are not there for it, and what agents, editors and git obey is only read. So a shell does no more to a guarded file than
 * the other tools, which ask.
 *
 * Looked for from the top down, in a bounded number of entries, past what is installed and built.
 */

import { type Dirent, promises as fs } from "node:fs";
import { basename, join } from "node:path";
import { veilOf } from "../../../files/guarded-path.ts";
import type { Veil } from "../../../sandbox/sandbox.ts";
import { GUARDED_LOOKED_AT, GUARDED_NAMED } from "../limits.ts";
import type { Workspace } from "./workspace.ts";

export interface Guarded extends Veil {
  /** The names of what is not seen. */
  readonly unseen: readonly string[];
}

const PASSED = new Set([".git", "node_modules", ".venv", "venv", "site-packages", "__pycache__", "target"]);

export async function guardedIn(workspace: Pick<Workspace, "root" | "guardOf">): Promise<Guarded> {
  const root = await fs.realpath(workspace.root);
  const found = {
    hidden: [] as Veil["hidden"][number][],
    kept: [] as Veil["kept"][number][],
    unseen: [] as string[],
  };
  const folders = [""];
  let left = GUARDED_LOOKED_AT;
  for (let folder = folders.shift(); folder !== undefined && left > 0; folder = folders.shift()) {
    for (const entry of await entriesIn(join(root, folder))) {
      if (left-- <= 0) break;
      const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const veil = PASSED.has(entry.name) ? undefined : veilOf(name, entry.isDirectory());
      if (veil === undefined || workspace.guardOf(name) === undefined) {
        if (entry.isDirectory() && !PASSED.has(entry.name)) folders.push(name);
        continue;
      }
      const at = await placeOf(join(root, name));
      if (at === undefined) continue;
      if (veil === "hidden") {
        found.hidden.push(at);
        found.unseen.push(name);
      } else found.kept.push(at);
    }
  }
  return found;
}

/** What the model is told of it; `about`: only of those that are named there. */
export function noteOf(unseen: readonly string[], about?: string): string | undefined {
  const named = unseen.filter((name) => about === undefined || about.includes(basename(name)));
  if (named.length === 0) return undefined;
  const names = named.slice(0, GUARDED_NAMED).join(", ");
  const more = named.length > GUARDED_NAMED ? ` and ${named.length - GUARDED_NAMED} more` : "";
  return `Guarded, and empty for this command: ${names}${more}. To ask the owner for one, read it with the tool read`;
}

/** Where a file really is; undefined where it leads nowhere. */
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

async function entriesIn(folder: string): Promise<readonly Dirent[]> {
  return fs.readdir(folder, { withFileTypes: true }).catch(() => []);
}
