/**
 * The blocks of a database as searchBlocks wants them: the index and the tables, with what is still young laid over
 * them. Lives in the search thread.
 */

import {
  type Block,
  type BlockId,
  filterOf,
  fitsSearch,
  isEnded,
  type Op,
  type SearchQuery,
  type SearchSource,
  type TrigramQuery,
} from "@blockyard/kernel";
import type { StoreReader } from "../store/reader.ts";
import type { BlockRow } from "../store/tables.ts";
import { textOf } from "../store/text.ts";
import { type BlockIndex, byAge, type Entry } from "./block-index.ts";
import type { YoungBlock } from "./message.ts";

/** A filter is made here for a finished block that the tables have none of, once its text was read anyway. */
const FILTERED_CHARS = 4 * 1024 * 1024;

export class DatabaseSource implements SearchSource {
  readonly #reader: StoreReader;
  readonly #index: BlockIndex;
  readonly #young: ReadonlyMap<number, YoungBlock>;
  /** What candidates() handed out, until the next one. */
  #entry: Entry | undefined;
  #youngBlock: YoungBlock | undefined;
  #stored: BlockRow | undefined;

  constructor(reader: StoreReader, index: BlockIndex, young: readonly YoungBlock[]) {
    this.#reader = reader;
    this.#index = index;
    this.#young = new Map(young.map((block) => [block.row, block]));
  }

  /** Young blocks may hold anything: they are given whatever their filter says, each at its place by age. */
  *candidates(query: SearchQuery, trigrams: TrigramQuery | undefined): Generator<BlockId> {
    const young = [...this.#young.values()].filter(({ record }) => fitsSearch(record, query));
    young.sort((a, b) => byAge(b.record, a.record));
    let next = 0;
    for (const entry of this.#index.candidates(query, trigrams)) {
      if (this.#young.has(entry.row)) continue;
      for (; next < young.length && byAge((young[next] as YoungBlock).record, entry) > 0; next++) {
        yield this.#take(undefined, young[next]);
      }
      yield this.#take(entry, undefined);
    }
    for (; next < young.length; next++) yield this.#take(undefined, young[next]);
  }

  block(_id: BlockId): Block | undefined {
    return this.#youngBlock?.record ?? this.#stored?.record;
  }

  text(_id: BlockId): string {
    if (this.#youngBlock !== undefined) return this.#youngText(this.#youngBlock);
    const entry = this.#entry;
    const stored = this.#stored as BlockRow;
    const text = this.#reader.text(stored);
    const isUnknown = entry !== undefined && entry.from === -1 && entry.version === stored.record.version;
    if (isUnknown && isEnded(stored.record.status) && text.length <= FILTERED_CHARS) {
      this.#index.putFilter(entry, filterOf(text));
    }
    return text;
  }

  #take(entry: Entry | undefined, young: YoungBlock | undefined): BlockId {
    this.#entry = entry;
    this.#youngBlock = young;
    this.#stored = this.#reader.block((entry ?? young)?.row as number);
    return young?.record.id ?? (this.#stored as BlockRow).record.id;
  }

  #youngText({ pending }: YoungBlock): string {
    const stored = this.#stored;
    if (stored === undefined) return textOf("", pending);
    // What was pending when it was asked for may be in the tables by now.
    const later: Op[] = pending.filter((op) => op.versionFrom > stored.record.version);
    return this.#reader.text(stored, later);
  }
}
