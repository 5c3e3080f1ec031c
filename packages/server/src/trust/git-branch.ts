/** Which branch a folder is on, as its repository says in `HEAD`. Read, not asked of git: nothing in the folder runs. */

import { join } from "node:path";
import { smallFile } from "../system/small-file.ts";
import { gitFolders } from "./git-config.ts";
import { BRANCH_CHARS, GIT_HEAD_BYTES } from "./limits.ts";

const SHORT_HASH = 8;

/** The branch's name; a short hash if no branch is checked out; undefined if there is no repository. */
export function gitBranch(folder: string): string | undefined {
  const [git] = gitFolders(folder);
  if (git === undefined) return undefined;
  const head = smallFile(join(git, "HEAD"), GIT_HEAD_BYTES)?.trim() ?? "";
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1];
  if (branch !== undefined) return branch.slice(0, BRANCH_CHARS);
  return /^[0-9a-f]{40,64}$/.test(head) ? head.slice(0, SHORT_HASH) : undefined;
}
