/**
 * Gathering some blocks in one transaction (gather.ts says when, and why): their small chunks become one each, and those that
 * are finished get their search filters. A few statements for all of them, however many there are.
 */

import type { Block, Compacted, Op } from "@blockyard/kernel";
import { type ConversationId, isEnded } from "@blockyard/kernel/plain";
import { filterOf } from "@blockyard/kernel/search";
import { unpackCompacted } from "../encoding/flush.ts";
import { FULL_CHUNK_BYTES } from "../encoding/limits.ts";
import { mergeRuns } from "../encoding/runs.ts";
import { textOf } from "../encoding/text.ts";
import type { Connection } from "./connections.ts";
import { addChunks } from "./group-parts.ts";
import { GATHERED_BLOCKS, GATHERED_CHARS, GATHERED_FILTER_CHARS, LOOSE_CHUNKS } from "./limits.ts";
import { BLOCK_COLUMNS, type BlockRow, type ChunkRow, openBlock, unpackOps } from "./rows.ts";

/** The key of a row: blocks by conversation and birth, runs by their number. */
export type Place = readonly [number, number];

export const FIRST: Place = [0, 0];

/** The block being gathered, in case it fails. */
export interface At {
  name?: string;
}

interface LooseRow extends BlockRow {
  readonly conversation: number;
  readonly texted: number;
  readonly filtered: number;
}

/** A block whose row is locked. */
interface Loose {
  readonly row: number;
  readonly conversation: ConversationId;
  readonly block: Block;
  /** The version that its filter is of, now and then. */
  readonly filtered: number;
  readonly texted: number;
  /** It gets a filter: for that its whole text is needed. */
  readonly isWhole: boolean;
}

type OfBlock<T> = T & { readonly conversation: number; readonly born: number };

/** Gathers a few after `after`, except those that are stuck; returns the last one, if there was any. */
export async function gatherBlocks(
  connection: Connection,
  after: Place,
  stuck: ReadonlySet<string>,
  at: At,
): Promise<Place | undefined> {
  const some = await lockSome(connection, after, stuck, at);
  const last = some.at(-1);
  if (last === undefined) return undefined;
  const whole = some.filter(({ isWhole }) => isWhole);
  const [chunks, compactions] = await Promise.all([
    readChunks(connection, some),
    readCompacted(connection, whole),
  ]);
  const gathered: { readonly each: Loose; readonly from: number; readonly ops: readonly Op[] }[] = [];
  const filters: { readonly each: Loose; readonly body: Buffer }[] = [];
  for (const each of some) {
    at.name = nameOf(each);
    const { conversation, block } = each;
    const rows = chunks.get(at.name) ?? [];
    const small = rows.slice(rows.findLastIndex(({ plain }) => plain >= FULL_CHUNK_BYTES) + 1);
    const ops = (of: readonly ChunkRow[]) => of.flatMap((chunk) => unpackOps(chunk, conversation, block.id));
    const [first] = small;
    if (first && small.length > 1) gathered.push({ each, from: first.last, ops: mergeRuns(ops(small)) });
    if (each.isWhole && block.chars <= GATHERED_FILTER_CHARS)
      filters.push({
        each,
        body: Buffer.from(filterOf(textOf(compactions.get(at.name)?.text ?? "", ops(rows)))),
      });
  }
  delete at.name;
  await dropChunks(connection, gathered);
  await addChunks(
    connection,
    gathered.map(({ each, ops }) => ({ id: each.row, born: each.block.born, ops })),
  );
  await dropFilters(
    connection,
    whole.filter(({ block }) => block.chars > GATHERED_FILTER_CHARS),
  );
  await putFilters(connection, filters);
  await markGathered(connection, some);
  return [last.row, last.block.born];
}

/**
 * Locks a few loose blocks that nobody else uses. In order, and continuing after the last few: gathered rows leave
 * traces in the index, which must not be scanned over and over.
 */
async function lockSome(
  connection: Connection,
  after: Place,
  stuck: ReadonlySet<string>,
  at: At,
): Promise<readonly Loose[]> {
  const rows = await connection.rows<LooseRow>({
    text: `SELECT b.conversation, b.texted, b.filtered, ${BLOCK_COLUMNS} FROM blockyard.block b
      JOIN blockyard.conversation c ON c.id = b.conversation
      WHERE (b.loose >= ${LOOSE_CHUNKS} OR (b.status IN ('done', 'error') AND (b.loose > 1 OR b.filtered < b.texted)))
        AND (b.conversation, b.born) > ($1, $2) AND NOT (b.conversation || '/' || b.born) = ANY($3)
      ORDER BY b.conversation, b.born LIMIT ${GATHERED_BLOCKS} FOR UPDATE OF b SKIP LOCKED`,
    values: [...after, [...stuck]],
  });
  const some: Loose[] = [];
  let chars = 0;
  for (const { conversation: row, texted, filtered, ...columns } of rows) {
    at.name = `${row}/${columns.born}`;
    const block = openBlock(columns);
    chars += block.chars;
    if (some.length > 0 && chars > GATHERED_CHARS) break;
    const isWhole = isEnded(block.status) && filtered < texted;
    some.push({ row, conversation: columns.name, block, filtered, texted, isWhole });
  }
  delete at.name;
  return some;
}

