/**
 * One open file: its block, its place on the disk, and their last common text. Checks the disk, saves to it, ends
 * conflicts.
 *
 * Its methods are called one at a time (see keyed-queue.ts). Invariant: the disk is written only if it has the text
 * that was last read from it, and `base` changes only together with the block's metadata.
 */

import {
  type BlockId,
  isProblem,
  type Kernel,
  metadataOf,
  type Problem,
  problem,
  splicesOf,
  Text,
} from "@blockyard/kernel";
import {
  type DiskFile,
  type DiskText,
  hashOf,
  hasStamp,
  readDisk,
  type Stamp,
  type Written,
  writeDisk,
} from "./disk-file.ts";
import { encodeFile, tooLarge } from "./encoding.ts";
import { type Base, DISK, endConflict, persisted, takeIn } from "./file-block.ts";
import type { Bounds } from "./limits.ts";
import type { CleanPath } from "./path.ts";
import type { Root } from "./root.ts";

export interface Ending {
  readonly agent: string;
  readonly key?: string;
  readonly take: "mine" | "disk" | "text";
  readonly content?: string | undefined;
  /** What the disk had when this was decided. */
  readonly diskHash?: string | null | undefined;
}

/** How somebody opens a file. */
export interface Opening {
  /** Who writes `content`. */
  readonly agent: string;
  /** Whether the caller may open files that other programs run by themselves. */
  readonly isOwner: boolean;
  readonly create?: boolean;
  readonly content?: string | undefined;
}

export class OpenFile {
  readonly id: BlockId;
  readonly path: CleanPath;
  readonly #kernel: Kernel;
  readonly #root: Root;
  readonly #bounds: Bounds;
  #base: Base;
  #stamp: Stamp = "";
  /** When the disk was last looked at, by the monotonic clock. */
  lookedAt = -Infinity;
  /** Why the last save did not come about. */
  failure: Problem | undefined;

  /** Of a block that is there already; what the disk has is not looked at yet. */
  static async load(kernel: Kernel, root: Root, bounds: Bounds, id: BlockId, path: CleanPath) {
    const block = await kernel.block(id);
    if (isProblem(block)) return block;
    const metadata = metadataOf(block, "file");
    const hash = metadata.baseHash ?? null;
    const hasBom = metadata.encoding === "utf-8-bom";
    const text = hash === null ? "" : await textThen(kernel, id, metadata.persistedVersion ?? 0);
    const isBase = text !== undefined && (hash === null || hashOf(encodeFile(text, hasBom)) === hash);
    const base = { text: isBase ? text : undefined, hash, hasBom };
    return new OpenFile(kernel, root, bounds, id, path, base);
  }

  constructor(kernel: Kernel, root: Root, bounds: Bounds, id: BlockId, path: CleanPath, base: Base) {
    this.#kernel = kernel;
    this.#root = root;
    this.#bounds = bounds;
    this.id = id;
    this.path = path;
    this.#base = base;
  }

  /** Characters that it keeps in memory. */
  get chars(): number {
    return this.#base.text?.length ?? 0;
  }

  /** What the disk has now. */
  disk(): Promise<DiskFile> {
    return this.#read("") as Promise<DiskFile>;
  }

  /** Takes in what has changed on the disk. */
  async look(): Promise<Problem | undefined> {
    this.lookedAt = this.#kernel.env.monotonic();
    const disk = await this.#read(this.#stamp);
    return disk === undefined ? undefined : this.#take(disk);
  }

  /** Saves what is not saved, unless there is a conflict; what the disk has meanwhile comes first. */
  async save(): Promise<Problem | undefined> {
    for (let tries = 0; tries < this.#bounds.flushTries; tries++) {
      const refused = await this.look();
      if (refused) return refused;
      const read = await this.#kernel.read(this.id);
      if (isProblem(read)) return read;
      const { conflict, persistedVersion = 0 } = metadataOf(read.block, "file");
      if (conflict !== undefined || read.block.version <= persistedVersion) return undefined;
      const written = await this.#write(read.text.toString(), read.block.version);
      if (written !== "moved") return written;
    }
    return problem("busy", `${this.path.name} changes on disk faster than it can be saved; try again`);
  }

