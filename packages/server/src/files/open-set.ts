/**
 * The files that are in memory, bounded in number and characters: the one unused for longest leaves first, and its folder
 * is no longer watched. One that is held (not saved, in conflict, at work, open in an editor) does not leave.
 */

import { basename, dirname } from "node:path";
import type { BlockId } from "@blockyard/kernel";
import type { Bounds } from "./limits.ts";
import type { OpenFile } from "./open-file.ts";
import type { Watcher } from "./watcher.ts";

interface OpenSetOptions {
  readonly bounds: Pick<Bounds, "openFiles" | "openChars">;
  readonly watcher: Watcher;
  /** The place of a file on the disk, for the watcher. */
  readonly placeOf: (file: OpenFile) => string;
  readonly isHeld: (file: OpenFile) => Promise<boolean>;
}

export class OpenSet {
  readonly #options: OpenSetOptions;
  readonly #files = new Map<BlockId, OpenFile>();
  /** The same by folder and name. */
  readonly #folders = new Map<string, Map<string, OpenFile>>();

  constructor(options: OpenSetOptions) {
    this.#options = options;
  }

  get(id: BlockId): OpenFile | undefined {
    return this.#files.get(id);
  }

  get size(): number {
    return this.#files.size;
  }

  get chars(): number {
    return [...this.#files.values()].reduce((sum, file) => sum + file.chars, 0);
  }

  /** Those in a folder; with a name, the one of that name. Asked for every change in a watched folder: nothing is searched. */
  in(folder: string, name: string | undefined): readonly OpenFile[] {
    const there = this.#folders.get(folder);
    if (there === undefined) return [];
    if (name === undefined) return [...there.values()];
    const file = there.get(name);
    return file === undefined ? [] : [file];
  }

  enter(file: OpenFile): void {
    this.#files.set(file.id, file);
    const place = this.#options.placeOf(file);
    const folder = dirname(place);
    const there = this.#folders.get(folder) ?? new Map<string, OpenFile>();
    this.#folders.set(folder, there.set(basename(place), file));
    this.#options.watcher.add(folder);
    void this.#makeRoom(file);
  }

  /** It counts as new. */
  used(file: OpenFile): void {
    this.#files.delete(file.id);
    this.#files.set(file.id, file);
  }

  async #makeRoom(newest: OpenFile): Promise<void> {
    const { bounds, isHeld, watcher, placeOf } = this.#options;
    let { chars } = this;
    for (const file of [...this.#files.values()]) {
      if (this.#files.size <= bounds.openFiles && chars <= bounds.openChars) return;
      if (file === newest || (await isHeld(file)) || !this.#files.delete(file.id)) continue;
      chars -= file.chars;
      const place = placeOf(file);
      this.#forget(dirname(place), basename(place));
      watcher.remove(dirname(place));
    }
  }

  #forget(folder: string, name: string): void {
    const there = this.#folders.get(folder);
    there?.delete(name);
    if (there?.size === 0) this.#folders.delete(folder);
  }
}
