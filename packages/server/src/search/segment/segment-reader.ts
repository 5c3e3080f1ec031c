/**
 * Asks a segment which of its blocks may match a pattern. The answer may name too many, never too few; undefined means
 * that it cannot tell, or not cheaply, and that all of them may.
 */

import type { Demand, SearchQuery } from "@blockyard/kernel";
import { FEW_BLOCKS, KEPT_PAGES, MAX_MATCHED_KEYS, MAX_MATCHED_PAGES } from "../limits.ts";
import { type Document, Documents } from "./documents.ts";
import type { PageList, Part } from "./page-list.ts";
import { decodePostings, intersect, unite } from "./postings.ts";
import { DOCUMENTS_PER_PAGE, SegmentFile } from "./segment-file.ts";
import {
  conversationKey,
  encodeKey,
  gramKeys,
  inGrams,
  kindKey,
  type Piece,
  pathKey,
  piecesOf,
  SEPARATOR,
} from "./tokens.ts";

/** A key's list of ranks: how many, and where they are. */
interface Entry {
  readonly count: number;
  ranks(): Uint32Array;
}

export class SegmentReader {
  readonly #file: SegmentFile;
  readonly #documents = new Map<number, Documents>();
  readonly bytes: number;

  constructor(path: string, bytes: number) {
    this.#file = new SegmentFile(path, bytes);
    this.bytes = bytes;
  }

  get directory() {
    return this.#file.directory;
  }

  close(): void {
    this.#file.close();
  }

