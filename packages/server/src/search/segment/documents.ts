/**
 * Blocks as a segment knows them, by rank: columns of numbers, because there are hundreds of thousands of them.
 *
 * As bytes: columns of createdAt (doubles), and of row, version, conversation, born (32 bits each), compressed.
 */

import { zstdCompress, zstdDecompress } from "../../system/zstd.ts";

export interface Document {
  readonly row: number;
  readonly version: number;
  readonly conversation: number;
  readonly born: number;
  readonly createdAt: number;
}

const COLUMNS = ["row", "version", "conversation", "born"] as const;
const DOCUMENT_BYTES = 8 + 4 * COLUMNS.length;

export class Documents {
  readonly #createdAt: Float64Array;
  readonly #columns: readonly Uint32Array[];
  length = 0;

  constructor(capacity: number) {
    const bytes = new ArrayBuffer(capacity * DOCUMENT_BYTES);
    this.#createdAt = new Float64Array(bytes, 0, capacity);
    this.#columns = COLUMNS.map((_, i) => new Uint32Array(bytes, capacity * (8 + 4 * i), capacity));
  }

  static unpack(packed: Uint8Array): Documents {
    const bytes = zstdDecompress(packed);
    const documents = new Documents(bytes.length / DOCUMENT_BYTES);
    new Uint8Array(documents.#createdAt.buffer).set(bytes);
    documents.length = documents.#createdAt.length;
    return documents;
  }

  add(document: Document): void {
    const at = this.length++;
    this.#createdAt[at] = document.createdAt;
    for (const [i, name] of COLUMNS.entries()) (this.#columns[i] as Uint32Array)[at] = document[name];
  }

  at(rank: number): Document {
    const column = (i: number) => (this.#columns[i] as Uint32Array)[rank] as number;
    return {
      createdAt: this.#createdAt[rank] as number,
      row: column(0),
      version: column(1),
      conversation: column(2),
      born: column(3),
    };
  }

  /** Those from one rank to another, as bytes. */
  pack(from: number, to: number): Uint8Array {
    const part = new Documents(to - from);
    part.#createdAt.set(this.#createdAt.subarray(from, to));
    for (const [i, column] of part.#columns.entries())
      column.set((this.#columns[i] as Uint32Array).subarray(from, to));
    return zstdCompress(new Uint8Array(part.#createdAt.buffer));
  }
}
