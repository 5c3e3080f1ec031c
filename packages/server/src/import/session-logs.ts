/**
 * The session logs on this machine: found through the providers' finders, read from the disk piece by piece, and told
 * apart by a stamp that changes whenever a log does. Nothing is written here; log-body.ts makes the body that is imported.
 *
 * Codex keeps each thread in a file of its own. A thread that another one started is nested in that one's import already,
 * so it is no session by itself.
 */

import { closeSync, openSync, readdirSync, readFileSync, readSync, type Stats, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, relative, sep } from "node:path";
import {
  codexParentThread,
  type FolderEntry,
  type FoundLog,
  LineReader,
  type LogFile,
  type LogFiles,
  type Provider,
  providers,
} from "@blockyard/providers";
import { LOG_CHUNK_BYTES } from "./limits.ts";

export interface SessionLog {
  readonly provider: Provider;
  /** The main file's name, which stays the same for the log's life. */
  readonly name: string;
  /** The provider's own id of the session, as the name tells it. */
  readonly sessionId: string;
  readonly path: string;
  readonly files: LogFiles;
  readonly bytes: number;
  readonly changedAt: number;
  readonly stamp: string;
}

interface LogPlaces {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Only these providers; all that keep logs by default. */
  readonly only?: readonly string[];
}

/** Where each program keeps its sessions. */
export function logHome(provider: string, env: LogPlaces["env"]): string | undefined {
  const home = env["HOME"] || homedir();
  if (provider === "claude") return env["CLAUDE_CONFIG_DIR"] || join(home, ".claude");
  return provider === "codex" ? env["CODEX_HOME"] || join(home, ".codex") : undefined;
}

/** All sessions, oldest first. */
export function findSessions({ env, only }: LogPlaces): readonly SessionLog[] {
  const found: SessionLog[] = [];
  for (const provider of providers.values()) {
    if (!provider.findLogs || (only && !only.includes(provider.name))) continue;
    const home = logHome(provider.name, env);
    if (home === undefined) continue;
    const disk = new Disk();
    for (const log of provider.findLogs((path) => listFolder(join(home, path)))) {
      const session = sessionOf(provider, home, log, disk);
      if (session) found.push(session);
    }
  }
  return found.sort((a, b) => a.changedAt - b.changedAt);
}

/** A log file that somebody names, with what lies beside it. */
export function sessionAt(provider: Provider, path: string): SessionLog | undefined {
  const folder = dirname(path);
  const own = path.replace(/\.jsonl$/, "");
  const beside = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl") && entry.name !== basename(path))
    .filter(({ name }) => provider.name !== "claude" || name.startsWith("agent-"))
    .map(({ name }) => name);
  const below = filesBelow(own).map((file) => relative(folder, file).split(sep).join("/"));
  const log = { provider: provider.name, path: basename(path), sidecars: [...beside, ...below] };
  return sessionOf(provider, folder, log, new Disk());
}

function sessionOf(provider: Provider, home: string, log: FoundLog, disk: Disk): SessionLog | undefined {
  const path = join(home, log.path);
  const stat = plainFile(path);
  if (!stat) return undefined;
  const isCodex = provider.name === "codex";
  const main = disk.file(home, log.path, dirname(log.path));
  if (isCodex && disk.parentThread(main, path) !== undefined) return undefined;
  const sidecars = log.sidecars.flatMap((name) => {
    const found = plainFile(join(home, name));
    const file = disk.file(home, name, dirname(log.path));
    const isPart = found && (!isCodex || disk.parentThread(file, join(home, name)) !== undefined);
    return isPart ? [{ file, stat: found }] : [];
  });
  const stats = [stat, ...sidecars.map((each) => each.stat)];
  const times = stats.map(({ mtimeMs }) => mtimeMs);
  const sizes = stats.map(({ size }) => size);
  const name = basename(log.path).replace(/\.jsonl$/, "");
  return {
    provider,
    name,
    sessionId: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.exec(name)?.[0] ?? name,
    path,
    files: { main, sidecars: sidecars.map(({ file }) => file) },
    bytes: stat.size,
    changedAt: Math.max(...times),
    stamp: `${Math.max(...times)} ${sizes.reduce((sum, size) => sum + size, 0)} ${sizes.length}`,
  };
}

/** The files of one run: each has its first line remembered, because finding threads asks every file for it. */
class Disk {
  readonly #firstLines = new Map<string, string | undefined>();
  readonly #parents = new Map<string, string | undefined>();

  file(home: string, name: string, folder: string): LogFile {
    const path = join(home, name);
    const shown = relative(folder, name).split(sep).join("/");
    return {
      path: shown,
      text: () => readFileSync(path, "utf8"),
      lines: () => this.#lines(path),
    };
  }

  /** Undefined also where the file cannot be read: whoever imports it says so. */
  parentThread(file: LogFile, path: string): string | undefined {
    if (!this.#parents.has(path)) this.#parents.set(path, parentOf(file));
    return this.#parents.get(path);
  }

  *#lines(path: string): Generator<string> {
    if (!this.#firstLines.has(path)) {
      const [first] = [...take(readLines(path), 1)];
      this.#firstLines.set(path, first);
    }
    const first = this.#firstLines.get(path);
    if (first === undefined) return;
    yield first;
    yield* skip(readLines(path), 1);
  }
}

function parentOf(file: LogFile): string | undefined {
  try {
    return codexParentThread(file);
  } catch {
    return undefined;
  }
}

/** Undefined where there is none, or something else: reading a pipe would wait for ever. */
function plainFile(path: string): Stats | undefined {
  try {
    const stat = statSync(path);
    return stat.isFile() ? stat : undefined;
  } catch {
    return undefined;
  }
}

/** Lines that are not blank, without holding the file in memory. */
function* readLines(path: string): Generator<string> {
  const reader = new LineReader();
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(LOG_CHUNK_BYTES);
    for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) {
      for (const { text } of reader.push(buffer.subarray(0, read))) if (text.trim() !== "") yield text;
    }
    for (const { text } of reader.end()) if (text.trim() !== "") yield text;
  } finally {
    closeSync(file);
  }
}

function* take<T>(items: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const item of items) {
    yield item;
    if (--left === 0) return;
  }
}

function* skip<T>(items: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const item of items) if (left-- <= 0) yield item;
}

function listFolder(path: string): readonly FolderEntry[] {
  try {
    return readdirSync(path, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      isFolder: entry.isDirectory(),
    }));
  } catch {
    return [];
  }
}

function filesBelow(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}
