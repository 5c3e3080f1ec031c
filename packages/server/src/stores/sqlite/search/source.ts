/**
 * The blocks of a database as searchBlocks wants them: what the index names, with what it does not have laid over it. Lives in the
 * search thread, for one search and one snapshot.
 *
 * Order: by age, newest first, for everything that is indexed, fresh, or not in the tables yet. Then fresh blocks that are too long
 * to be read in the time of a search, and last the backlog of an index that is being built.
 */

import type { Block, SearchIndexing, SearchQuery } from "@blockyard/kernel";
import { newestBlockFirst } from "@blockyard/kernel/plain";
import { type Demand, fitsSearch, type SearchSource } from "@blockyard/kernel/search";
import type { MemtableBlock } from "../../../search/message.ts";
import type { RecentTexts } from "../../../search/recent-texts.ts";
import type { SegmentReader } from "../../../search/segment/segment-reader.ts";
import { textOf } from "../../encoding/text.ts";
import { OVERSIZED_CHARS } from "../limits.ts";
import type { StoreReader } from "../reader.ts";
import type { BlockRow } from "../table-row.ts";
import type { Segment } from "./index-folder.ts";
import type { Indexer } from "./indexer.ts";

/** A block that may match: from the tables, or passed in because they lack some of it. */
type Candidate = ({ readonly stored: BlockRow } | { readonly memtable: MemtableBlock }) & {
  /** It is searched after all others, whatever its age. */
  readonly isUnordered?: true;
};

/** Candidates of one origin, newest first. */
interface Stream {
  /** When the next one was created. */
  readonly createdAt: number;
  readonly next: Candidate;
}

export class DatabaseSource implements SearchSource<Candidate> {
  readonly #reader: StoreReader;
  readonly #indexer: Indexer;
  readonly #recent: RecentTexts;
  readonly #memtable: ReadonlyMap<number, MemtableBlock>;

  constructor(
    reader: StoreReader,
    indexer: Indexer,
    recent: RecentTexts,
    memtable: readonly MemtableBlock[],
  ) {
    this.#reader = reader;
    this.#indexer = indexer;
    this.#recent = recent;
    this.#memtable = new Map(memtable.map((block) => [block.row, block]));
  }

  *candidates(query: SearchQuery, demand: Demand, isLate: () => boolean): Generator<Candidate> {
    const seen = new Set<number>();
    const { listed, oversized } = this.#unindexed(query);
    for (const candidate of this.#byAge(listed, this.#indexed(query, demand, isLate))) {
      const { row } = placeOf(candidate);
      if (!seen.has(row)) yield candidate;
      seen.add(row);
    }
    yield* oversized;
    yield* this.#backlog(query, seen, isLate);
  }

  isUnordered(candidate: Candidate): boolean {
    return candidate.isUnordered === true;
  }

  indexing(): SearchIndexing | undefined {
    return this.#indexer.progress;
  }

  block(candidate: Candidate): Block | undefined {
    return recordOf(candidate);
  }

  text(candidate: Candidate): string {
    if ("memtable" in candidate) return this.#memtableText(candidate.memtable);
    const { stored } = candidate;
    const recent = this.#recent.get(stored.id, stored.record.version);
    if (recent !== undefined) return recent;
    const text = this.#reader.text(stored);
    this.#recent.put(stored.id, stored.record.version, text);
    return text;
  }

  /** Unindexed blocks that may contain anything, newest first; slow ones separately. */
  #unindexed(query: SearchQuery): { readonly listed: Candidate[]; readonly oversized: Candidate[] } {
    const all: Candidate[] = [...this.#memtable.values()].map((memtable) => ({ memtable }));
    for (const row of this.#indexer.fresh.keys()) {
      const stored = this.#memtable.has(row) ? undefined : this.#reader.block(row);
      if (stored !== undefined) all.push({ stored });
    }
    const anywhere = withoutPlace(query);
    const isOversized = (candidate: Candidate) => recordOf(candidate).chars > OVERSIZED_CHARS;
    const fitting = all.filter((candidate) =>
      fitsSearch(recordOf(candidate), isOversized(candidate) ? anywhere : query),
    );
    fitting.sort((a, b) => newestBlockFirst(recordOf(a), recordOf(b)));
    return {
      listed: fitting.filter((candidate) => !isOversized(candidate)),
      oversized: fitting.filter(isOversized).map((candidate) => ({ ...candidate, isUnordered: true })),
    };
  }

