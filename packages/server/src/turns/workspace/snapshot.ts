/**
 * A snapshot of a repository's files: size and time of each, and enough text to tell later what has changed. Tracked
 * and unchanged files are in git already; the text of all others is kept, up to a limit.
 *
 * Git is only queried (`ls-files`, `cat-file`): it neither runs anything that the folder configures, nor fetches
 * missing objects, nor writes to the index. Its answers depend on the repository's author, so only files in the folder
 * are read, not the targets of links. A folder without a repository, with too many files, or whose git is too slow has
 * no snapshot.
 */

import { isUtf8 } from "node:buffer";
import { execFile } from "node:child_process";
import { lstat, readFile, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { findCommand } from "../../processes/child.ts";
import { childEnvironment } from "../../processes/child-env.ts";
import {
  GIT_BYTES,
  GIT_MS,
  PARALLEL_STATS,
  SNAPSHOT_BYTES,
  SNAPSHOT_FILE_BYTES,
  SNAPSHOT_FILES,
} from "../limits.ts";

interface FileState {
  readonly mtimeMs: number;
  readonly bytes: number;
}

export interface Snapshot {
  readonly folder: string;
  readonly files: ReadonlyMap<string, FileState>;
  /** A file's text as it was. Undefined: nobody knows it, or it is none. */
  textOf(path: string): Promise<string | undefined>;
}

export interface FileDifference {
  readonly path: string;
  readonly kind: "add" | "modify" | "delete";
  readonly before: string | undefined;
  readonly after: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

export async function takeSnapshot(folder: string, env: Environment): Promise<Snapshot | undefined> {
  const git = gitOf(folder, env);
  if (git === undefined) return undefined;
  const [tracked, others] = await Promise.all([
    git(["ls-files", "-z", "--stage", "--debug"]),
    git(["ls-files", "-z", "--others", "--exclude-standard"]),
  ]);
  if (tracked === undefined || others === undefined) return undefined;
  const index = indexed(tracked.toString("utf8"));
  const names = [...index.keys(), ...others.toString("utf8").split("\0").filter(Boolean)];
  if (names.length > SNAPSHOT_FILES) return undefined;
  const files = await statesOf(folder, names);
  const held = await heldTexts(folder, files, index);
  return {
    folder,
    files,
    async textOf(path) {
      const entry = index.get(path);
      if (held.has(path)) return held.get(path);
      if (entry === undefined || !isUntouched(entry, files.get(path))) return undefined;
      const blob = await git(["cat-file", "blob", entry.hash]);
      return blob === undefined ? undefined : textIn(blob);
    },
  };
}

/** What differs now, up to so many files; `more` says how many are left out. */
export async function differences(
  before: Snapshot,
  after: Snapshot,
  isLeftOut: (path: string) => boolean,
  most: number,
): Promise<{ readonly changed: readonly FileDifference[]; readonly more: number }> {
  const paths = [...new Set([...before.files.keys(), ...after.files.keys()])]
    .filter((path) => isChanged(before.files.get(path), after.files.get(path)) && !isLeftOut(path))
    .sort();
  const changed: FileDifference[] = [];
  for (const path of paths.slice(0, most)) {
    const kind = !before.files.has(path) ? "add" : after.files.has(path) ? "modify" : "delete";
    const texts = {
      before: kind === "add" ? "" : await before.textOf(path),
      after: kind === "delete" ? "" : await after.textOf(path),
    };
    // Written again as it was.
    if (kind === "modify" && texts.before !== undefined && texts.before === texts.after) continue;
    changed.push({ path, kind, ...texts });
  }
  return { changed, more: Math.max(0, paths.length - most) };
}

function isChanged(before: FileState | undefined, after: FileState | undefined): boolean {
  return before?.mtimeMs !== after?.mtimeMs || before?.bytes !== after?.bytes;
}

type Git = (args: readonly string[]) => Promise<Buffer | undefined>;

function gitOf(folder: string, env: Environment): Git | undefined {
  const program = findCommand("git", env["PATH"], folder);
  if (program === undefined) return undefined;
  const options = {
    cwd: folder,
    timeout: GIT_MS,
    maxBuffer: GIT_BYTES,
    encoding: "buffer",
    env: {
      ...{ ...childEnvironment("helper", env), GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0" },
      // An object that is missing would be fetched, by a program that the folder names.
      ...{ GIT_NO_LAZY_FETCH: "1", GIT_ALLOW_PROTOCOL: "none" },
    },
  } as const;
  return (args) =>
    new Promise((resolve) => {
      execFile(program, ["-c", "core.fsmonitor=false", ...args], options, (error, stdout) =>
        resolve(error ? undefined : stdout),
      );
    });
}

interface IndexEntry {
  readonly hash: string;
  readonly mtimeMs: number;
  readonly bytes: number;
}

/** The entries of `ls-files --stage --debug -z`: a name ends with a zero, and what git remembers of the file follows. */
function indexed(listing: string): ReadonlyMap<string, IndexEntry> {
  const entries = new Map<string, IndexEntry>();
  const pattern =
    /(\d{6}) ([0-9a-f]{40,64}) 0\t([^\0]+)\0 {2}ctime: \d+:\d+\n {2}mtime: (\d+):(\d+)\n {2}dev: \d+\tino: \d+\n {2}uid: \d+\tgid: \d+\n {2}size: (\d+)\tflags: [0-9a-f]+\n/g;
  for (const [, mode, hash = "", path = "", seconds, nanos, bytes] of listing.matchAll(pattern)) {
    if (!mode?.startsWith("100")) continue; // links and submodules
    entries.set(path, { hash, mtimeMs: Number(seconds) * 1_000 + Number(nanos) / 1e6, bytes: Number(bytes) });
  }
  return entries;
}

/** Git has this file as it is: nobody has written to it since it was checked out or added. */
function isUntouched(entry: IndexEntry, file: FileState | undefined): boolean {
  return file?.bytes === entry.bytes && Math.abs(file.mtimeMs - entry.mtimeMs) < 1;
}

async function statesOf(folder: string, names: readonly string[]): Promise<ReadonlyMap<string, FileState>> {
  const files = new Map<string, FileState>();
  const isInside = insideOf(folder);
  for (let i = 0; i < names.length; i += PARALLEL_STATS) {
    const some = names.slice(i, i + PARALLEL_STATS);
    const stats = await Promise.all(
      some.map(async (name) =>
        (await isInside(name)) ? lstat(join(folder, name)).catch(() => undefined) : undefined,
      ),
    );
    for (const [at, stat] of stats.entries())
      if (stat?.isFile()) files.set(some[at] as string, { mtimeMs: stat.mtimeMs, bytes: stat.size });
  }
  return files;
}

/** Whether a name is one of the folder's own files: no way up, and no link on the way to it. */
function insideOf(folder: string): (name: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  const root = realpath(folder).catch(() => undefined);
  const isOwn = async (within: string) => {
    const [real, base] = [await realpath(join(folder, within)).catch(() => undefined), await root];
    return base !== undefined && real === join(base, within);
  };
  return (name) => {
    const within = dirname(name);
    if (isAbsolute(name) || name.split("/").includes("..")) return Promise.resolve(false);
    const own = known.get(within) ?? isOwn(within);
    known.set(within, own);
    return own;
  };
}

/** The texts that git could not give back, those of the last writes first. */
async function heldTexts(
  folder: string,
  files: ReadonlyMap<string, FileState>,
  index: ReadonlyMap<string, IndexEntry>,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  const wanted = [...files].filter(([path, file]) => {
    const entry = index.get(path);
    return file.bytes <= SNAPSHOT_FILE_BYTES && (entry === undefined || !isUntouched(entry, file));
  });
  wanted.sort(([, one], [, other]) => other.mtimeMs - one.mtimeMs);
  let bytes = 0;
  for (const [path, file] of wanted) {
    bytes += file.bytes;
    if (bytes > SNAPSHOT_BYTES) break;
    const text = await readFile(join(folder, path)).then(textIn, () => undefined);
    if (text !== undefined) texts.set(path, text);
  }
  return texts;
}

function textIn(bytes: Buffer): string | undefined {
  if (bytes.length > SNAPSHOT_FILE_BYTES || bytes.includes(0) || !isUtf8(bytes)) return undefined;
  return bytes.toString("utf8");
}
