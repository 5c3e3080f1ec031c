/**
 * Whether git knows a remote by a name. A word that is no remote's name is a folder to git: `git push origin` would run the hooks of a
 * folder that is called so.
 */

import { dirname, join } from "node:path";
import { settingsIn } from "../system/git-settings.ts";
import { smallFile } from "../system/small-file.ts";
import { gitFolders } from "./git-config.ts";
import { GIT_CONFIG_BYTES } from "./limits.ts";

export function hasRemote(folder: string, name: string): boolean {
  const git = gitFolders(folder);
  const above = dirname(folder);
  if (git.length === 0) return above !== folder && hasRemote(above, name);
  return git
    .flatMap((each) => settingsIn(smallFile(join(each, "config"), GIT_CONFIG_BYTES) ?? ""))
    .some((setting) => setting.name === "remote.url" && setting.of === name && setting.value !== "");
}