  /** Ends a conflict, or overrules the disk before there is one. */
  async resolve({ agent, key, take, content, diskHash }: Ending): Promise<Problem | undefined> {
    const disk = await this.disk();
    const now = disk.type === "absent" ? null : disk.hash;
    if (diskHash !== undefined && diskHash !== now) {
      return problem("stale", `${this.path.name} changed on disk again; check it and try again`, {
        disk_hash: now,
        expected: diskHash,
      });
    }
    if (disk.type === "unreadable") {
      const message = `${disk.problem.message}. It is not overwritten: move it away to save the file`;
      return problem("conflict", message, { ...disk.problem.details });
    }
    if (disk.type === "text" && take !== "disk") await this.#keep(disk);
    const theirs = disk.type === "text" ? disk.text : "";
    const text = take === "mine" ? undefined : take === "disk" ? theirs : (content ?? "");
    const ended = await this.#kernel.writeBlock(this.id, {
      agent,
      ...(key === undefined ? {} : { key }),
      plan: (draft) => {
        const block = draft.block(this.id);
        if (isProblem(block)) return block;
        const isOpen = block.metadata.conflict !== undefined;
        return isOpen
          ? endConflict(draft, this.id, text, disk, take === "disk" && disk.type === "absent")
          : problem("nothing", `${this.path.name} has no conflict`, { block_id: this.id });
      },
    });
    if (isProblem(ended)) return ended;
    this.#stamp = "";
    this.#base =
      disk.type === "text"
        ? { text: disk.text, hash: disk.hash, hasBom: disk.hasBom }
        : { text: "", hash: now, hasBom: this.#base.hasBom };
    return this.save();
  }

  /** What is about to be overwritten on the disk stays to be had, as a blob of its hash. */
  async #keep({ text, hasBom, hash }: DiskText): Promise<void> {
    await this.#kernel.store.putBlob(hash, "text/plain; charset=utf-8", encodeFile(text, hasBom));
  }

  /** Makes the file that is gone again, with what the block has. */
  async remake(): Promise<Problem | undefined> {
    const marked = await this.#kernel.writeBlock(this.id, {
      agent: DISK,
      plan: (draft) => endConflict(draft, this.id, undefined, { type: "absent" }),
    });
    if (isProblem(marked)) return marked;
    this.#base = { text: "", hash: null, hasBom: this.#base.hasBom };
    return this.save();
  }

  async #take(disk: DiskFile): Promise<Problem | undefined> {
    const stamp = disk.type === "absent" ? "" : disk.stamp;
    const hash = disk.type === "absent" ? null : disk.hash;
    const isKnown = hash === this.#base.hash && hash !== "";
    if (isKnown && !(await this.#isDisputed())) {
      if (disk.type === "text") this.#base = { text: disk.text, hash, hasBom: disk.hasBom };
      this.#stamp = stamp;
      return undefined;
    }
    const taken = await this.#kernel.writeBlock(this.id, {
      agent: DISK,
      plan: (draft) => takeIn(draft, this.id, this.#base, disk),
    });
    if (isProblem(taken)) return taken;
    if (taken === "conflict") return undefined; // looked at again each time: the block may have moved
    if (disk.type === "text") this.#base = { text: disk.text, hash: disk.hash, hasBom: disk.hasBom };
    this.#stamp = stamp;
    return undefined;
  }

  /** Whether the block says something of the disk that is not so, now that the disk has what was last taken in. */
  async #isDisputed(): Promise<boolean> {
    const block = await this.#kernel.block(this.id);
    if (isProblem(block)) return false;
    const { conflict, missing } = metadataOf(block, "file");
    return conflict !== undefined || (missing === true && this.#base.hash !== null);
  }

  async #write(text: string, version: number): Promise<Problem | "moved" | undefined> {
    const { hash, hasBom } = this.#base;
    const bytes = encodeFile(text, hasBom);
    if (bytes.length > this.#bounds.fileBytes) return tooLarge(this.path.name, bytes.length);
    const after: DiskText = { type: "text", text, hasBom, hash: hashOf(bytes), stamp: "" };
    if (after.hash !== hash) {
      const written = await this.#replace(bytes, hash);
      if (isProblem(written)) return written;
      this.#stamp = "";
      if (written.type === "moved") return "moved";
      const before = this.#base;
      this.#base = { text, hash: after.hash, hasBom };
      if (written.late) return this.#takeLate(written.late, before, after);
    }
    const marked = await this.#kernel.writeBlock(this.id, {
      agent: DISK,
      plan: (draft) => persisted(draft, this.id, version, after),
    });
    return isProblem(marked) ? marked : undefined;
  }

  /**
   * Somebody wrote into the old file while it was replaced: merged against what that file had, then saved again. What
   * cannot be merged is put back, for the disk to be as that somebody left it.
   */
  async #takeLate(late: DiskFile, before: Base, after: DiskText): Promise<Problem | "moved" | undefined> {
    const taken = await this.#kernel.writeBlock(this.id, {
      agent: DISK,
      plan: (draft) => takeIn(draft, this.id, before, late),
    });
    if (isProblem(taken)) return taken;
    if (taken === "taken" || late.type !== "text") return "moved";
    const back = await this.#replace(encodeFile(late.text, late.hasBom), after.hash);
    if (isProblem(back)) return back;
    this.#base = before;
    return undefined;
  }

  async #read(known: Stamp): Promise<DiskFile | undefined> {
    const { parts, name } = this.path;
    const folder = await this.#root.folder(parts.slice(0, -1));
    if (isProblem(folder)) {
      const isGone = folder.problem === "not_found" || folder.details?.["error"] === "ENOTDIR";
      return isGone ? { type: "absent" } : { type: "unreadable", problem: folder, hash: "", stamp: "" };
    }
    try {
      const last = parts.at(-1) as string;
      return (await hasStamp(folder, last, known)) ? undefined : await readDisk(folder, last, name);
    } finally {
      await folder.close();
    }
  }

  async #replace(bytes: Buffer, expected: string | null): Promise<Written | Problem> {
    const { parts, name } = this.path;
    const folder = await this.#root.folder(parts.slice(0, -1), expected === null);
    if (isProblem(folder)) return folder.problem === "not_found" ? { type: "moved" } : folder;
    try {
      return await writeDisk(folder, parts.at(-1) as string, name, bytes, expected);
    } finally {
      await folder.close();
    }
  }
}

/** The text of a block at a version, as far as its history still tells. */
async function textThen(kernel: Kernel, id: BlockId, version: number): Promise<string | undefined> {
  const log = await kernel.log(id, { version: 0 });
  if (isProblem(log) || (log.compacted && log.compacted.version > version)) return undefined;
  let text = Text.of(log.compacted?.text ?? "");
  for (const op of log.ops) {
    if (op.versionFrom > version) break;
    if (op.version > version) return undefined;
    text = text.apply(splicesOf(op));
  }
  return text.toString();
}
