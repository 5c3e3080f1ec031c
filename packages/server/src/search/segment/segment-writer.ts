/**
 * Writes a segment from keys that come in order, each with its list of ranks. Where the keys come from, a builder in memory or
 * segments that are merged, is not known here.
 */

import { INLINE_LIST_BYTES, SEGMENT_PAGE_BYTES, WRITTEN_GRAMS } from "../limits.ts";
import type { Documents } from "./documents.ts";
import type { Part } from "./page-list.ts";
import { PostingWriter, putVarint } from "./postings.ts";
import { DOCUMENTS_PER_PAGE, SegmentFileWriter } from "./segment-file.ts";
import { inGrams, isRunKey, SEPARATOR } from "./tokens.ts";

const GRAM_SEPARATOR = inGrams(SEPARATOR).charCodeAt(0);

export interface SegmentFacts {
  readonly chars: number;
  readonly cursors: readonly (readonly [conversation: number, seq: number])[];
}

export class SegmentWriter {
  readonly #file: SegmentFileWriter;
  readonly #keys: PageWriter;
  readonly #grams = new GramPages();

  constructor(path: string) {
    this.#file = new SegmentFileWriter(path);
    this.#keys = new PageWriter(this.#file);
  }

  /** The next key, after all before it. */
  key(key: string, postings: PostingWriter): void {
    this.#keys.add(key, postings);
    if (isRunKey(key)) this.#grams.note(key, this.#keys.page);
  }

  /** Ends the file; gives its length. */
  *finish(documents: Documents, { chars, cursors }: SegmentFacts): Generator<void, number> {
    const keys = this.#keys.finish();
    const pages = new PageWriter(this.#file);
    let done = 0;
    for (const [gram, list] of this.#grams.inOrder()) {
      pages.add(gram, list);
      if (++done % WRITTEN_GRAMS === 0) yield;
    }
    const grams = pages.finish();
    const documentPages: Part[] = [];
    for (let from = 0; from < documents.length; from += DOCUMENTS_PER_PAGE) {
      const to = Math.min(from + DOCUMENTS_PER_PAGE, documents.length);
      documentPages.push(this.#file.part(documents.pack(from, to)));
      yield;
    }
    const isEmpty = documents.length === 0;
    return this.#file.finish({
      documents: documents.length,
      chars,
      oldest: isEmpty ? 0 : documents.at(0).createdAt,
      newest: isEmpty ? 0 : documents.at(documents.length - 1).createdAt,
      documentPages,
      keyPages: keys.parts,
      firstKeys: keys.first,
      gramPages: grams.parts,
      firstGrams: grams.first,
      cursors,
    });
  }

  abandon(): void {
    this.#file.abandon();
  }
}

/**
 * Which pages contain which strings of three bytes. With the separators, so that beginnings and ends of keys can be
 * looked up.
 */
class GramPages {
  /** Numbers + 1 of grams by hash; 0 is free. */
  #slots = new Int32Array(1 << 14);
  readonly #grams: number[] = [];
  readonly #pages: PostingWriter[] = [];

  note(key: string, page: number): void {
    let gram = GRAM_SEPARATOR;
    for (let at = 0; at <= key.length; at++) {
      gram = ((gram << 8) | (at < key.length ? key.charCodeAt(at) : GRAM_SEPARATOR)) & 0xff_ffff;
      if (at === 0) continue;
      const pages = this.#pages[this.#number(gram)] as PostingWriter;
      if (pages.last !== page) pages.add(page);
    }
  }

