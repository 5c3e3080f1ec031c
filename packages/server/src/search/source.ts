/**
 * The blocks of a database as searchBlocks wants them: the index and the tables, with what is still young laid over
 * them. Lives in the search thread, for one search and one snapshot.
 */

import {
  type Block,
  filterOf,
  fitsSearch,
  isEnded,
  type SearchQuery,
  type SearchSource,
  type TrigramQuery,
} from "@blockyard/kernel";
import type { StoreReader } from "../store/reader.ts";
import type { BlockRow } from "../store/tables.ts";
import { textOf } from "../store/text.ts";
import { type BlockIndex, byAge, type Entry } from "./block-index.ts";
import type { YoungBlock } from "./message.ts";
import type { RecentTexts } from "./recent-texts.ts";

/** A filter is made here for a finished block that the tables have none of, once its text was read anyway. */
const FILTERED_CHARS = 4 * 1024 * 1024;

/** Blocks too long for that, without a filter yet. To read one takes longer than a search may. */
export type Giants = Set<Entry>;

/** A block that may match: as the index knows it, or as it was handed over because the tables lack some of it. */
type Candidate = { readonly entry: Entry } | { readonly young: YoungBlock };

export class DatabaseSource implements SearchSource<Candidate> {
  readonly #reader: StoreReader;
  readonly #index: BlockIndex;
  readonly #recent: RecentTexts;
  readonly #young: ReadonlyMap<number, YoungBlock>;
  readonly #giants: Giants;

  /** `giants`: where those that were met are noted. */
  constructor(
    reader: StoreReader,
    index: BlockIndex,
    recent: RecentTexts,
    young: readonly YoungBlock[],
    giants: Giants,
  ) {
    this.#giants = giants;
    this.#reader = reader;
    this.#index = index;
    this.#recent = recent;
    this.#young = new Map(young.map((block) => [block.row, block]));
  }

  /**
   * Young blocks may hold anything: they are given whatever their filter says, each at its place by age. Giants come last:
   * otherwise one of them would take the time of every search, and nothing else would be found.
   */
  *candidates(query: SearchQuery, trigrams: TrigramQuery | undefined): Generator<Candidate> {
    const giants: Candidate[] = [];
    const young = [...this.#young.values()].filter(({ record }) => fitsSearch(record, query));
    young.sort((a, b) => byAge(a.record, b.record));
    for (const entry of this.#index.candidates(query, trigrams)) {
      if (this.#young.has(entry.row)) continue;
      if (entry.from === -1 && this.#isGiant(entry)) {
        giants.push({ entry });
        continue;
      }
      for (
        let last = young.at(-1);
        last !== undefined && byAge(last.record, entry) > 0;
        last = young.at(-1)
      ) {
        yield { young: last };
        young.pop();
      }
      yield { entry };
    }
    for (const block of young.reverse()) yield { young: block };
    yield* giants;
  }

  #isGiant(entry: Entry): boolean {
    const record = this.#reader.block(entry.row)?.record;
    if (record === undefined || record.chars <= FILTERED_CHARS) return false;
    if (isEnded(record.status)) this.#giants.add(entry);
    return true;
  }

  block(candidate: Candidate): Block | undefined {
    return "young" in candidate ? candidate.young.record : this.#reader.block(candidate.entry.row)?.record;
  }

  text(candidate: Candidate): string {
    if ("young" in candidate) return this.#youngText(candidate.young);
    const { entry } = candidate;
    const recent = this.#recent.get(entry.row, entry.version);
    if (recent !== undefined) return recent;
    const stored = this.#reader.block(entry.row);
    if (stored === undefined) return "";
    const text = this.#reader.text(stored);
    if (entry.version === stored.record.version) this.#keep(entry, stored, text);
    return text;
  }

  #keep(entry: Entry, { record }: BlockRow, text: string): void {
    this.#recent.put(entry.row, entry.version, text);
    if (entry.from === -1 && isEnded(record.status) && text.length <= FILTERED_CHARS) {
      this.#index.putFilter(entry, filterOf(text));
    }
  }

  #youngText({ row, pending }: YoungBlock): string {
    const stored = this.#reader.block(row);
    if (stored === undefined) return textOf("", pending);
    // What was pending when it was asked for may be in the tables by now.
    return this.#reader.text(
      stored,
      pending.filter((op) => op.versionFrom > stored.record.version),
    );
  }
}