  document(rank: number): Document {
    const page = Math.floor(rank / DOCUMENTS_PER_PAGE);
    let documents = this.#documents.get(page);
    if (documents === undefined) {
      documents = Documents.unpack(this.#file.part(this.directory.documentPages[page] as Part));
      if (this.#documents.size >= KEPT_PAGES) this.#documents.clear();
      this.#documents.set(page, documents);
    }
    return documents.at(rank % DOCUMENTS_PER_PAGE);
  }

  /** How many blocks are not newer than a time. */
  rankAfter(createdAt: number): number {
    let low = 0;
    let high = this.directory.documents;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.document(middle).createdAt <= createdAt) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The ranks of blocks that may hold what is demanded, among those that the query asks about, ascending. */
  ranks(demand: Demand, query: SearchQuery, conversation: number | undefined): Uint32Array | undefined {
    const scope = this.#scope(query, conversation);
    return scope?.length === 0 ? scope : this.#demanded(demand, scope);
  }

  /** All keys with their ranks, in order. */
  *entries(): Generator<{ readonly key: string; readonly count: number; ranks(): Uint32Array }> {
    const { keyPages } = this.#file;
    for (let i = 0; i < keyPages.length; i++) {
      const page = new Page(this.#file, keyPages.part(i) as Part);
      for (const [place, key] of page.all().entries()) {
        const { count, ranks } = page.entry(place);
        yield { key, count, ranks };
      }
    }
  }

  #scope({ kinds, pathPrefix }: SearchQuery, conversation: number | undefined): Uint32Array | undefined {
    let scope: Uint32Array | undefined;
    const narrow = (entries: readonly Entry[] | undefined) => {
      if (entries === undefined) return;
      const ranks = entries.length === 0 ? new Uint32Array() : unite(entries.map((entry) => entry.ranks()));
      scope = scope === undefined ? ranks : intersect(scope, ranks);
    };
    if (conversation !== undefined) narrow(this.#exact(conversationKey(conversation)));
    if (kinds !== undefined) narrow(kinds.flatMap((kind) => this.#exact(kindKey(kind))));
    if (pathPrefix !== undefined) narrow(this.#beginning(pathKey(pathPrefix)));
    return scope;
  }

  #demanded({ strings, groups }: Demand, among: Uint32Array | undefined): Uint32Array | undefined {
    let found = among;
    const isDone = () => found !== undefined && found.length <= FEW_BLOCKS;
    for (const piece of strings.flatMap(piecesOf).sort(byUse)) {
      if (isDone()) return found;
      const ranks = this.#piece(piece);
      if (ranks !== undefined) found = found === undefined ? ranks : intersect(found, ranks);
    }
    for (const group of groups) {
      if (isDone()) return found;
      const alternatives = group.map((alternative) => this.#demanded(alternative, undefined));
      if (!alternatives.every((ranks) => ranks !== undefined)) continue;
      const ranks = alternatives.length === 0 ? new Uint32Array() : unite(alternatives);
      found = found === undefined ? ranks : intersect(found, ranks);
    }
    return found;
  }

  #piece(piece: Piece): Uint32Array | undefined {
    if (piece.isGrams) return this.#grams(piece.text);
    const { isStart, isEnd } = piece;
    const key = encodeKey(piece.text);
    if (isStart && isEnd) return united(this.#exact(key));
    const entries = isStart ? this.#beginning(key) : this.#holding(isEnd ? key + SEPARATOR : key);
    if (entries === undefined) return undefined;
    // Or it lies in a run that is too long to be a token.
    return unite([united(entries), this.#grams(piece.text)]);
  }

  #grams(text: string): Uint32Array {
    let found: Uint32Array | undefined;
    for (const key of gramKeys(text)) {
      const ranks = united(this.#exact(key));
      found = found === undefined ? ranks : intersect(found, ranks);
      if (found.length === 0) break;
    }
    return found ?? new Uint32Array();
  }

  #exact(key: string): Entry[] {
    const { keyPages } = this.#file;
    return this.#in(keyPages, keyPages.pageOf(key), SEPARATOR + key + SEPARATOR);
  }

  /** The entries whose keys begin so; undefined if they are too many. */
  #beginning(key: string): Entry[] | undefined {
    const { keyPages } = this.#file;
    const entries: Entry[] = [];
    const first = Math.max(0, keyPages.pageOf(key));
    for (let page = first; page < keyPages.length; page++) {
      const begin = keyPages.firstKey(page);
      if (page > first && begin > key && !begin.startsWith(key)) break;
      if (page - first > MAX_MATCHED_PAGES || entries.length > MAX_MATCHED_KEYS) return undefined;
      entries.push(...this.#in(keyPages, page, SEPARATOR + key));
    }
    return entries;
  }

  /** The entries whose keys, with the separator behind them, hold a string of at least three bytes; undefined if they are too many. */
  #holding(needle: string): Entry[] | undefined {
    const pages = this.#pagesWith(needle);
    if (pages.length > MAX_MATCHED_PAGES) return undefined;
    const entries: Entry[] = [];
    for (const page of pages) {
      entries.push(...this.#in(this.#file.keyPages, page, needle));
      if (entries.length > MAX_MATCHED_KEYS) return undefined;
    }
    return entries;
  }

  #pagesWith(needle: string): Uint32Array {
    const { gramPages } = this.#file;
    const lists: Entry[] = [];
    const bounded = inGrams(needle);
    for (let at = 0; at + 3 <= bounded.length; at++) {
      const gram = bounded.slice(at, at + 3);
      const [list] = this.#in(gramPages, gramPages.pageOf(gram), SEPARATOR + gram + SEPARATOR);
      if (list === undefined) return new Uint32Array();
      lists.push(list);
    }
    lists.sort((a, b) => a.count - b.count);
    let pages = (lists[0] as Entry).ranks();
    for (const list of lists.slice(1)) {
      if (pages.length < 4) break;
      pages = intersect(pages, list.ranks());
    }
    return pages;
  }

  #in(pages: PageList, page: number, needle: string): Entry[] {
    const part = pages.part(page);
    return part === undefined ? [] : new Page(this.#file, part).holding(needle);
  }
}

/** A page of keys, as read. */
class Page {
  readonly #file: SegmentFile;
  readonly #bytes: Buffer;
  readonly #keys: string;
  #at: number;
  /** Entries are read one after the other: how many were. */
  #read = 0;

  constructor(file: SegmentFile, part: Part) {
    this.#file = file;
    this.#bytes = file.part(part);
    this.#at = 0;
    this.#number();
    const length = this.#number();
    this.#keys = this.#bytes.toString("latin1", this.#at, this.#at + length);
    this.#at += length;
  }

  all(): string[] {
    return this.#keys.slice(1, -1).split(SEPARATOR);
  }

  /** The entries of keys that hold the needle, each once. */
  holding(needle: string): Entry[] {
    const entries: Entry[] = [];
    const keys = this.#keys;
    let index = -1;
    let counted = 0;
    for (let at = keys.indexOf(needle); at !== -1; at = keys.indexOf(needle, at + 1)) {
      const before = index;
      // The separator at the place itself is the one before its key.
      for (; counted <= at; counted++) if (keys.charCodeAt(counted) === 0) index++;
      if (index !== before) entries.push(this.entry(index));
    }
    return entries;
  }

  /** To be asked for in order. */
  entry(index: number): Entry {
    for (; this.#read < index; this.#read++) this.#next();
    this.#read++;
    return this.#next();
  }

  #next(): Entry {
    const count = this.#number();
    if (count === 1) {
      const rank = this.#number();
      return { count, ranks: () => Uint32Array.of(rank) };
    }
    const length = this.#number();
    if (length > 0) {
      const list = this.#bytes.subarray(this.#at, this.#at + length);
      this.#at += length;
      return { count, ranks: () => decodePostings(list, count) };
    }
    const at = this.#number() * 2 ** 28 + this.#number();
    const part: Part = [at, this.#number()];
    return { count, ranks: () => decodePostings(this.#file.part(part), count) };
  }

  #number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#at++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }
}

function united(entries: readonly Entry[]): Uint32Array {
  return entries.length === 0 ? new Uint32Array() : unite(entries.map((entry) => entry.ranks()));
}

/** Whole words first, then long ones: they leave the fewest blocks for the least work. Punctuation last. */
function byUse(a: Piece, b: Piece): number {
  const use = ({ isWord, isStart, isEnd, text }: Piece) =>
    (isWord ? 1_000 : 0) + (isStart && isEnd ? 2 : 1) * Math.min(text.length, 48);
  return use(b) - use(a);
}
