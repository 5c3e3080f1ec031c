/**
 * The command line that runs a program in a sandbox: bubblewrap on Linux, `sandbox-exec` on macOS. Pure: paths in,
 * arguments out.
 *
 * Everything is readable except what is hidden; only the workspace is writable (except git's hooks and configuration,
 * whose content would run outside later). `/tmp`, `/run` and the process list are private, and the network is off
 * unless it is allowed. The sandbox ends with its parent.
 */

import { dirname } from "node:path";
import type { HiddenPath } from "./hidden-paths.ts";
import type { KeptPath } from "./kept-places.ts";

export interface Confinement {
  /** Folders that it may write to. */
  readonly writable: readonly string[];
  /** Inside those, what it may read and not write: files that git obeys. */
  readonly kept: readonly KeptPath[];
  /** Files in a hidden or private place that it sees anyway. */
  readonly readable?: readonly string[];
  readonly hidden: readonly HiddenPath[];
  /** Of other programs, with a place in the file system: they are not found. */
  readonly sockets: readonly string[];
  /** An empty file that replaces a hidden file: an unreadable one would break programs that look for it. */
  readonly empty: string;
  readonly network: boolean;
  readonly cwd: string;
}

/** Folders that everything confined has for itself. */
const OWN = ["/tmp", "/var/tmp", "/run", "/dev"];

export function bubblewrapArgs(confinement: Confinement): readonly string[] {
  const { writable, kept, readable = [], hidden, sockets, empty, network, cwd } = confinement;
  const hide = ({ path, isFolder }: HiddenPath) =>
    isFolder ? ["--tmpfs", path] : ["--ro-bind", empty, path];
  // A folder that is hidden and has the workspace inside is hidden first; all others after it, so that they stay hidden.
  const isAround = ({ path }: HiddenPath) => writable.some((folder) => isInside(path, folder));
  return [
    ...["--unshare-all", ...(network ? ["--share-net"] : []), "--die-with-parent", "--cap-drop", "ALL"],
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    // Kernel settings are read-only: the administrator could change them, and anybody some of them.
    ...["--ro-bind", "/proc/sys", "/proc/sys"],
    ...["--tmpfs", "/tmp", "--tmpfs", "/var/tmp", "--tmpfs", "/run"],
    // Names are resolved in here, if there is a network.
    ...(network ? ["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"] : []),
    ...hidden.filter(isAround).flatMap(hide),
    ...writable.flatMap((folder) => ["--bind", folder, folder]),
    ...kept.flatMap((each) => keep(each, empty)),
    ...hidden.filter((each) => !isAround(each)).flatMap(hide),
    ...sockets.filter((path) => !isGone(path, confinement)).flatMap((path) => ["--ro-bind", empty, path]),
    ...readable.flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--setenv", "TMPDIR", "/tmp", "--chdir", cwd, "--"],
  ];
}

/** Whether a socket is in a place that is not seen anyway; one in the workspace is the workspace's. */
function isGone(path: string, { hidden, writable }: Confinement): boolean {
  const places = [...OWN, ...writable, ...hidden.map((each) => each.path)];
  return places.some((place) => isInside(place, path));
}

/** A mount cannot be moved or replaced either. */
function keep({ path, isFolder, isMissing, isHeld, link }: KeptPath, empty: string): readonly string[] {
  if (link !== undefined) return [];
  if (isHeld) return ["--bind", path, path];
  if (isMissing === "must-not-be") return [];
  if (isMissing === undefined) return ["--ro-bind-try", path, path];
  return isFolder ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", empty, path];
}

/** Where several rules fit, the last one counts. */
export function seatbeltProfile({ writable, kept, hidden, network }: Confinement): string {
  const below = (path: string) => `(subpath ${JSON.stringify(path)})`;
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    '(allow file-write* (subpath "/dev") (subpath "/private/tmp") (subpath "/private/var/folders"))',
    ...hidden.map(({ path }) => `(deny file-read* file-write* ${below(path)})`),
    ...writable.map((path) => `(allow file-read* file-write* ${below(path)})`),
    ...kept.filter((each) => !isAlone(each)).map(({ path }) => `(deny file-write* ${below(path)})`),
    ...kept.filter(isAlone).map(({ path }) => `(deny file-write* (literal ${JSON.stringify(path)}))`),
    // Again: a hidden folder inside of the workspace stays hidden.
    ...hidden
      .filter(({ path }) => writable.some((folder) => isInside(folder, path)))
      .map(({ path }) => `(deny file-read* file-write* ${below(path)})`),
    ...(network ? [] : ["(deny network*)"]),
  ].join("\n");
}

/** Without its children. */
function isAlone({ isHeld, link }: KeptPath): boolean {
  return isHeld === true || link !== undefined;
}

function isInside(folder: string, path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (at === folder) return true;
    if (at === dirname(at)) return false;
  }
}
