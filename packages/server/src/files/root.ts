/**
 * The workspace's root and the folders below it, opened so that nothing can be put in their way. Decides where a path
 * really leads; reads and writes no file (see disk-file.ts).
 *
 * A folder is reached from the root's descriptor, part by part, never following a link, and is then used through its own
 * descriptor: a link that is put in the place of a folder afterwards leads nowhere, because names are not looked up again.
 * Node cannot open relative to a descriptor, but `/proc/self/fd/N/name` is just that. Where there is no such folder, real
 * paths are compared before and after instead.
 */

import { closeSync, existsSync, constants as fsConstants, openSync, realpathSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { isProblem, type Problem, problem } from "@blockyard/kernel";
import { type CleanPath, cleanPath } from "./path.ts";

const FOLDER = fsConstants.O_RDONLY | fsConstants.O_DIRECTORY | fsConstants.O_NOFOLLOW;
const HAS_PROC = existsSync("/proc/self/fd");

/** An open folder. The caller that opened it closes it. */
export interface Folder {
  readonly handle: FileHandle;
  /** Its real path, for people and watchers; never to read or write by. */
  readonly path: string;
  /** The path of a name in it that leads through the descriptor. */
  at(name: string): string;
  /** Whether it is still in its place: not moved away, not out of the root. */
  isInPlace(): Promise<boolean>;
  close(): Promise<void>;
}

export class Root {
  /** The real path. */
  readonly path: string;
  #opened: number | undefined;
  readonly #closed: readonly string[];

  /** `closed`: folders that nobody reads or writes through here, such as the server's own. */
  constructor(path: string, closed: readonly string[]) {
    this.path = realpathSync(path);
    this.#closed = closed.map((each) => (existsSync(each) ? realpathSync(each) : resolve(each)));
  }

  close(): void {
    if (this.#opened !== undefined) closeSync(this.#opened);
    this.#opened = undefined;
  }

  /** Opened when it is first needed, and unchanged from then on. */
  get #fd(): number {
    this.#opened ??= openSync(this.path, FOLDER);
    return this.#opened;
  }

  /** The real target of a path, links resolved: inside the root, or a problem. Missing parts stay as they are. */
  async locate(clean: CleanPath): Promise<CleanPath | Problem> {
    const real = await this.#real(clean.parts);
    if (isProblem(real)) return real;
    if (!isInside(this.path, real))
      return problem("forbidden", `${clean.name} is outside the workspace`, { path: clean.name });
    if (this.isClosed(real))
      return problem("forbidden", `${clean.name} belongs to the server itself`, { path: clean.name });
    return cleanPath(relative(this.path, real).split(sep).join("/"), true);
  }

  isClosed(real: string): boolean {
    return this.#closed.some((folder) => isInside(folder, real));
  }

  /** Opens the folder of these parts; with `make`, creates missing ones. */
  async folder(parts: readonly string[], make = false): Promise<Folder | Problem> {
    let here = await open(HAS_PROC ? `/proc/self/fd/${this.#fd}/.` : this.path, FOLDER).catch(asError);
    for (const [depth, part] of parts.entries()) {
      if (here instanceof Error) break;
      const above = here;
      const next = this.#through(above, parts.slice(0, depth), part);
      here = await open(next, FOLDER).catch(asError);
      if (make && here instanceof Error && here.code === "ENOENT") {
        await mkdir(next).catch(() => undefined); // another process may have been faster: the next line finds out
        here = await open(next, FOLDER).catch(asError);
        if (!(here instanceof Error)) await syncFolder(above);
      }
      await above.close();
    }
    if (here instanceof Error) return operating(parts.join("/") || ".", here);
    return this.#folderOf(here, parts);
  }

  #folderOf(handle: FileHandle, parts: readonly string[]): Folder {
    const path = join(this.path, ...parts);
    return {
      handle,
      path,
      at: (name) => this.#through(handle, parts, name),
      isInPlace: () => isAt(handle, path),
      close: () => handle.close(),
    };
  }

  #through(handle: FileHandle, parts: readonly string[], name: string): string {
    return HAS_PROC ? `/proc/self/fd/${handle.fd}/${name}` : join(this.path, ...parts, name);
  }

  async #real(parts: readonly string[]): Promise<string | Problem> {
    for (let known = parts.length; known >= 0; known--) {
      const path = join(this.path, ...parts.slice(0, known));
      const found = await realpath(path).catch(asError);
      if (!(found instanceof Error)) return join(found, ...parts.slice(known));
      if (found.code !== "ENOENT") return operating(parts.join("/"), found);
      if (await lstat(path).catch(() => undefined))
        return problem("forbidden", `${parts.join("/")} goes through a broken link`);
    }
    return problem("unavailable", "the workspace root does not exist any more");
  }
}

/** Names in a folder are durable when it is synced. Some file systems cannot do that, and say so: then it is not needed. */
export async function syncFolder(handle: FileHandle): Promise<void> {
  await handle.sync().catch((error) => {
    if (!["EINVAL", "ENOTSUP", "EBADF", "EPERM"].includes(asError(error).code ?? "")) throw error;
  });
}

/** Whether a descriptor is that of a real path's current file. */
export async function isAt(handle: FileHandle, path: string): Promise<boolean> {
  if (HAS_PROC) return (await readlink(`/proc/self/fd/${handle.fd}`).catch(() => "")) === path;
  const [own, there] = await Promise.all([handle.stat(), lstat(path).catch(() => undefined)]);
  return (
    there !== undefined && own.ino === there.ino && own.dev === there.dev && (await realpath(path)) === path
  );
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

export function asError(error: unknown): NodeJS.ErrnoException {
  return error instanceof Error ? error : new Error(String(error));
}

const WORDS: Readonly<Record<string, readonly [Problem["problem"], string]>> = {
  EACCES: ["forbidden", "cannot be opened or changed by the server's account"],
  EPERM: ["forbidden", "cannot be changed by the server's account"],
  EROFS: ["forbidden", "is on a read-only disk"],
  EISDIR: ["invalid", "is a folder"],
  ELOOP: ["forbidden", "goes through a link"],
  ENAMETOOLONG: ["invalid", "has a name that is too long"],
  ENOENT: ["not_found", "does not exist"],
  ENOSPC: ["unavailable", "does not fit on the disk"],
  ENOTDIR: ["invalid", "is below something that is not a folder"],
  ENXIO: ["invalid", "is not a regular file"],
};

/** The system's message, without its stack. */
export function operating(name: string, error: NodeJS.ErrnoException): Problem {
  const [code, words] = WORDS[error.code ?? ""] ?? [
    "unavailable",
    `could not be used (${error.code ?? "error"})`,
  ];
  return problem(code as Problem["problem"], `${name} ${words}`, {
    path: name,
    error: error.code ?? "error",
  });
}
