/**
 * Dictionaries: what small chunks are compressed against. A block of 2 KB has little to repeat by itself; against 16 KB
 * of what was stored shortly before it needs a quarter less. A dictionary is made of stored chunks, in any language
 * that the blocks are in; the first after SAMPLE_AFTER_BYTES, each one after that when four times as much has come.
 *
 * A dictionary never changes and is never deleted. Since many chunks need it, it is stored twice.
 */

import { constants } from "node:zlib";
import { zstdCompress, zstdDecompress } from "../../system/zstd.ts";
import { corrupt } from "../encoding/fault.ts";
import { FULL_CHUNK_BYTES } from "../encoding/limits.ts";
import { COMPRESS_BYTES, DICTIONARY_BYTES, SAMPLE_AFTER_BYTES, SMALL_CHUNK_BYTES } from "./limits.ts";

const PARAMS = { [constants.ZSTD_c_compressionLevel]: 3 };

/** The table of dictionaries. */
export interface DictionaryRows {
  lastDictionary(): number;
  dictionary(id: number): Uint8Array | undefined;
  addDictionary(id: number, body: Uint8Array): void;
}

export interface Packed {
  /** The dictionary it was compressed with, or 0. */
  readonly dictionary: number;
  /** Bytes before compression. */
  readonly plain: number;
  readonly body: Uint8Array;
}

export class Dictionaries {
  readonly #tables: DictionaryRows;
  readonly #known = new Map<number, Buffer>();
  #current: number;
  #seenBytes = 0;
  #nextAfterBytes: number;
  #samples: Uint8Array[] = [];
  #sampledBytes = 0;

  constructor(tables: DictionaryRows) {
    this.#tables = tables;
    this.#current = tables.lastDictionary();
    this.#nextAfterBytes = SAMPLE_AFTER_BYTES * 4 ** this.#current;
  }

  /**
   * The body of a chunk, and the dictionary that it needs. Equal lengths of body and `plain` mean: not compressed. A small
   * chunk that others will join soon is not worth it.
   */
  pack(plain: Uint8Array, joined: boolean): Packed {
    const passing = joined && plain.length < FULL_CHUNK_BYTES;
    if (passing || plain.length < COMPRESS_BYTES) return { dictionary: 0, plain: plain.length, body: plain };
    this.#sample(plain);
    const small = plain.length < SMALL_CHUNK_BYTES ? this.#current : 0;
    const body = zstdCompress(plain, { params: PARAMS, ...this.#against(small) });
    if (body.length >= plain.length) return { dictionary: 0, plain: plain.length, body: plain };
    return { dictionary: small, plain: plain.length, body };
  }

  unpack({ dictionary, plain, body }: Packed): Uint8Array {
    return body.length === plain ? body : zstdDecompress(body, this.#against(dictionary));
  }

  /** Inside a transaction: makes a new dictionary when it is time. Its number, for `use` after the commit. */
  make(): number | undefined {
    if (this.#seenBytes < this.#nextAfterBytes || this.#sampledBytes < DICTIONARY_BYTES) return undefined;
    const body = Buffer.concat(this.#samples).subarray(-DICTIONARY_BYTES);
    const id = this.#current + 1;
    this.#tables.addDictionary(id, zstdCompress(body));
    return id;
  }

  use(id: number): void {
    this.#current = id;
    this.#nextAfterBytes = SAMPLE_AFTER_BYTES * 4 ** id;
    this.#seenBytes = 0;
  }

  #sample(plain: Uint8Array): void {
    this.#seenBytes += plain.length;
    this.#samples.push(new Uint8Array(plain.subarray(-DICTIONARY_BYTES))); // a copy: the memory is used again
    this.#sampledBytes += Math.min(plain.length, DICTIONARY_BYTES);
    while (this.#sampledBytes - (this.#samples[0] as Uint8Array).length >= DICTIONARY_BYTES) {
      this.#sampledBytes -= (this.#samples.shift() as Uint8Array).length;
    }
  }

  #against(id: number): { dictionary?: Buffer } {
    return id === 0 ? {} : { dictionary: this.#dictionary(id) };
  }

  #dictionary(id: number): Buffer {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const stored = this.#tables.dictionary(id);
    if (stored === undefined) throw corrupt(`dictionary ${id} is missing or changed, in both copies`);
    const dictionary = zstdDecompress(stored);
    this.#known.set(id, dictionary);
    return dictionary;
  }
}
