/** Reading: one statement each, so that what comes back is of one moment, whatever others write meanwhile. */

import type {
  Block,
  BlockQuery,
  Compacted,
  Conversation,
  ConversationQuery,
  LogPoint,
  Op,
} from "@blockyard/kernel";
import { type BlockId, type ConversationId, STATUSES } from "@blockyard/kernel/plain";
import { unpackCompacted } from "../encoding/flush.ts";
import type { Connection } from "./connections.ts";
import { damaged } from "./fault.ts";
import { LOOKED_AT_CONVERSATIONS } from "./limits.ts";
import {
  BLOCK_COLUMNS,
  type BlockRow,
  type ChunkRow,
  isText,
  openBlock,
  openRecord,
  pathRange,
  placeOf,
  unpackOps,
} from "./rows.ts";

const FROM_BLOCK = "FROM blockyard.block b JOIN blockyard.conversation c ON c.id = b.conversation";

export async function readBlock(connection: Connection, id: BlockId): Promise<Block | undefined> {
  const place = placeOf(id);
  if (place === undefined) return undefined;
  const [row] = await connection.rows<BlockRow>({
    name: "block",
    text: `SELECT ${BLOCK_COLUMNS} ${FROM_BLOCK} WHERE c.name = $1 AND b.born = $2`,
    values: [place.name, place.born],
  });
  const block = row && openBlock(row);
  return block?.id === id ? block : undefined;
}

/** A block's log, as far as it was requested. */
interface StoredLog {
  readonly conversation: ConversationId;
  readonly row: number;
  readonly version: number;
  readonly compacted: (Compacted & { readonly seq: number }) | undefined;
  readonly ops: readonly Op[];
}

interface LogRow extends ChunkRow {
  readonly what: 0 | 1 | 2;
  readonly row: number;
  readonly block: Buffer;
}

/**
 * The block's row, its compaction and the chunks that end after a point. The chunks must be complete: a gap between the
 * compaction and the version of the row is damage.
 */
export async function readLog(
  connection: Connection,
  id: BlockId,
  after: LogPoint,
): Promise<StoredLog | undefined> {
  const place = placeOf(id);
  if (place === undefined) return undefined;
  const rows = await connection.rows<LogRow>({
    name: "log",
    text: `WITH b AS (SELECT b.* ${FROM_BLOCK} WHERE c.name = $1 AND b.born = $2)
      SELECT 0 AS what, b.conversation AS row, b.version AS first, b.version AS last, b.seq, 0 AS plain, b.body FROM b
      UNION ALL SELECT 1, b.conversation, 0, f.version, f.seq, 0, f.body
        FROM b JOIN blockyard.fold f USING (conversation, born)
      UNION ALL SELECT 2, b.conversation, k.first, k.last, k.seq, k.plain, k.body
        FROM b JOIN blockyard.chunk k USING (conversation, born) WHERE k.last > $3 AND k.seq > $4
      ORDER BY what, last`,
    values: [
      place.name,
      place.born,
      "version" in after ? after.version : -1,
      "seq" in after ? after.seq : -1,
    ],
  });
  const [head] = rows;
  if (head === undefined || head.what !== 0) return undefined;
  const compacted = rows.find(({ what }) => what === 1);
  const chunks = rows.filter(({ what }) => what === 2);
  requireWhole(
    id,
    chunks,
    "version" in after ? Math.max(after.version, compacted?.last ?? 0) : undefined,
    head.last,
  );
  return {
    conversation: place.name,
    row: head.row,
    version: head.last,
    compacted: compacted && { ...openCompacted(compacted), seq: compacted.seq },
    ops: chunks.flatMap((chunk) => unpackOps(chunk, place.name, id)),
  };
}

/** `from`: the version that the chunks follow; unknown if they were requested by number. */
export function requireWhole(
  id: BlockId,
  chunks: readonly Pick<ChunkRow, "first" | "last">[],
  from: number | undefined,
  version: number,
): void {
  let last = from ?? (chunks[0]?.first ?? version + 1) - 1;
  for (const chunk of chunks) {
    if (chunk.first > last + 1)
      throw damaged(`${id}: versions ${last + 1} to ${chunk.first - 1} are missing`);
    last = chunk.last;
  }
  if (last < version) throw damaged(`${id}: versions ${last + 1} to ${version} are missing`);
}

function openCompacted({ last, seq, body }: ChunkRow): Compacted {
  return unpackCompacted({ id: 0, version: last, seq, body });
}