  /** All grams with their pages, in order. */
  *inOrder(): Generator<readonly [gram: string, pages: PostingWriter]> {
    const order = this.#grams
      .map((_, i) => i)
      .sort((a, b) => (this.#grams[a] as number) - (this.#grams[b] as number));
    for (const i of order) {
      const gram = this.#grams[i] as number;
      yield [
        String.fromCharCode(gram >> 16, (gram >> 8) & 0xff, gram & 0xff),
        this.#pages[i] as PostingWriter,
      ];
    }
  }

  #number(gram: number): number {
    let slot = this.#slot(gram);
    const known = this.#slots[slot] as number;
    if (known !== 0) return known - 1;
    if (this.#grams.length * 2 >= this.#slots.length) {
      this.#slots = new Int32Array(this.#slots.length * 2);
      for (let i = 0; i < this.#grams.length; i++) this.#slots[this.#slot(this.#grams[i] as number)] = i + 1;
      slot = this.#slot(gram);
    }
    this.#grams.push(gram);
    this.#pages.push(new PostingWriter(8));
    this.#slots[slot] = this.#grams.length;
    return this.#grams.length - 1;
  }

  /** Where a gram is, or would be. */
  #slot(gram: number): number {
    const mask = this.#slots.length - 1;
    let slot = (Math.imul(gram, 0x9e37_79b1) >>> 8) & mask;
    for (;;) {
      const entry = this.#slots[slot] as number;
      if (entry === 0 || this.#grams[entry - 1] === gram) return slot;
      slot = (slot + 1) & mask;
    }
  }
}

/** Pages of one kind, one after the other. */
class PageWriter {
  readonly #file: SegmentFileWriter;
  readonly parts: Part[] = [];
  readonly first: string[] = [];
  #keys: string[] = [];
  #keyBytes = 1;
  #entries = Buffer.allocUnsafe(SEGMENT_PAGE_BYTES * 2);
  #entryBytes = 0;

  constructor(file: SegmentFileWriter) {
    this.#file = file;
  }

  /** The number of the last key's page. */
  get page(): number {
    return this.#keys.length === 0 ? this.parts.length - 1 : this.parts.length;
  }

  add(key: string, postings: PostingWriter): void {
    if (this.#keys.length > 0 && this.#keyBytes + this.#entryBytes >= SEGMENT_PAGE_BYTES) this.#end();
    if (this.#keys.length === 0) this.first.push(key);
    this.#keys.push(key);
    this.#keyBytes += key.length + 1;
    if (this.#entryBytes + INLINE_LIST_BYTES + 32 > this.#entries.length)
      this.#entries = Buffer.concat([this.#entries, Buffer.allocUnsafe(this.#entries.length)]);
    this.#number(postings.count);
    if (postings.count === 1) {
      this.#number(postings.last);
      return;
    }
    const { mode, body } = postings.encoded();
    if (body.length < INLINE_LIST_BYTES) {
      this.#number(body.length + 1);
      this.#entries[this.#entryBytes++] = mode;
      this.#entries.set(body, this.#entryBytes);
      this.#entryBytes += body.length;
      return;
    }
    const list = Buffer.allocUnsafe(body.length + 1);
    list[0] = mode;
    list.set(body, 1);
    const [at, length] = this.#file.part(list);
    this.#number(0);
    // A place may need more bits than a shift of 32 can give.
    this.#number(Math.floor(at / 2 ** 28));
    this.#number(at % 2 ** 28);
    this.#number(length);
  }

  finish(): { readonly parts: readonly Part[]; readonly first: readonly string[] } {
    if (this.#keys.length > 0) this.#end();
    return this;
  }

  #number(value: number): void {
    this.#entryBytes = putVarint(this.#entries, this.#entryBytes, value);
  }

  #end(): void {
    const keys = SEPARATOR + this.#keys.join(SEPARATOR) + SEPARATOR;
    const page = Buffer.allocUnsafe(10 + keys.length + this.#entryBytes);
    let at = putVarint(page, 0, this.#keys.length);
    at = putVarint(page, at, keys.length);
    at += page.write(keys, at, "latin1");
    at += this.#entries.copy(page, at, 0, this.#entryBytes);
    this.parts.push(this.#file.part(page.subarray(0, at)));
    this.#keys = [];
    this.#keyBytes = 1;
    this.#entryBytes = 0;
  }
}
