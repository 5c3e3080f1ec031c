/**
 * What the search thread keeps of all blocks: their rank by age, the fields that a query can filter by, and their
 * trigram filters, one after the other in one buffer. Loaded once, then updated from the changed rows.
 *
 * Invariant: it never knows more than the tables at the last update. A filter is stored with its block's version.
 */

import type { SearchQuery } from "@blockyard/kernel";
import { type Kind, limits } from "@blockyard/kernel/plain";
import { mayContain, type TrigramQuery } from "@blockyard/kernel/search";

/** What is needed of a block to tell whether it is worth reading. */
export interface Outline {
  readonly row: number;
  readonly conversation: string;
  readonly born: number;
  readonly createdAt: number;
  readonly kind: Kind;
  readonly path: string | null;
  readonly version: number;
  /** Of the text at `version`, if there is one. */
  readonly filter: Uint8Array | undefined;
}

export interface Entry {
  readonly row: number;
  readonly conversation: string;
  readonly born: number;
  readonly createdAt: number;
  kind: Kind;
  path: string | null;
  version: number;
  /** Where the filter lies. `from` of -1: none is known. */
  from: number;
  to: number;
}

export class BlockIndex {
  readonly #maxBytes: number;
  readonly #byRow = new Map<number, Entry>();
  /** Oldest first, if `#sorted`. */
  #entries: Entry[] = [];
  #sorted = true;
  #filters = new Uint8Array(64 * 1024);
  #end = 0;
  /** Bytes of filters that no entry refers to any more. */
  #waste = 0;

  constructor(maxBytes: number = limits.filterCacheBytes) {
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#entries.length;
  }

  get filterBytes(): number {
    return this.#end - this.#waste;
  }

  put(outline: Outline): void {
    const { row, conversation, born, createdAt, kind, path, version, filter } = outline;
    let entry = this.#byRow.get(row);
    if (entry === undefined) {
      entry = { row, conversation, born, createdAt, kind, path, version, from: -1, to: -1 };
      const newest = this.#entries.at(-1);
      if (newest !== undefined && byAge(newest, entry) > 0) this.#sorted = false;
      this.#entries.push(entry);
      this.#byRow.set(row, entry);
    }
    entry.kind = kind;
    entry.path = path;
    // A filter that was made here for this very version is as good as none in the tables.
    if (filter !== undefined || entry.version !== version) this.#drop(entry);
    entry.version = version;
    if (filter !== undefined) this.putFilter(entry, filter);
  }

  entry(row: number): Entry | undefined {
    return this.#byRow.get(row);
  }

  /** Keeps the filter, if there is room for it: without one a block is just read more often. */
  putFilter(entry: Entry, filter: Uint8Array): void {
    this.#drop(entry);
    if (this.#end + filter.length > this.#filters.length) this.#makeRoom(filter.length);
    if (this.#end + filter.length > this.#filters.length) return;
    this.#filters.set(filter, this.#end);
    entry.from = this.#end;
    this.#end += filter.length;
    entry.to = this.#end;
  }

  /** The entries that fit the query and may hold what is asked for, newest first. */
  *candidates(query: SearchQuery, trigrams: TrigramQuery | undefined): Generator<Entry> {
    this.#sort();
    const { after } = query;
    for (let at = this.#entries.length - 1; at >= 0; at--) {
      const entry = this.#entries[at] as Entry;
      if (query.conversation !== undefined && entry.conversation !== query.conversation) continue;
      if (query.except?.includes(entry.conversation)) continue;
      if (query.kinds !== undefined && !query.kinds.includes(entry.kind)) continue;
      if (query.pathPrefix !== undefined && !entry.path?.startsWith(query.pathPrefix)) continue;
      if (after !== undefined && byAge(entry, after) >= 0) continue;
      if (entry.from === -1 || mayContain(this.#filters, trigrams, entry.from, entry.to)) yield entry;
    }
  }

  #sort(): void {
    if (!this.#sorted) this.#entries.sort(byAge);
    this.#sorted = true;
  }

  #drop(entry: Entry): void {
    if (entry.from === -1) return;
    this.#waste += entry.to - entry.from;
    entry.from = entry.to = -1;
  }

  /** Grows, or closes the gaps where they are a good part of it. */
  #makeRoom(bytes: number): void {
    const used = this.filterBytes + bytes;
    // At the bound gaps are closed only when they are worth it: it copies everything that is kept.
    const isFull = this.#filters.length >= this.#maxBytes;
    if (used > this.#maxBytes || (isFull && this.#waste < this.#maxBytes / 8)) return;
    const larger = new Uint8Array(Math.min(Math.max(2 * used, 64 * 1024), this.#maxBytes));
    let end = 0;
    for (const entry of this.#byRow.values()) {
      if (entry.from === -1) continue;
      larger.set(this.#filters.subarray(entry.from, entry.to), end);
      const length = entry.to - entry.from;
      entry.from = end;
      entry.to = end += length;
    }
    this.#filters = larger;
    this.#end = end;
    this.#waste = 0;
  }
}

/** Oldest first, as the stores order blocks of several conversations. */
function byAge(
  a: { readonly createdAt: number; readonly conversation: string; readonly born: number },
  b: { readonly createdAt: number; readonly conversation: string; readonly born: number },
): number {
  if (a.createdAt !== b.createdAt) return a.createdAt - b.createdAt;
  if (a.conversation !== b.conversation) return a.conversation < b.conversation ? -1 : 1;
  return a.born - b.born;
}