  /** Two rows of candidates as one. */
  *#byAge(listed: readonly Candidate[], indexed: Iterable<Candidate>): Generator<Candidate> {
    let at = 0;
    for (const candidate of indexed) {
      for (; at < listed.length; at++) {
        const other = listed[at] as Candidate;
        if (newestBlockFirst(recordOf(other), recordOf(candidate)) > 0) break;
        yield other;
      }
      yield candidate;
    }
    yield* listed.slice(at);
  }

  /**
   * Blocks that the index names, newest first. A segment is queried when its turn by age comes: the first page seldom
   * needs all.
   */
  *#indexed(query: SearchQuery, demand: Demand, isLate: () => boolean): Generator<Candidate> {
    const conversation =
      query.conversation === undefined ? undefined : this.#reader.conversationRow(query.conversation);
    if (query.conversation !== undefined && conversation === undefined) return;
    const from = query.after?.createdAt ?? Number.POSITIVE_INFINITY;
    const waiting = this.#indexer.folder.segments
      .filter(({ reader }) => reader.directory.oldest <= from)
      .sort((a, b) => a.reader.directory.newest - b.reader.directory.newest);
    const streams: { head: Stream; rest: Iterator<Stream> }[] = [];
    for (;;) {
      let best = newestOf(streams);
      for (
        let next = waiting.at(-1);
        next !== undefined && (best === undefined || next.reader.directory.newest >= best.head.createdAt);
        next = waiting.at(-1)
      ) {
        if (isLate()) return;
        waiting.pop();
        const rest = this.#ofSegment((next as Segment).reader, query, demand, conversation, isLate);
        const head = rest.next();
        if (head.done !== true) streams.push({ head: head.value, rest });
        best = newestOf(streams);
      }
      if (best === undefined) return;
      yield best.head.next;
      const head = best.rest.next();
      if (head.done === true) streams.splice(streams.indexOf(best), 1);
      else best.head = head.value;
    }
  }

  *#ofSegment(
    segment: SegmentReader,
    query: SearchQuery,
    demand: Demand,
    conversation: number | undefined,
    isLate: () => boolean,
  ): Generator<Stream> {
    const ranks = segment.ranks(demand, query, conversation);
    const end =
      query.after === undefined ? segment.directory.documents : segment.rankAfter(query.after.createdAt);
    const count = ranks === undefined ? end : countBelow(ranks, end);
    for (let at = count - 1; at >= 0; at--) {
      if (isLate()) return;
      const { row, createdAt } = segment.document(ranks === undefined ? at : (ranks[at] as number));
      if (this.#memtable.has(row) || this.#indexer.fresh.has(row)) continue;
      const stored = this.#reader.block(row);
      if (stored === undefined || !fitsSearch(stored.record, query)) continue;
      yield { createdAt, next: { stored } };
    }
  }

  /**
   * Conversation by conversation, as far as time allows. For blocks before the page's start it is unknown whether they
   * were returned already: the index may have them without knowing.
   */
  *#backlog(query: SearchQuery, seen: ReadonlySet<number>, isLate: () => boolean): Generator<Candidate> {
    for (const { name, conversation, after } of this.#indexer.backlog) {
      if (query.conversation !== undefined && query.conversation !== name) continue;
      if (isLate()) return;
      for (const row of this.#reader.rowsAfter(conversation, after)) {
        if (isLate()) return;
        if (seen.has(row) || this.#memtable.has(row) || this.#indexer.fresh.has(row)) continue;
        const stored = this.#reader.block(row);
        if (stored !== undefined && fitsSearch(stored.record, query)) yield { stored, isUnordered: true };
      }
    }
  }

  #memtableText({ row, pending }: MemtableBlock): string {
    const stored = this.#reader.block(row);
    if (stored === undefined) return textOf("", pending);
    // What was pending at the request may be in the tables by now.
    return this.#reader.text(
      stored,
      pending.filter((op) => op.versionFrom > stored.record.version),
    );
  }
}

function recordOf(candidate: Candidate): Block {
  return "memtable" in candidate ? candidate.memtable.record : candidate.stored.record;
}

function placeOf(candidate: Candidate): { readonly row: number } {
  return "memtable" in candidate ? candidate.memtable : { row: candidate.stored.id };
}

function newestOf<S extends { head: Stream }>(streams: readonly S[]): S | undefined {
  let best: S | undefined;
  for (const stream of streams) {
    if (best === undefined || isNewer(stream.head, best.head)) best = stream;
  }
  return best;
}

function isNewer(a: Stream, b: Stream): boolean {
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt;
  return newestBlockFirst(recordOf(a.next), recordOf(b.next)) < 0;
}

function withoutPlace(query: SearchQuery): SearchQuery {
  const { after: _after, ...anywhere } = query;
  return anywhere;
}

/** How many of ascending numbers are below a bound. */
function countBelow(numbers: Uint32Array, bound: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