function nameOf({ row, block }: Loose): string {
  return `${row}/${block.born}`;
}

/** The chunks after the last full one, and all chunks of blocks that are needed whole, in order. */
async function readChunks(
  connection: Connection,
  some: readonly Loose[],
): Promise<ReadonlyMap<string, readonly ChunkRow[]>> {
  const rows = await connection.rows<OfBlock<ChunkRow>>({
    name: "loose chunks",
    text: `SELECT k.conversation, k.born, k.first, k.last, k.seq, k.plain, k.body
      FROM unnest($1::bigint[], $2::bigint[], $3::boolean[]) AS u (conversation, born, whole)
      CROSS JOIN LATERAL (SELECT * FROM blockyard.chunk k WHERE k.conversation = u.conversation AND k.born = u.born
        AND (u.whole OR k.last > coalesce((SELECT max(last) FROM blockyard.chunk
          WHERE conversation = u.conversation AND born = u.born AND plain >= ${FULL_CHUNK_BYTES}), 0))
        ORDER BY k.last OFFSET 0) k
      ORDER BY k.conversation, k.born, k.last`,
    values: [
      ...keysOf(some),
      some.map(({ isWhole, block }) => isWhole && block.chars <= GATHERED_FILTER_CHARS),
    ],
  });
  return Map.groupBy(rows, ({ conversation, born }) => `${conversation}/${born}`);
}

async function readCompacted(
  connection: Connection,
  whole: readonly Loose[],
): Promise<ReadonlyMap<string, Compacted>> {
  if (whole.length === 0) return new Map();
  const rows = await connection.rows<OfBlock<{ version: number; seq: number; body: Buffer }>>({
    name: "loose compactions",
    text: `SELECT f.conversation, f.born, f.version, f.seq, f.body
      FROM unnest($1::bigint[], $2::bigint[]) AS u (conversation, born)
      JOIN blockyard.fold f USING (conversation, born)`,
    values: keysOf(whole),
  });
  return new Map(
    rows.map(({ conversation, born, ...compacted }) => [
      `${conversation}/${born}`,
      unpackCompacted({ id: 0, ...compacted }),
    ]),
  );
}

async function dropChunks(
  connection: Connection,
  gathered: readonly { readonly each: Loose; readonly from: number }[],
): Promise<void> {
  if (gathered.length === 0) return;
  await connection.run({
    name: "drop chunks",
    text: `DELETE FROM blockyard.chunk k USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS u (conversation, born, since)
      WHERE k.conversation = u.conversation AND k.born = u.born AND k.last >= u.since`,
    values: [...keysOf(gathered.map(({ each }) => each)), gathered.map(({ from }) => from)],
  });
}

async function dropFilters(connection: Connection, some: readonly Loose[]): Promise<void> {
  if (some.length === 0) return;
  await connection.run({
    text: `DELETE FROM blockyard.filter f USING unnest($1::bigint[], $2::bigint[]) AS u (conversation, born)
      WHERE f.conversation = u.conversation AND f.born = u.born`,
    values: keysOf(some),
  });
}

async function putFilters(
  connection: Connection,
  filters: readonly { readonly each: Loose; readonly body: Buffer }[],
): Promise<void> {
  if (filters.length === 0) return;
  await connection.run({
    name: "put filters",
    text: `INSERT INTO blockyard.filter (conversation, born, body) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[])
      ON CONFLICT (conversation, born) DO UPDATE SET body = excluded.body`,
    values: [...keysOf(filters.map(({ each }) => each)), filters.map(({ body }) => body)],
  });
}

async function markGathered(connection: Connection, some: readonly Loose[]): Promise<void> {
  await connection.run({
    name: "gathered",
    text: `UPDATE blockyard.block b SET loose = 0, filtered = u.filtered, changed = pg_current_xact_id()::text::bigint
      FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS u (conversation, born, filtered)
      WHERE b.conversation = u.conversation AND b.born = u.born`,
    values: [...keysOf(some), some.map(({ isWhole, texted, filtered }) => (isWhole ? texted : filtered))],
  });
}

/** The columns of a key, for `unnest`. */
function keysOf(some: readonly Loose[]): [number[], number[]] {
  return [some.map(({ row }) => row), some.map(({ block }) => block.born)];
}
