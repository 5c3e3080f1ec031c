/**
 * Several segments into one. Of a block that is in more than one of them, the newest version is kept. Goes through keys and
 * blocks in order and keeps only the blocks in memory.
 */

import { MERGED_DOCUMENTS, MERGED_KEYS } from "../limits.ts";
import { type Document, Documents } from "./documents.ts";
import { PostingWriter } from "./postings.ts";
import { byAge } from "./segment-builder.ts";
import type { SegmentReader } from "./segment-reader.ts";
import { SegmentWriter } from "./segment-writer.ts";

/** Marks a rank that is not in the new segment. */
const DROPPED = 0xffff_ffff;
/** A version that no block has: a block named more than once is in the new segment already. */
const KEPT = -1;

/**
 * Writes the merged segment, and returns the length of its file. `nameOf`: the id of a conversation; `isKept`: whether
 * blocks of one are kept.
 */
export function* mergeSegments(
  segments: readonly SegmentReader[],
  path: string,
  nameOf: (conversation: number) => string,
  isKept: (conversation: number) => boolean = () => true,
): Generator<void, number> {
  const merged = yield* mergeDocuments(segments, nameOf, isKept);
  const writer = new SegmentWriter(path);
  try {
    yield* mergeKeys(segments, merged.ranks, writer);
    const chars = segments.reduce((sum, { directory }) => sum + directory.chars, 0);
    const cursors = mergeCursors(segments).filter(([conversation]) => isKept(conversation));
    return yield* writer.finish(merged.documents, { chars, cursors });
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

function* mergeDocuments(
  segments: readonly SegmentReader[],
  nameOf: (conversation: number) => string,
  isKept: (conversation: number) => boolean,
): Generator<void, { readonly documents: Documents; readonly ranks: readonly Uint32Array[] }> {
  const repeated = yield* repeatedRows(segments);
  const ranks = segments.map(({ directory }) => new Uint32Array(directory.documents).fill(DROPPED));
  const next = segments.map(() => 0);
  const heads = segments.map((segment) => documentOf(segment, 0));
  const documents = new Documents(ranks.reduce((sum, { length }) => sum + length, 0));
  const named = (document: Document) => ({ ...document, name: nameOf(document.conversation) });
  const isOlder = (a: Document, b: Document) =>
    a.createdAt === b.createdAt ? byAge(named(a), named(b)) < 0 : a.createdAt < b.createdAt;
  for (let done = 1; ; done++) {
    let oldest = -1;
    let first: Document | undefined;
    for (let i = 0; i < heads.length; i++) {
      const head = heads[i];
      if (head !== undefined && (first === undefined || isOlder(head, first))) [oldest, first] = [i, head];
    }
    if (first === undefined) return { documents, ranks };
    const rank = next[oldest] as number;
    next[oldest] = rank + 1;
    heads[oldest] = documentOf(segments[oldest] as SegmentReader, rank + 1);
    if (done % MERGED_DOCUMENTS === 0) yield;
    if (!isKept(first.conversation)) continue;
    const newest = repeated.get(first.row);
    if (newest !== undefined && newest !== first.version) continue;
    if (newest !== undefined) repeated.set(first.row, KEPT); // the same version may come again
    (ranks[oldest] as Uint32Array)[rank] = documents.length;
    documents.add(first);
  }
}

/** The blocks that are named more than once, each with its newest version. */
function* repeatedRows(segments: readonly SegmentReader[]): Generator<void, Map<number, number>> {
  const rows = new Uint32Array(segments.reduce((sum, { directory }) => sum + directory.documents, 0));
  let count = 0;
  for (const segment of segments) {
    for (let rank = 0; rank < segment.directory.documents; rank++) {
      rows[count++] = segment.document(rank).row;
      if (rank % MERGED_DOCUMENTS === 0) yield;
    }
  }
  rows.sort();
  const newest = new Map<number, number>();
  rows.forEach((row, i) => {
    if (row === rows[i - 1]) newest.set(row, KEPT);
  });
  if (newest.size === 0) return newest;
  for (const segment of segments) {
    for (let rank = 0; rank < segment.directory.documents; rank++) {
      const { row, version } = segment.document(rank);
      const known = newest.get(row);
      if (known !== undefined && known < version) newest.set(row, version);
      if (rank % MERGED_DOCUMENTS === 0) yield;
    }
  }
  return newest;
}

function documentOf(segment: SegmentReader, rank: number): Document | undefined {
  return rank < segment.directory.documents ? segment.document(rank) : undefined;
}

function* mergeKeys(
  segments: readonly SegmentReader[],
  ranks: readonly Uint32Array[],
  writer: SegmentWriter,
): Generator<void> {
  const entries = segments.map((segment) => segment.entries());
  const current = entries.map((each) => each.next().value ?? undefined);
  const postings = new PostingWriter(1024);
  for (let done = 1; ; done++) {
    let key: string | undefined;
    for (const entry of current) if (entry && (key === undefined || entry.key < key)) key = entry.key;
    if (key === undefined) return;
    const lists: Uint32Array[] = [];
    for (let i = 0; i < current.length; i++) {
      const entry = current[i];
      if (!entry || entry.key !== key) continue;
      lists.push(renumbered(entry.ranks(), ranks[i] as Uint32Array));
      current[i] = entries[i]?.next().value ?? undefined;
    }
    postings.clear();
    for (const rank of inOrder(lists)) postings.add(rank);
    if (postings.count > 0) writer.key(key, postings);
    if (done % MERGED_KEYS === 0) yield;
  }
}

function renumbered(list: Uint32Array, ranks: Uint32Array): Uint32Array {
  let count = 0;
  for (let i = 0; i < list.length; i++) {
    const rank = ranks[list[i] as number] as number;
    if (rank !== DROPPED) list[count++] = rank;
  }
  return list.subarray(0, count);
}

function inOrder(lists: readonly Uint32Array[]): Uint32Array {
  if (lists.length === 1) return lists[0] as Uint32Array;
  const all = new Uint32Array(lists.reduce((sum, list) => sum + list.length, 0));
  let count = 0;
  for (const list of lists) {
    all.set(list, count);
    count += list.length;
  }
  return all.sort();
}

function mergeCursors(segments: readonly SegmentReader[]): [number, number][] {
  const cursors = new Map<number, number>();
  for (const { directory } of segments) {
    for (const [conversation, seq] of directory.cursors)
      cursors.set(conversation, Math.max(seq, cursors.get(conversation) ?? 0));
  }
  return [...cursors];
}
