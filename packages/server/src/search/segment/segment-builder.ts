/**
 * A segment in the making: takes texts of blocks in any order, keeps in memory which tokens each holds, and writes it all at the
 * end. Its memory is about that of the texts.
 */

import type { Kind } from "@blockyard/kernel";
import { foldCase } from "@blockyard/kernel/search";
import { BUILT_KEYS, TEXT_PART_CHARS } from "../limits.ts";
import { type Document, Documents } from "./documents.ts";
import { PostingWriter } from "./postings.ts";
import { type SegmentFacts, SegmentWriter } from "./segment-writer.ts";
import { conversationKey, endOfRun, hashOfKey, kindKey, pathKey, visitTokens } from "./tokens.ts";

export interface IndexedBlock extends Document {
  /** The conversation's id: the tiebreaker between blocks of the same age. */
  readonly name: string;
  readonly kind: Kind;
  readonly path: string | null;
}

export class SegmentBuilder {
  readonly #blocks: IndexedBlock[] = [];
  /** The start of each block's tokens in #tokens. */
  readonly #starts: number[] = [];
  #tokens = new Uint32Array(1 << 12);
  #tokenCount = 0;
  readonly #table = new TokenTable();
  chars = 0;

  get size(): number {
    return this.#blocks.length;
  }

  /** Adds a block; it has to be consumed to the end before the next one. */
  *add(block: IndexedBlock, text: string): Generator<void> {
    const document = this.#blocks.length;
    this.#blocks.push(block);
    this.#starts.push(this.#tokenCount);
    this.chars += text.length;
    this.#note(document, kindKey(block.kind));
    this.#note(document, conversationKey(block.conversation));
    if (block.path !== null) this.#note(document, pathKey(block.path));
    const folded = foldCase(text);
    const visit = (bytes: Uint8Array, length: number, hash: number) =>
      this.#visit(document, bytes, length, hash);
    for (let from = 0; from < folded.length; ) {
      const to = endOfRun(folded, Math.min(from + TEXT_PART_CHARS, folded.length));
      visitTokens(folded, from, to, visit);
      from = to;
      yield;
    }
  }

