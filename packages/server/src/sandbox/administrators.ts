/**
 * What the system keeps for its administrator alone: hashes of passwords, keys of services, what services have stored. Where the server runs as
 * the administrator, what it starts owns these files too, whichever capabilities it has lost. By class: what nobody else may read.
 */

import { lstatSync, readdirSync, type Stats } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { isInside } from "../processes/folder.ts";
import { ADMINISTRATORS_LOOKED_AT } from "./limits.ts";

/** Where the system and its services keep files, and how deep: in `/var` a folder further down belongs to one service. */
const PLACES: Readonly<Record<string, number>> = {
  ...{ "/etc": 3, "/opt": 3, "/srv": 3, "/boot": 3, "/usr/local/etc": 3 },
  ...{ "/var/backups": 2, "/var/cache": 2, "/var/lib": 2, "/var/log": 2, "/var/spool": 2 },
};

/** `spared`: folders with which a program works; neither they nor what is around them is hidden. */
export function administratorsOnly(spared: readonly string[], places = PLACES): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  const found: string[] = [];
  let left = ADMINISTRATORS_LOOKED_AT;
  const look = (path: string, depth: number): void => {
    const stat = left-- > 0 ? statOf(path) : undefined;
    if (stat === undefined || spared.some((each) => isInside(each, path))) return;
    const isAround = spared.some((each) => isInside(path, each));
    if (isClosed(stat) && !isAround) found.push(path);
    else if (stat.isDirectory() && depth > 0)
      for (const name of namesIn(path)) look(join(path, name), depth - 1);
  };
  for (const [place, depth] of Object.entries(places)) look(place, depth);
  return found;
}

/** The administrator's own home folder, which need not be the one that the server was given. */
export function administratorsHome(): readonly string[] {
  return process.getuid?.() === 0 ? [userInfo().homedir] : [];
}

/** Whether it is the administrator's, and others may not look into it. */
function isClosed(stat: Stats): boolean {
  const needed = stat.isDirectory() ? 0o001 : stat.isFile() ? 0o004 : 0;
  return (stat.uid === 0 || stat.gid === 0) && (stat.mode & needed) !== needed;
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
