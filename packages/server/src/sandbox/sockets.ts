/**
 * Sockets of other programs in the file system: a container engine's, a key agent's, a database's. Anyone who can open
 * one can make its program act, with or without network, so they are hidden from a sandboxed program. Those in its own
 * workspace are not: it works on them.
 *
 * Found through the kernel's list for this machine, and through mounts from elsewhere (as in a container).
 */

import { lstatSync, readFileSync } from "node:fs";
import { COVERED_SOCKET_MS } from "./limits.ts";

/** Where engines listen that may belong to another namespace, and so be on neither list. */
const USUAL = [
  "/docker.sock",
  "/var/lib/lxd/unix.socket",
  "/var/lib/incus/unix.socket",
  "/var/snap/lxd/common/lxd/unix.socket",
];

export function socketsOfOthers(): readonly string[] {
  const listed = linesOf("/proc/net/unix").map((line) => line.split(/\s+/).slice(7).join(" "));
  const mounted = linesOf("/proc/self/mountinfo").map((line) => unescaped(line.split(" ")[4] ?? ""));
  return [...new Set([...listed, ...mounted, ...USUAL])].filter(
    (path) => path.startsWith("/") && isSocket(path),
  );
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return []; // another system
  }
}

/** The kernel writes blanks in a mount point as octal numbers. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}

/** In a folder that is closed to this user there is none to be found. */
function isSocket(path: string): boolean {
  try {
    const stat = lstatSync(path);
    return stat.isSocket() && Date.now() - stat.mtimeMs > COVERED_SOCKET_MS;
  } catch {
    return false;
  }
}