  /** Writes everything, and gives the length of the file. */
  *write(path: string, cursors: SegmentFacts["cursors"]): Generator<void, number> {
    const writer = new SegmentWriter(path);
    try {
      const order = this.#byAge();
      const { starts, ranks } = this.#ranksByToken(order);
      yield;
      const postings = new PostingWriter(1024);
      let done = 0;
      for (const tokens of this.#table.inOrder()) {
        for (const token of tokens) {
          postings.clear();
          for (let i = starts[token] as number; i < (starts[token + 1] as number); i++)
            postings.add(ranks[i] as number);
          writer.key(this.#table.key(token), postings);
          if (++done % BUILT_KEYS === 0) yield;
        }
        if (tokens.length > 0) yield;
      }
      const documents = new Documents(order.length);
      for (const document of order) documents.add(this.#blocks[document] as IndexedBlock);
      return yield* writer.finish(documents, { chars: this.chars, cursors });
    } catch (error) {
      writer.abandon();
      throw error;
    }
  }

  #note(document: number, key: string): void {
    const bytes = Buffer.from(key, "latin1");
    this.#visit(document, bytes, bytes.length, hashOfKey(bytes, bytes.length));
  }

  #visit(document: number, bytes: Uint8Array, length: number, hash: number): void {
    const token = this.#table.token(bytes, length, hash);
    if (!this.#table.isNewIn(token, document)) return;
    if (this.#tokenCount === this.#tokens.length) this.#tokens = grown(this.#tokens);
    this.#tokens[this.#tokenCount++] = token;
  }

  #byAge(): number[] {
    const blocks = this.#blocks;
    return blocks
      .map((_, i) => i)
      .sort((a, b) => byAge(blocks[a] as IndexedBlock, blocks[b] as IndexedBlock));
  }

  /** The ranks of all tokens, grouped by token and ascending, and where each token's begin. */
  #ranksByToken(order: readonly number[]): { readonly starts: Uint32Array; readonly ranks: Uint32Array } {
    const starts = new Uint32Array(this.#table.size + 1);
    for (let i = 0; i < this.#tokenCount; i++) (starts[(this.#tokens[i] as number) + 1] as number)++;
    for (let i = 1; i < starts.length; i++) (starts[i] as number) += starts[i - 1] as number;
    const next = starts.slice();
    const ranks = new Uint32Array(this.#tokenCount);
    order.forEach((document, rank) => {
      const to = this.#starts[document + 1] ?? this.#tokenCount;
      for (let i = this.#starts[document] as number; i < to; i++) {
        const token = this.#tokens[i] as number;
        ranks[(next[token] as number)++] = rank;
      }
    });
    return { starts, ranks };
  }
}

/** Oldest first, as the stores order blocks of several conversations. */
export function byAge(
  a: { readonly createdAt: number; readonly name: string; readonly born: number },
  b: { readonly createdAt: number; readonly name: string; readonly born: number },
): number {
  if (a.createdAt !== b.createdAt) return a.createdAt - b.createdAt;
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.born - b.born;
}

/**
 * All different keys, each with a number. Not a Map of strings: making a string for every word of a text takes longer
 * than all else.
 */
class TokenTable {
  size = 0;
  /** Numbers + 1 by hash; 0 is free. */
  #slots = new Int32Array(1 << 13);
  #hashes = new Uint32Array(1 << 12);
  /** The start of a key in the pool; it ends where the next one begins. */
  #starts = new Uint32Array((1 << 12) + 1);
  #lastDocuments = new Int32Array(1 << 12).fill(-1);
  #pool = Buffer.allocUnsafe(1 << 16);

  token(bytes: Uint8Array, length: number, hash: number): number {
    let slots = this.#slots;
    let slot = hash & (slots.length - 1);
    for (let entry = slots[slot] as number; entry !== 0; entry = slots[slot] as number) {
      if (this.#hashes[entry - 1] === hash && this.#is(entry - 1, bytes, length)) return entry - 1;
      slot = (slot + 1) & (slots.length - 1);
    }
    if (this.size * 2 >= slots.length) {
      this.#grow();
      slots = this.#slots;
      slot = this.#free(hash);
    }
    const token = this.size++;
    slots[slot] = token + 1;
    this.#hashes[token] = hash;
    const start = this.#starts[token] as number;
    if (start + length > this.#pool.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#pool.length * 2, start + length));
      larger.set(this.#pool);
      this.#pool = larger;
    }
    for (let i = 0; i < length; i++) this.#pool[start + i] = bytes[i] as number;
    this.#starts[token + 1] = start + length;
    return token;
  }

  /** Whether a document has not had the token before. */
  isNewIn(token: number, document: number): boolean {
    if (this.#lastDocuments[token] === document) return false;
    this.#lastDocuments[token] = document;
    return true;
  }

  key(token: number): string {
    return this.#pool.toString("latin1", this.#starts[token], this.#starts[token + 1]);
  }

  /** The tokens in the order of their keys, all with the same first byte at a time. */
  *inOrder(): Generator<readonly number[]> {
    const byFirst: number[][] = Array.from({ length: 256 }, () => []);
    for (let token = 0; token < this.size; token++)
      byFirst[this.#pool[this.#starts[token] as number] as number]?.push(token);
    for (const tokens of byFirst) {
      const keys = tokens.map((token) => [this.key(token), token] as const);
      yield keys.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, token]) => token);
    }
  }

  #is(token: number, bytes: Uint8Array, length: number): boolean {
    const start = this.#starts[token] as number;
    if ((this.#starts[token + 1] as number) - start !== length) return false;
    for (let i = 0; i < length; i++) if (this.#pool[start + i] !== bytes[i]) return false;
    return true;
  }

  #free(hash: number): number {
    let slot = hash & (this.#slots.length - 1);
    while (this.#slots[slot] !== 0) slot = (slot + 1) & (this.#slots.length - 1);
    return slot;
  }

  #grow(): void {
    const capacity = this.#slots.length;
    this.#slots = new Int32Array(capacity * 2);
    for (let token = 0; token < this.size; token++)
      this.#slots[this.#free(this.#hashes[token] as number)] = token + 1;
    this.#hashes = grown(this.#hashes, capacity);
    this.#starts = grown(this.#starts, capacity + 1);
    const documents = new Int32Array(capacity).fill(-1);
    documents.set(this.#lastDocuments);
    this.#lastDocuments = documents;
  }
}

function grown(list: Uint32Array<ArrayBuffer>, length = list.length * 2): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(length);
  longer.set(list);
  return longer;
}
