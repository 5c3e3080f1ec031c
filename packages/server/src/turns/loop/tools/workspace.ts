/**
 * The workspace as the built-in tools see it: one folder, and nothing outside. A path may come from a model, so it is
 * resolved before it is used: no `..`, no link leads out, and neither `.git` nor the server's own files are ever
 * touched.
 *
 * A file is written whole, to a temporary file, and then moved into place: nobody ever reads half of it. If a file is
 * open as a block (see files/), reads return the block, and writes are edits of it: so nobody's edit is overwritten.
 */

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, realpath, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { isProblem, type Problem, problem } from "@blockyard/kernel";
import { guardOfName } from "../../../files/guarded-path.ts";
import type { LoopFiles } from "../../../files/loop-files.ts";
import { isGit } from "../../../files/path.ts";
import { isAt } from "../../../files/root.ts";
import { READ_FILE_BYTES } from "../limits.ts";

export interface Place {
  /** Where it really is. */
  readonly path: string;
  /** As people and models name it: below the root, with slashes. */
  readonly name: string;
}

interface WorkspaceOptions {
  readonly root: string;
  readonly files?: LoopFiles;
  /** Folders that nobody reads or writes through here, such as the server's own. */
  readonly closed: readonly string[];
  /** Guarded files that may be read and written all the same, by name. */
  readonly permitted?: readonly string[];
}

export class Workspace {
  readonly root: string;
  readonly #options: WorkspaceOptions;
  readonly #files: LoopFiles | undefined;

  constructor(options: WorkspaceOptions) {
    this.root = options.root;
    this.#files = options.files;
    this.#options = options;
  }

  /** The same, for a call to which the owner has allowed these guarded files. */
  permitting(names: readonly string[]): Workspace {
    return names.length === 0 ? this : new Workspace({ ...this.#options, permitted: names });
  }

  /** Why a file asks before it is read or written; undefined where it does not, or is granted. */
  guardOf(name: string): string | undefined {
    return this.#files ? this.#files.guardOf(name) : guardOfName(name);
  }

  /** A file that is guarded and was not asked for: a link that was moved meanwhile, or a folder's search. */
  guards({ name }: Place): Problem | undefined {
    const reason = this.#isPermitted(name) ? undefined : this.guardOf(name);
    if (reason === undefined) return undefined;
    return problem(
      "forbidden",
      `${name} is guarded: ${reason}. Access was not requested; read it in a separate call`,
      {
        path: name,
      },
    );
  }

  #isPermitted(name: string): boolean {
    return this.#options.permitted?.includes(name) === true;
  }

  /** Where a path leads, if that is a place that may be used. */
  async place(path: string): Promise<Place | Problem> {
    if (path.includes("\0")) return problem("invalid", "a path cannot contain U+0000");
    const root = await realpath(this.root).catch(() => undefined);
    if (root === undefined)
      return problem("unavailable", `the workspace ${this.root} does not exist (any more)`, { path });
    const asked = resolve(isAbsolute(path) ? path : join(root, path));
    const real = await realPlace(asked);
    if (isProblem(real)) return real;
    const isInside = (folder: string, file: string) => file === folder || file.startsWith(folder + sep);
    if (!isInside(root, real))
      return problem("forbidden", `${path} is outside the workspace ${this.root}`, { path });
    const name = relative(root, real).split(sep).join("/");
    if ([name, relative(root, asked)].some(hasGit))
      return problem("forbidden", `${path} is in .git, which these tools do not touch`, { path });
    for (const folder of this.#options.closed) {
      const closed = await realpath(folder).catch(() => resolve(folder));
      if (isInside(closed, real))
        return problem("forbidden", `${path} belongs to the server itself`, { path });
    }
    return { path: real, name: name === "" ? "." : name };
  }

  /** What others have edited is on the disk, for programs that read it there. */
  async save(): Promise<void> {
    await this.#files?.save();
  }

  /** The text of a file; undefined where there is none. */
  async read(place: Place): Promise<string | undefined | Problem> {
    const guarded = this.guards(place);
    if (guarded) return guarded;
    const known = await this.#files?.read(place.name);
    if (isProblem(known)) return known;
    return known ? known.text : this.#readDisk(place);
  }

  async #readDisk({ path, name }: Place): Promise<string | undefined | Problem> {
    // Not blocking: a pipe in the place of a file would hold us up for ever.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => error);
    if (file instanceof Error) return file.code === "ENOENT" ? undefined : operating(name, file);
    try {
      // Somebody may have put a link in the place of a folder since the path was looked at.
      if (!(await isAt(file, path)))
        return problem("conflict", `${name} was moved in the meantime; try again`, { path: name });
      const { size } = await file.stat().then((each) => (each.isFile() ? each : { size: -1 }));
      if (size < 0) return problem("invalid", `${name} is not a file`);
      if (size > READ_FILE_BYTES)
        return problem("too_large", `${name} has ${size} bytes; at most ${READ_FILE_BYTES} are read`, {
          size,
        });
      const bytes = await file.readFile();
      if (bytes.includes(0)) return problem("invalid", `${name} is not a text file`);
      // A block's text has no byte order mark; its file keeps it.
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: this.#files === undefined }).decode(bytes);
    } catch (error) {
      if (error instanceof TypeError) return problem("invalid", `${name} is not UTF-8 text`);
      return operating(name, error as Error);
    } finally {
      await file.close();
    }
  }

