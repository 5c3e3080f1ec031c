/**
 * Watches folders for changes, as many as have open files. Says which name in which folder may have changed, or only which
 * folder; what has changed is for others to find out. It may say too much, and where the system drops events too little:
 * so nobody relies on it alone.
 *
 * A folder that cannot be watched, because it is gone or because the system has no watch left, is reported again and
 * again instead, until it can be.
 */

import { type FSWatcher, statSync, watch } from "node:fs";
import { basename } from "node:path";
import type { Env } from "@blockyard/kernel";
import type { Bounds } from "./limits.ts";

interface WatcherOptions {
  readonly env: Env;
  readonly bounds: Pick<Bounds, "pollMs" | "pollsPerSweep">;
  /** Without a name: anything in the folder. */
  readonly onChange: (folder: string, name: string | undefined) => void;
  /** Told once for each folder that the system will not watch. */
  readonly onDegrade: (folder: string, error: string) => void;
  /** The system's, unless a test has another. */
  readonly watch?: typeof watch;
}

interface Watched {
  users: number;
  watcher: FSWatcher | undefined;
  /** Which folder it is, so that another one under the same name is noticed. */
  inode: number | undefined;
  isTold: boolean;
}

export class Watcher {
  readonly #options: WatcherOptions;
  readonly #folders = new Map<string, Watched>();
  #polls = 0;
  #cancel: (() => void) | undefined;

  constructor(options: WatcherOptions) {
    this.#options = options;
  }

  /** How many folders are watched by the system, and how many are polled. */
  get counts(): { readonly watched: number; readonly polled: number } {
    const watched = [...this.#folders.values()].filter(({ watcher }) => watcher !== undefined).length;
    return { watched, polled: this.#folders.size - watched };
  }

  /** Each call is taken back by one of `remove`. */
  add(folder: string): void {
    const known = this.#folders.get(folder);
    if (known) {
      known.users++;
      return;
    }
    const entry: Watched = { users: 1, watcher: undefined, inode: undefined, isTold: false };
    this.#folders.set(folder, entry);
    this.#begin(folder, entry);
    this.#cancel ??= this.#options.env.after(this.#options.bounds.pollMs, () => this.#poll());
  }

  remove(folder: string): void {
    const known = this.#folders.get(folder);
    if (!known || --known.users > 0) return;
    known.watcher?.close();
    this.#folders.delete(folder);
  }

  close(): void {
    this.#cancel?.();
    for (const { watcher } of this.#folders.values()) watcher?.close();
    this.#folders.clear();
  }

  #begin(folder: string, entry: Watched): void {
    const stat = statSync(folder, { throwIfNoEntry: false });
    if (!stat?.isDirectory()) return;
    try {
      const start = this.#options.watch ?? watch;
      const watcher = start(folder, { persistent: false }, (_event, name) =>
        this.#onEvent(folder, entry, name),
      );
      watcher.on("error", (error) => this.#degrade(folder, entry, error));
      entry.watcher = watcher;
      entry.inode = stat.ino;
    } catch (error) {
      this.#degrade(folder, entry, error);
    }
  }

  #onEvent(folder: string, entry: Watched, name: string | null): void {
    if (this.#folders.get(folder) !== entry) return;
    // Events of the folder itself carry its own name: it may be gone, or another one by now.
    if (name === null || name === basename(folder)) {
      this.#renew(folder, entry);
      this.#options.onChange(folder, undefined);
    } else this.#options.onChange(folder, name);
  }

  #degrade(folder: string, entry: Watched, error: unknown): void {
    entry.watcher?.close();
    entry.watcher = undefined;
    if (entry.isTold) return;
    entry.isTold = true;
    this.#options.onDegrade(folder, error instanceof Error ? error.message : String(error));
  }

  /** Watches the folder that has the name now. */
  #renew(folder: string, entry: Watched): boolean {
    const inode = statSync(folder, { throwIfNoEntry: false })?.ino;
    if (entry.watcher !== undefined && inode === entry.inode) return false;
    entry.watcher?.close();
    entry.watcher = undefined;
    this.#begin(folder, entry);
    return true;
  }

  #poll(): void {
    const isSweep = ++this.#polls % this.#options.bounds.pollsPerSweep === 0;
    for (const [folder, entry] of this.#folders) {
      if (entry.watcher !== undefined && !isSweep) continue;
      const isRenewed = this.#renew(folder, entry);
      if (isRenewed || entry.watcher === undefined) this.#options.onChange(folder, undefined);
    }
    this.#cancel = this.#options.env.after(this.#options.bounds.pollMs, () => this.#poll());
  }
}
