/**
 * The blocks of a PostgreSQL database as searchBlocks wants them: the outlines, and texts read some at a time, because each
 * way to the server and back costs more than reading a small text. Lives in the search thread, for one search in one
 * snapshot.
 */

import type { Block, SearchIndexing, SearchQuery } from "@blockyard/kernel";
import { blockId } from "@blockyard/kernel/plain";
import { type Demand, filterOf, type SearchSource, trigramsOf } from "@blockyard/kernel/search";
import type { Entry } from "../../search/block-index.ts";
import type { RecentTexts } from "../../search/recent-texts.ts";
import { unpackCompacted } from "../encoding/flush.ts";
import { textOf } from "../encoding/text.ts";
import type { Connection } from "./connections.ts";
import { FIRST_TEXTS, READ_TEXT_CHARS, READ_TEXTS, SEARCHED_FILTER_CHARS } from "./limits.ts";
import type { Outlines } from "./outlines.ts";
import { BLOCK_COLUMNS, type BlockRow, openBlock, type Packed, unpackOps } from "./rows.ts";

interface TextRow extends Packed {
  readonly what: 1 | 2;
  readonly conversation: number;
  readonly born: number;
  readonly last: number;
}

export class PostgresSource implements SearchSource<Entry> {
  readonly #connection: Connection;
  readonly #outlines: Outlines;
  readonly #recent: RecentTexts;
  /** The server's data for the next texts, by the entry's row. */
  #read = new Map<number, TextRow[]>();

  constructor(connection: Connection, outlines: Outlines, recent: RecentTexts) {
    this.#connection = connection;
    this.#outlines = outlines;
    this.#recent = recent;
  }

  async *candidates(query: SearchQuery, demand: Demand): AsyncGenerator<Entry> {
    const trigrams = trigramsOf(demand);
    let next: Entry[] = [];
    let chars = 0;
    let most = FIRST_TEXTS;
    for (const entry of this.#outlines.index.candidates(query, trigrams)) {
      next.push(entry);
      if (!this.#isRecent(entry)) chars += this.#outlines.known(entry).chars;
      if (next.length < most && chars < READ_TEXT_CHARS) continue;
      yield* await this.#ready(next);
      next = [];
      chars = 0;
      most = Math.min(2 * most, READ_TEXTS);
    }
    yield* await this.#ready(next);
  }

  async block({ conversation, row }: Entry): Promise<Block | undefined> {
    const known = this.#outlines.known({ row } as Entry);
    const [stored] = await this.#connection.rows<Omit<BlockRow, "name">>({
      name: "search block",
      text: `SELECT ${BLOCK_COLUMNS} FROM blockyard.block b JOIN blockyard.conversation c ON c.id = b.conversation
        WHERE b.conversation = $1 AND b.born = $2`,
      values: [known.conversation, known.born],
    });
    return stored && openBlock({ ...stored, name: conversation });
  }

  indexing(): SearchIndexing | undefined {
    return this.#outlines.progress;
  }

  text(entry: Entry): string {
    const recent = this.#recent.get(entry.row, entry.version);
    if (recent !== undefined) return recent;
    const rows = this.#read.get(entry.row) ?? [];
    this.#read.delete(entry.row);
    const compacted = rows.find(({ what }) => what === 1);
    const block = blockId(entry.conversation, "", entry.born); // who wrote it is of no use to its text
    const ops = rows
      .filter(({ what }) => what === 2)
      .flatMap((chunk) => unpackOps(chunk, entry.conversation, block));
    const text = textOf(
      compacted === undefined
        ? ""
        : unpackCompacted({ id: 0, version: compacted.last, seq: 0, body: compacted.body }).text,
      ops,
    );
    this.#keep(entry, text);
    return text;
  }

  #keep(entry: Entry, text: string): void {
    this.#recent.put(entry.row, entry.version, text);
    if (entry.from === -1 && this.#outlines.known(entry).isEnded && text.length <= SEARCHED_FILTER_CHARS)
      this.#outlines.index.putFilter(entry, filterOf(text));
  }

  #isRecent(entry: Entry): boolean {
    return this.#recent.get(entry.row, entry.version) !== undefined;
  }

  /** The entries, with the data for their texts loaded. */
  async #ready(entries: readonly Entry[]): Promise<readonly Entry[]> {
    const missing = entries.filter((entry) => !this.#isRecent(entry));
    if (missing.length === 0) return entries;
    const places = missing.map((entry) => this.#outlines.known(entry));
    const rows = await this.#connection.rows<TextRow>({
      name: "search texts",
      text: `WITH u AS (SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS u (conversation, born))
        SELECT 1 AS what, conversation, born, f.version AS last, 0 AS plain, f.body
          FROM u JOIN blockyard.fold f USING (conversation, born)
        UNION ALL SELECT 2, conversation, born, k.last, k.plain, k.body
          FROM u JOIN blockyard.chunk k USING (conversation, born) ORDER BY conversation, born, what, last`,
      values: [places.map(({ conversation }) => conversation), places.map(({ born }) => born)],
    });
    const byPlace = Map.groupBy(rows, ({ conversation, born }) => `${conversation}/${born}`);
    this.#read = new Map(
      missing.map((entry, at) => {
        const { conversation, born } = places[at] as { conversation: number; born: number };
        return [entry.row, byPlace.get(`${conversation}/${born}`) ?? []];
      }),
    );
    return entries;
  }
}