  /** Writes a file whole. `before` is what its writer thinks is there (undefined: nothing). */
  async write(place: Place, text: string, before: string | undefined): Promise<Problem | undefined> {
    const guarded = this.guards(place);
    if (guarded) return guarded;
    if (this.#files) return this.#files.write(place.name, text, before, this.#isPermitted(place.name));
    const folder = dirname(place.path);
    const temporary = join(
      folder,
      `.${basename(place.path).slice(0, 100)}.${randomBytes(6).toString("hex")}`,
    );
    try {
      await mkdir(folder, { recursive: true });
      const mode = (await stat(place.path).catch(() => undefined))?.mode;
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
      const file = await open(temporary, flags, mode === undefined ? 0o666 : mode & 0o777);
      try {
        await file.writeFile(text);
        if (mode !== undefined) await file.chmod(mode & 0o7777);
      } finally {
        await file.close();
      }
      const refused = await this.#recheck(place, before);
      if (refused) await unlink(temporary);
      else await rename(temporary, place.path);
      return refused;
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      return operating(place.name, error as Error);
    }
  }

  /** Just before it is moved there: the place is still that place, and holds what its writer has seen. */
  async #recheck(place: Place, before: string | undefined): Promise<Problem | undefined> {
    const again = await this.place(place.path);
    if (isProblem(again)) return again;
    if (again.path !== place.path)
      return problem("conflict", `${place.name} was moved in the meantime; try again`);
    const now = await this.read(place);
    if (isProblem(now)) return now;
    return now === before
      ? undefined
      : problem("conflict", `${place.name} changed in the meantime; read it and try again`);
  }
}

function hasGit(name: string): boolean {
  return name.split(/[\\/]/).some(isGit);
}

/** With every link followed, as far as it exists; what does not exist yet is below something that does. */
async function realPlace(path: string): Promise<string | Problem> {
  const found = await realpath(path).catch((error: NodeJS.ErrnoException) => error);
  if (!(found instanceof Error)) return found;
  if (found.code !== "ENOENT") return operating(path, found);
  if (await lstat(path).catch(() => undefined))
    return problem("forbidden", `${path} is a broken link`, { path });
  const above = dirname(path);
  if (above === path) return problem("not_found", `${path} does not exist`);
  const parent = await realPlace(above);
  return isProblem(parent) ? parent : join(parent, basename(path));
}

/** What the system says, without its stack. */
function operating(name: string, error: Error): Problem {
  const code = (error as NodeJS.ErrnoException).code ?? "error";
  const words: Record<string, string> = {
    EACCES: "cannot be opened",
    EISDIR: "is a folder",
    ELOOP: "is a link",
    ENAMETOOLONG: "has a name that is too long",
    ENOENT: "does not exist",
    ENOSPC: "does not fit on the disk",
    ENOTDIR: "is below a file",
  };
  return problem("unavailable", `${name} ${words[code] ?? `could not be used (${code})`}`, { code });
}
