/**
 * Keeps the search index (index-folder.ts) up with the tables: which blocks are not in it, and the work that brings them in. It
 * runs in the search thread between searches, a few milliseconds at a time, and reads the database through the thread's own
 * connection: no writer ever waits for it.
 *
 * A conversation is indexed up to a sequence number, its cursor. What has changed behind it is found in the tables, however
 * the last run ended. What changes while the thread lives is told to it row by row. Blocks that are not indexed are *fresh*; those
 * of conversations that have many, as all have when the index is new, are not counted one by one: they are the *backlog*.
 *
 * Invariant: every block of the tables is in the index as it is, or fresh, or in the backlog, or it is open (pending, running),
 * and then it is fresh. A cursor counts only what was in the tables when the blocks were read: see `#owed`.
 */

import { isEnded } from "@blockyard/kernel/plain";
import { SegmentBuilder } from "../../../search/segment/segment-builder.ts";
import { mergeSegments } from "../../../search/segment/segment-merge.ts";
import {
  FRESH_BLOCKS,
  FRESH_CHARS,
  MAX_SEGMENT_CHARS,
  MAX_SEGMENT_DOCUMENTS,
  MERGED_SEGMENTS,
  MUCH_TIMES,
  SEGMENT_CHARS,
} from "../limits.ts";
import { type BlockOutline, type ConversationState, outlineOf, type StoreReader } from "../reader.ts";
import { IndexFolder, type Segment } from "./index-folder.ts";

/** A block that is not in the index as it is. */
interface FreshBlock extends BlockOutline {
  /** How often it has changed since it is here, and before which segment it did last. */
  readonly changes: number;
  readonly round: number;
}

/** A conversation with blocks that are not in the index: those that have changed after `after`. */
interface Backlog extends ConversationState {
  readonly after: number;
}

export class Indexer {
  readonly #reader: StoreReader;
  readonly folder: IndexFolder;
  readonly fresh = new Map<number, FreshBlock>();
  /** The ones that have changed last first. */
  backlog: Backlog[] = [];
  /** Conversations whose cursor has not come as far as what was indexed of them. */
  readonly #owed = new Set<number>();
  /** Journal rows before this one are in the tables. */
  #flushedBefore = 0;
  #round = 0;
  /** Segments may have blocks of conversations that were removed: after a removal, and at the start, since the last run may have ended before. */
  #mayHoldRemoved: boolean;

  constructor(reader: StoreReader, database: string) {
    this.#reader = reader;
    this.#mayHoldRemoved = reader.hasDeleted();
    this.folder = new IndexFolder(database, reader.epoch());
  }