export async function readConversationOps(
  connection: Connection,
  conversation: ConversationId,
  afterSeq: number,
): Promise<Op[]> {
  const chunks = await connection.rows<ChunkRow>({
    name: "own",
    text: `SELECT k.first, k.last, k.seq, k.plain, k.body FROM blockyard.conversation c
      JOIN blockyard.chunk k ON k.conversation = c.id AND k.born = 0
      WHERE c.name = $1 AND k.last > $2 ORDER BY k.last`,
    values: [conversation, afterSeq],
  });
  return chunks.flatMap((chunk) => unpackOps(chunk, conversation, null)).filter((op) => op.seq > afterSeq);
}

export async function queryBlocks(connection: Connection, query: BlockQuery): Promise<Block[]> {
  if (!isText(query.conversation ?? "") || !isText(query.parent ?? "")) return [];
  const where: string[] = [];
  const values: unknown[] = [];
  const value = (of: unknown) => `$${values.push(of)}`;
  if (query.conversation !== undefined) where.push(`c.name = ${value(query.conversation)}`);
  if (query.except !== undefined) where.push(`NOT (c.name = ANY(${value(query.except)}::text[]))`);
  if (query.parent !== undefined) where.push(`b.parent = ${value(query.parent)}`);
  if (query.kinds !== undefined) where.push(`b.kind = ANY(${value(query.kinds)}::text[])`);
  // Not a value: only a constant lets the planner see that the index of open blocks is enough.
  if (query.status !== undefined)
    where.push(`b.status = '${STATUSES.find((known) => known === query.status)}'`);
  if (query.changedSince !== undefined) where.push(`b.seq > ${value(query.changedSince)}`);
  if (query.before !== undefined) where.push(`b.born < ${value(query.before)}`);
  if (query.after !== undefined) where.push(`b.born > ${value(query.after)}`);
  if (query.pathPrefix !== undefined) where.push(...pathConditions(query.pathPrefix, value));
  const rows = await connection.rows<BlockRow>({
    text: `SELECT ${BLOCK_COLUMNS} ${FROM_BLOCK} ${where.length > 0 ? `WHERE ${where.join(" AND ")}` : ""}
      ORDER BY ${orderOf(query)} LIMIT ${value(query.limit)}`,
    values,
  });
  return rows.map(openBlock);
}

function pathConditions(prefix: string, value: (of: unknown) => string): string[] {
  const range = pathRange(prefix);
  if (range === undefined) return ["b.path IS NOT NULL"];
  const indexed = "substr(b.path, 1, 512)";
  const whole = Buffer.from(prefix);
  const conditions = [
    `b.path IS NOT NULL AND ${indexed} >= ${value(range.from)} AND ${indexed} < ${value(range.to)}`,
  ];
  if (whole.length > range.from.length)
    conditions.push(`substr(b.path, 1, ${whole.length}) = ${value(whole)}`);
  return conditions;
}

function orderOf({ conversation, order }: BlockQuery): string {
  const direction = order === "last" ? "DESC" : "ASC";
  return (conversation === undefined ? ["b.created_at", "c.name", "b.born"] : ["b.born"])
    .map((column) => `${column} ${direction}`)
    .join(", ");
}

/** Titles are compared here, where case folds as in every store. */
export async function queryConversations(
  connection: Connection,
  query: ConversationQuery,
): Promise<Conversation[]> {
  const title = query.title?.toLowerCase();
  const found: Conversation[] = [];
  const except = query.except ?? [];
  const count = title === undefined ? query.limit + except.length : LOOKED_AT_CONVERSATIONS;
  let after: Conversation | undefined;
  for (;;) {
    const rows = await connection.rows<{ body: Buffer }>({
      name: "conversations",
      text: `SELECT body FROM blockyard.conversation
        WHERE updated_at < $1 AND (updated_at < $2 OR (updated_at = $2 AND name > $3))
        ORDER BY updated_at DESC, name LIMIT $4`,
      values: [
        query.before ?? Number.MAX_VALUE,
        after?.updatedAt ?? Number.MAX_VALUE,
        after?.id ?? "",
        count,
      ],
    });
    for (const { body } of rows) {
      after = openRecord(body);
      if (except.includes(after.id)) continue;
      if (title === undefined || after.title.toLowerCase().includes(title)) found.push(after);
      if (found.length >= query.limit) return found;
    }
    if (rows.length < count) return found;
  }
}
