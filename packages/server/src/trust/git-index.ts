/**
 * Submodules of a repository, read from git's index: `git status` in the folder looks into each of them, and obeys what its own
 * configuration says. Whether `.gitmodules` names them does not matter to git, so it does not matter here.
 *
 * Read as git reads it (versions 2 to 4, with shared parts); what is no index has no submodules.
 */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { GIT_INDEX_BYTES, GIT_INDEX_PARTS, SUBMODULES } from "./limits.ts";

const HEAD_BYTES = 12;
const MODE_AT = 24;
const HASH_AT = 40;
/** The mode of an entry that is another repository. */
const LINK = 0o160000;
const LONG_NAME = 0xfff;
const EXTENDED = 0x4000;

/** Their paths from the top of the working tree. `git`: the folder of git; `hashBytes`: 20, or 32 for SHA-256. */
export function submodules(git: string, hashBytes: number): readonly string[] {
  const files = ["index", ...sharedParts(git)].map((name) => join(git, name));
  return [...new Set(files.flatMap((file) => linksIn(bytesOf(file), hashBytes)))].slice(0, SUBMODULES);
}

/** The paths of the entries that are other repositories. */
function linksIn(bytes: Buffer | undefined, hashBytes: number): readonly string[] {
  if (bytes === undefined || bytes.length < HEAD_BYTES || bytes.toString("latin1", 0, 4) !== "DIRC")
    return [];
  const version = bytes.readUInt32BE(4);
  const found: string[] = [];
  let at = HEAD_BYTES;
  let before = "";
  for (let left = bytes.readUInt32BE(8); left > 0 && at + HASH_AT + hashBytes + 2 < bytes.length; left--) {
    const flags = bytes.readUInt16BE(at + HASH_AT + hashBytes);
    const start = at + HASH_AT + hashBytes + (version > 2 && (flags & EXTENDED) !== 0 ? 4 : 2);
    const isLink = (bytes.readUInt32BE(at + MODE_AT) & 0o170000) === LINK;
    if (version === 4) {
      const cut = varint(bytes, start);
      const end = bytes.indexOf(0, cut.next);
      if (end === -1) break;
      before =
        before.slice(0, Math.max(0, before.length - cut.value)) + bytes.toString("latin1", cut.next, end);
      if (isLink) found.push(before);
      at = end + 1;
    } else {
      const known = flags & LONG_NAME;
      const end = known === LONG_NAME ? bytes.indexOf(0, start) : start + known;
      if (end === -1 || end > bytes.length) break;
      if (isLink) found.push(bytes.toString("latin1", start, end));
      at += (end - at + 8) & ~7;
    }
  }
  // Names are bytes; they were kept one by one so that cutting them is right.
  return found.map((name) => Buffer.from(name, "latin1").toString("utf8"));
}

/** How much of the name before is cut off. */
function varint(bytes: Buffer, start: number): { readonly value: number; readonly next: number } {
  let at = start;
  let byte = bytes[at++] ?? 0;
  let value = byte & 127;
  while ((byte & 128) !== 0 && at < bytes.length && value < 2 ** 24) {
    byte = bytes[at++] ?? 0;
    value = ((value + 1) << 7) | (byte & 127);
  }
  return { value, next: at };
}

function sharedParts(git: string): readonly string[] {
  try {
    return readdirSync(git)
      .filter((name) => name.startsWith("sharedindex."))
      .slice(0, GIT_INDEX_PARTS);
  } catch {
    return [];
  }
}

function bytesOf(file: string): Buffer | undefined {
  try {
    const stat = statSync(file);
    return stat.isFile() && stat.size <= GIT_INDEX_BYTES ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  }
}