  /** How many conversations are in the index, and of how many; undefined: all, but for what is looked at in no time. */
  get progress(): { readonly indexed: number; readonly total: number } | undefined {
    if (this.backlog.length === 0 && !this.#hasFresh(MUCH_TIMES * FRESH_BLOCKS, MUCH_TIMES * FRESH_CHARS))
      return undefined;
    const missing = new Set(this.backlog.map(({ conversation }) => conversation));
    for (const block of this.fresh.values()) if (this.#isReady(block)) missing.add(block.conversation);
    const total = this.#reader.conversationCount();
    return { indexed: total - missing.size, total };
  }

  /** Takes in which rows have changed in the tables; undefined: any may have. */
  note(changed: readonly number[] | undefined, flushedBefore: number): void {
    this.#flushedBefore = flushedBefore;
    if (changed === undefined) {
      this.#compare();
      return;
    }
    for (const row of changed) {
      const outline = this.#reader.outline(row);
      if (outline !== undefined) this.#freshen(outline);
    }
  }

  /** Conversations were removed: what the index has of them goes first. */
  noteRemoved(): void {
    this.#mayHoldRemoved = true;
    const isThere = this.#existing();
    for (const [row, { conversation }] of this.fresh) if (!isThere(conversation)) this.fresh.delete(row);
    for (const conversation of this.#owed) if (!isThere(conversation)) this.#owed.delete(conversation);
    this.backlog = this.backlog.filter(({ conversation }) => isThere(conversation));
  }

  /** Whether there is something to do that will not wait for more. */
  get isBehind(): boolean {
    return (
      (this.#mayHoldRemoved && this.folder.segments.length > 0) ||
      this.backlog.length > 0 ||
      this.#hasFresh(FRESH_BLOCKS, FRESH_CHARS) ||
      this.#mergeable() !== undefined
    );
  }

  /** Does what there is to do. Between two steps the database may be read by others. */
  *work(): Generator<void> {
    while (this.isBehind) {
      if (this.#mayHoldRemoved) {
        yield* this.#dropRemoved();
        continue;
      }
      const segments = this.#mergeable();
      if (segments !== undefined) yield* this.#merge(segments);
      else yield* this.#build();
    }
  }

  /** Begins anew: the index is damaged. */
  clear(): void {
    this.folder.clear();
    this.#compare();
  }

  /** What of the tables is behind its conversation's cursor, or open. */
  #compare(): void {
    this.fresh.clear();
    this.#owed.clear();
    const states = this.#reader.conversationStates();
    this.backlog = states
      .map((state) => ({ ...state, after: this.folder.cursors.get(state.conversation) ?? 0 }))
      .filter(({ seq, after }) => seq > after);
    for (const outline of this.#reader.openOutlines()) this.#freshen(outline);
    // What is little is fresh at once, so that it takes its place among the others by age.
    while (this.backlog.length > 0 && this.fresh.size < FRESH_BLOCKS) {
      const { conversation, after } = this.backlog[0] as Backlog;
      const blocks = this.#reader.outlinesAfter(conversation, after, FRESH_BLOCKS);
      if (blocks.length >= FRESH_BLOCKS) break;
      for (const outline of blocks) this.#freshen(outline);
      this.#owed.add(conversation);
      this.backlog.shift();
    }
  }

  #freshen(outline: BlockOutline): void {
    const known = this.fresh.get(outline.row);
    if (known?.version === outline.version) return;
    this.fresh.set(outline.row, { ...outline, changes: (known?.changes ?? 0) + 1, round: this.#round });
    this.#owed.add(outline.conversation);
  }

  /** Whether so many blocks, or so many units of text, can be indexed. */
  #hasFresh(enoughBlocks: number, enoughChars: number): boolean {
    if (this.fresh.size === 0) return false;
    let [blocks, chars] = [0, 0];
    for (const block of this.fresh.values()) {
      if (!this.#isReady(block)) continue;
      blocks++;
      chars += block.chars;
      if (blocks >= enoughBlocks || chars >= enoughChars) return true;
    }
    return false;
  }

  /** A block that was edited a moment ago will be edited again: it waits for the next segment. */
  #isReady({ status, changes, round }: FreshBlock): boolean {
    return isEnded(status) && (changes === 1 || round < this.#round);
  }

  *#build(): Generator<void> {
    const flushedBefore = this.#flushedBefore;
    const builder = new SegmentBuilder();
    const taken = new Map<number, number>();
    const ready = [...this.fresh.values()].filter((block) => this.#isReady(block));
    this.#round++;
    for (const block of ready) {
      if (builder.chars >= SEGMENT_CHARS) break;
      yield* this.#add(builder, block.row, taken);
    }
    const rest = [...this.backlog];
    while (rest.length > 0 && builder.chars < SEGMENT_CHARS) {
      const { after, ...state } = rest[0] as Backlog;
      const blocks = this.#reader.outlinesAfter(state.conversation, after, FRESH_BLOCKS);
      for (const { row, status } of blocks)
        if (isEnded(status) && !taken.has(row)) yield* this.#add(builder, row, taken);
      const last = blocks.at(-1);
      if (last !== undefined && blocks.length === FRESH_BLOCKS) rest[0] = { ...state, after: last.seq };
      else rest.shift();
    }
    const cursors = this.#cursors(flushedBefore, taken, rest);
    const { name, path } = this.folder.newSegment();
    const bytes = yield* builder.write(path, cursors);
    this.folder.replace([], name, bytes);
    for (const [row, version] of taken) if (this.fresh.get(row)?.version === version) this.fresh.delete(row);
    this.backlog = rest;
    for (const [conversation] of cursors) this.#owed.delete(conversation);
  }

  *#add(builder: SegmentBuilder, row: number, taken: Map<number, number>): Generator<void> {
    const stored = this.#reader.block(row);
    if (stored === undefined) {
      this.fresh.delete(row); // its conversation was removed
      return;
    }
    const outline = outlineOf(stored);
    taken.set(row, outline.version);
    yield* builder.add(outline, this.#reader.text(stored));
  }

  /**
   * How far the conversations are indexed with this segment. What is in the tables of a conversation is complete up to its sequence
   * number if all journal rows that it has were flushed when the work began; until then the conversation is owed its cursor,
   * and at worst its blocks are indexed again.
   */
  #cursors(
    flushedBefore: number,
    taken: ReadonlyMap<number, number>,
    rest: readonly Backlog[],
  ): [number, number][] {
    const waiting = new Set(rest.slice(1).map(({ conversation }) => conversation));
    for (const { row, conversation, status, version } of this.fresh.values())
      if (isEnded(status) && taken.get(row) !== version) waiting.add(conversation);
    for (const { conversation } of this.backlog) this.#owed.add(conversation);
    const cursors: [number, number][] = [];
    for (const conversation of this.#owed) {
      const state = this.#reader.conversationState(conversation);
      if (state === undefined || state.journal >= flushedBefore || waiting.has(conversation)) continue;
      const seq = rest[0]?.conversation === conversation ? rest[0].after : state.seq;
      if (seq > (this.folder.cursors.get(conversation) ?? 0)) cursors.push([conversation, seq]);
    }
    return cursors;
  }

  /** Segments of about the same size, if there are enough of them. */
  #mergeable(): readonly Segment[] | undefined {
    const tiers = Map.groupBy(this.folder.segments, ({ reader }) =>
      Math.floor(Math.log(Math.max(reader.directory.chars, FRESH_CHARS)) / Math.log(MERGED_SEGMENTS)),
    );
    for (const segments of tiers.values()) {
      if (segments.length < MERGED_SEGMENTS) continue;
      const merged = segments.slice(0, MERGED_SEGMENTS);
      const sum = (of: "chars" | "documents") =>
        merged.reduce((total, { reader }) => total + reader.directory[of], 0);
      if (sum("chars") <= MAX_SEGMENT_CHARS && sum("documents") <= MAX_SEGMENT_DOCUMENTS) return merged;
    }
    return undefined;
  }

  /** Writes the segments anew that have blocks of removed conversations, without them. */
  *#dropRemoved(): Generator<void> {
    this.#mayHoldRemoved = false;
    const isThere = this.#existing();
    for (const segment of [...this.folder.segments]) {
      const { reader } = segment;
      let [kept, dropped] = [0, 0];
      for (let rank = 0; rank < reader.directory.documents; rank++) {
        if (isThere(reader.document(rank).conversation)) kept++;
        else dropped++;
        if (rank % FRESH_BLOCKS === 0) yield;
      }
      if (dropped === 0) continue;
      if (kept === 0) this.folder.drop(segment);
      else yield* this.#merge([segment], isThere);
    }
  }

  #existing(): (conversation: number) => boolean {
    const rows = new Set(this.#reader.conversationStates().map(({ conversation }) => conversation));
    return (conversation) => rows.has(conversation);
  }

  *#merge(
    segments: readonly Segment[],
    isKept: (conversation: number) => boolean = () => true,
  ): Generator<void> {
    const names = new Map<number, string>();
    const nameOf = (conversation: number) => {
      const known = names.get(conversation) ?? this.#reader.conversationState(conversation)?.name ?? "";
      names.set(conversation, known);
      return known;
    };
    const { name, path } = this.folder.newSegment();
    const bytes = yield* mergeSegments(
      segments.map(({ reader }) => reader),
      path,
      nameOf,
      isKept,
    );
    this.folder.replace(segments, name, bytes);
  }
}
