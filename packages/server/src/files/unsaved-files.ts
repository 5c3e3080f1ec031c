/**
 * Files whose blocks are newer than the disk, and when each is saved: soon after its last edit, and after a save that failed
 * later each time. It saves nothing itself.
 */

import type { Block, BlockId, Env } from "@blockyard/kernel";
import { FlushClock } from "./flush-clock.ts";
import type { Bounds } from "./limits.ts";

export class UnsavedFiles {
  readonly #bounds: Bounds;
  readonly #clock: FlushClock;
  /** Cached so that nobody has to scan all files. */
  readonly #unsaved = new Set<BlockId>();
  /** How often in a row a save has failed. */
  readonly #failures = new Map<BlockId, number>();

  constructor(env: Env, bounds: Bounds, save: (id: BlockId) => void) {
    this.#bounds = bounds;
    this.#clock = new FlushClock(env, save);
  }

  ids(): readonly BlockId[] {
    return [...this.#unsaved];
  }

  /** What was unsaved when the last process ended. */
  saveNow(id: BlockId): void {
    this.#unsaved.add(id);
    this.#clock.ask(id, 0, 0);
  }

  /** A committed block. */
  take(block: Block): void {
    if (!isUnsaved(block)) this.#unsaved.delete(block.id);
    else {
      this.#unsaved.add(block.id);
      if (!this.#failures.has(block.id)) this.saveSoon(block.id);
    }
  }

  saveSoon(id: BlockId): void {
    this.#clock.ask(id, this.#bounds.flushMs, this.#bounds.flushMostMs);
  }

  /** It is being saved. */
  begin(id: BlockId): void {
    this.#clock.drop(id);
  }

  saved(id: BlockId): void {
    this.#failures.delete(id);
  }

  /** It could not be saved, and is retried; the number of failures. */
  failed(id: BlockId): number {
    const tries = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, tries);
    const delay = Math.min(this.#bounds.retryMs * 2 ** (tries - 1), this.#bounds.retryMostMs);
    this.#clock.ask(id, delay, delay);
    return tries;
  }

  close(): void {
    this.#clock.close();
  }
}

export function isUnsaved(block: Block): boolean {
  return block.version > (block.metadata.persistedVersion ?? 0);
}
