/**
 * A segment: an immutable file that says which blocks hold which tokens. Written once from the first byte to the last, then only
 * read. It can always be made again from the blocks.
 *
 * Layout, version 1. Numbers are varints where not said otherwise.
 *
 *   magic         "BLKSEG01"
 *   parts         Each followed by its CRC-32 (4 bytes, little-endian). In any order:
 *     key page      The keys that follow each other in order: their number, the bytes of the keys, the keys with a separator (0)
 *                   before, between and behind them; then for each key how many ranks it has, and: the rank, if there is one; the
 *                   length of the list and the list (postings.ts), if it is short; otherwise 0, and place and length of its part.
 *     gram page     The same, where the keys are strings of three bytes and the ranks are numbers of key pages.
 *     list          A list of ranks that is too long for its page.
 *     documents     DOCUMENTS_PER_PAGE blocks by rank (documents.ts).
 *   directory     JSON, compressed: see Directory.
 *   trailer       Place of the directory (8 bytes), its length and its CRC-32 (4 bytes each), magic.
 *
 * The rank of a block is its place by age among those of the segment, the oldest first.
 */

import { closeSync, fdatasyncSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { zstdCompress, zstdDecompress } from "../../system/zstd.ts";
import { SYNC_BYTES, WRITE_BYTES } from "../limits.ts";
import { PageList, type Part } from "./page-list.ts";
import { SegmentDamage } from "./segment-damage.ts";

const MAGIC = "BLKSEG01";
export const DOCUMENTS_PER_PAGE = 512;
const TRAILER_BYTES = 8 + 4 + 4 + 8;

/** What a segment says of itself. */
interface SegmentSummary {
  readonly documents: number;
  /** UTF-16 units of all texts. */
  readonly chars: number;
  readonly oldest: number;
  readonly newest: number;
  readonly documentPages: readonly Part[];
  /** Up to which sequence number the blocks of a conversation are in this segment or in those that were there before it. */
  readonly cursors: readonly (readonly [conversation: number, seq: number])[];
}

/** The same with its pages, as it is written. */
interface Directory extends SegmentSummary {
  /** The first key of every page beside its part. */
  readonly keyPages: readonly Part[];
  readonly firstKeys: readonly string[];
  readonly gramPages: readonly Part[];
  readonly firstGrams: readonly string[];
}

export class SegmentFileWriter {
  readonly #file: number;
  readonly #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #unsyncedBytes = 0;
  #at = 0;

  constructor(path: string) {
    this.#file = openSync(path, "w", 0o600);
    this.#write(Buffer.from(MAGIC, "latin1"));
  }

  /** Writes a part. The bytes are taken as they are: they must not change any more. */
  part(bytes: Uint8Array): Part {
    const at = this.#at;
    const sum = Buffer.allocUnsafe(4);
    sum.writeUInt32LE(crc32(bytes));
    this.#write(bytes);
    this.#write(sum);
    return [at, bytes.length];
  }

  /** Ends the file; it is durable then. */
  finish(directory: Directory): number {
    const body = zstdCompress(Buffer.from(JSON.stringify(directory)));
    const trailer = Buffer.alloc(TRAILER_BYTES);
    trailer.writeBigUInt64LE(BigInt(this.#at), 0);
    trailer.writeUInt32LE(body.length, 8);
    trailer.writeUInt32LE(crc32(body), 12);
    trailer.write(MAGIC, 16, "latin1");
    this.#write(body);
    this.#write(trailer);
    this.#flush();
    fsyncSync(this.#file);
    closeSync(this.#file);
    return this.#at;
  }

  abandon(): void {
    closeSync(this.#file);
  }

  #write(bytes: Uint8Array): void {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    this.#at += bytes.length;
    if (this.#pendingBytes >= WRITE_BYTES) this.#flush();
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#pending);
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done);
    this.#pending.length = this.#pendingBytes = 0;
    this.#unsyncedBytes += bytes.length;
    if (this.#unsyncedBytes < SYNC_BYTES) return;
    fdatasyncSync(this.#file);
    this.#unsyncedBytes = 0;
  }
}

export class SegmentFile {
  readonly path: string;
  readonly #file: number;
  readonly directory: SegmentSummary;
  readonly keyPages: PageList;
  readonly gramPages: PageList;

  constructor(path: string, bytes: number) {
    this.path = path;
    this.#file = openSync(path, "r");
    try {
      const trailer = this.#read(bytes - TRAILER_BYTES, TRAILER_BYTES);
      if (trailer.toString("latin1", 16) !== MAGIC)
        throw new SegmentDamage(`${path} does not end as it should`);
      const body = this.#read(Number(trailer.readBigUInt64LE(0)), trailer.readUInt32LE(8));
      if (crc32(body) !== trailer.readUInt32LE(12))
        throw new SegmentDamage(`the directory of ${path} has changed`);
      const { keyPages, firstKeys, gramPages, firstGrams, ...directory } = JSON.parse(
        zstdDecompress(body).toString(),
      ) as Directory;
      this.directory = directory;
      this.keyPages = new PageList(keyPages, firstKeys);
      this.gramPages = new PageList(gramPages, firstGrams);
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  part([at, length]: Part): Buffer {
    const bytes = this.#read(at, length + 4);
    const body = bytes.subarray(0, length);
    if (crc32(body) !== bytes.readUInt32LE(length))
      throw new SegmentDamage(`${this.path} has changed at ${at}`);
    return body;
  }

  close(): void {
    closeSync(this.#file);
  }

  #read(at: number, length: number): Buffer {
    if (at < 0) throw new SegmentDamage(`${this.path} is too short`);
    const bytes = Buffer.allocUnsafe(length);
    if (readSync(this.#file, bytes, 0, length, at) !== length)
      throw new SegmentDamage(`${this.path} is shorter than it was`);
    return bytes;
  }
}
