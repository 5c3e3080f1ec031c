/**
 * Gram filters: a few hundred bytes per block that tell, without its text, that a pattern cannot match there.
 *
 * A filter is a bit set over the case-folded grams of a text: all strings of three and of four UTF-16 units in it.
 * Format, version 1: no header; the number of bits m is 8 x the bytes. A gram is hashed to 22 bits, h; its bit is
 * floor(h * m / 2^22), least significant bit first. m is BITS_PER_GRAM x the number of distinct hashes, rounded up to
 * whole bytes, and at most 2^22. A text shorter than three units has the empty filter, which holds nothing.
 *
 * One hash per gram and two bits for it, not several of each: a pattern brings many grams of its own, and every one of
 * them is a chance to rule the block out. Grams of four beside those of three let through a third as many blocks at a
 * fifth more bytes (measured: docs/decisions/0011-search.md).
 *
 * Invariant: never a false negative. If the text holds a string, its filter holds all the string's grams.
 */

import { limits } from "../model/limits.ts";
import { foldCase } from "./case-fold.ts";
import type { Demand } from "./search-syntax.ts";

/** Conditions on a filter: all of `all`, and of every group at least one alternative. */
export interface TrigramQuery {
  readonly all: readonly number[];
  readonly anyOf: readonly (readonly TrigramQuery[])[];
}

const HASH_BITS = 22;
const HASHES = 1 << HASH_BITS;
const BITS_PER_GRAM = 2;

// The hashes of the current text, and their order; both are empty between two calls. They are reused, because
// clearing half a megabyte for every short text would cost more than reading the text.
const seen = new Uint32Array(HASHES / 32);
let found = new Uint32Array(4_096);

/** The filter of a text. Takes about 30 ms per million units. */
export function filterOf(text: string): Uint8Array<ArrayBuffer> {
  const folded = foldCase(text);
  let count = 0;
  let a = folded.charCodeAt(0);
  let b = folded.charCodeAt(1);
  let c = folded.charCodeAt(2);
  for (let at = 3; at <= folded.length; at++) {
    count = note(hashOf(a, b, c, 0), count);
    if (at === folded.length) break;
    const d = folded.charCodeAt(at);
    count = note(hashOf(a, b, c, d), count);
    a = b;
    b = c;
    c = d;
  }
  const filter = new Uint8Array(Math.min(Math.ceil((count * BITS_PER_GRAM) / 8), HASHES / 8));
  const scale = (filter.length * 8) / HASHES;
  for (let i = 0; i < count; i++) {
    const hash = found[i]!;
    const place = Math.floor(hash * scale);
    filter[place >>> 3]! |= 1 << (place & 7);
    seen[hash >>> 5] = 0;
  }
  return filter;
}

/** A pattern's demand in grams; undefined if every block may match. */
export function trigramsOf(demand: Demand): TrigramQuery | undefined {
  const all = [...new Set(demand.strings.flatMap(hashesOf))];
  const anyOf: TrigramQuery[][] = [];
  for (const group of demand.groups) {
    const alternatives = group.map(trigramsOf);
    // One alternative without a condition makes the group one.
    if (alternatives.every((alternative) => alternative !== undefined)) anyOf.push(alternatives);
  }
  return all.length === 0 && anyOf.length === 0 ? undefined : { all, anyOf };
}

/** Whether a text with this filter may match. `from` and `to` select a filter from many in a row. */
export function mayContain(
  filter: Uint8Array,
  query: TrigramQuery | undefined,
  from = 0,
  to = filter.length,
): boolean {
  if (query === undefined) return true;
  if (from === to) return false; // no gram at all, and every query demands one
  const scale = ((to - from) * 8) / HASHES;
  const { all, anyOf } = query;
  for (let i = 0; i < all.length; i++) {
    const place = Math.floor(all[i]! * scale);
    if ((filter[from + (place >>> 3)]! & (1 << (place & 7))) === 0) return false;
  }
  for (const group of anyOf) {
    if (!group.some((alternative) => mayContain(filter, alternative, from, to))) return false;
  }
  return true;
}

/** Those of four units first: they are missing more often. */
function hashesOf(text: string): number[] {
  const units = Array.from({ length: Math.min(text.length, limits.filteredStringChars) }, (_, at) =>
    text.charCodeAt(at),
  );
  const threes = units.slice(2).map((c, at) => hashOf(units[at]!, units[at + 1]!, c, 0));
  const fours = units.slice(3).map((d, at) => hashOf(units[at]!, units[at + 1]!, units[at + 2]!, d));
  return [...fours, ...threes];
}

/** Adds a hash of the current text. Returns their number. */
function note(hash: number, count: number): number {
  const bit = 1 << (hash & 31);
  if ((seen[hash >>> 5]! & bit) !== 0) return count;
  seen[hash >>> 5]! |= bit;
  if (count === found.length) found = grown(found);
  found[count] = hash;
  return count + 1;
}

/** Mixes the units so that the upper bits, which are the stored ones, depend on all of them. No text contains U+0000. */
function hashOf(a: number, b: number, c: number, d: number): number {
  let hash =
    Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca77) ^ Math.imul(c, 0xc2b2ae3d) ^ Math.imul(d, 0x27d4eb2f);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> (32 - HASH_BITS);
}

function grown(list: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(list.length * 2);
  longer.set(list);
  return longer;
}
