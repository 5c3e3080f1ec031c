/**
 * What was committed to conversations after the numbers that somebody knows, and the answers to keys: one statement each,
 * for all conversations of a group. So it is of one moment, whatever others write meanwhile, and takes one way there and
 * back: nodes that write to one conversation ask this in front of each of their commits.
 */

import type { Block, BlockId, ConversationId, Json, Missed, Op, Turn } from "@blockyard/kernel";
import { unpackJson } from "../encoding/codec.ts";
import type { Connection } from "./connections.ts";
import { requireWhole } from "./query.ts";
import { type BlockRow, type ChunkRow, keyOf, openBlock, openRecord, unpackOps } from "./rows.ts";

/** `what`: the order in which they come, each kind for itself. */
type MissedRow = BlockRow & ChunkRow & { readonly what: 0 | 1 | 2 | 3 | 4 | 5 };

/** Turns only where the conversation itself has changed: theirs are ops of it. */
const MISSED = `WITH c AS (SELECT c.id, c.name, c.seq, c.body, u.since FROM unnest($1::text[], $2::bigint[]) AS u (name, since)
      JOIN blockyard.conversation c ON c.name = u.name AND c.seq > u.since),
    b AS (SELECT b.*, c.name, c.since FROM c JOIN blockyard.block b ON b.conversation = c.id AND b.seq > c.since),
    own AS (SELECT k.*, c.name FROM c JOIN blockyard.chunk k ON k.conversation = c.id AND k.born = 0 AND k.last > c.since)
  SELECT 0 AS what, name, 0::bigint AS born, 0::bigint AS first, 0::bigint AS last, seq, 0::bigint AS version,
    0::float8 AS created_at, '' AS kind, '' AS status, 0 AS plain, body FROM c
  UNION ALL SELECT 1, name, born, 0, 0, seq, version, created_at, kind, status, 0, body FROM b
  UNION ALL SELECT 2, b.name, f.born, 0, 0, f.seq, 0, 0, '', '', 0, NULL
    FROM b JOIN blockyard.fold f USING (conversation, born) WHERE f.seq > b.since
  UNION ALL SELECT 3, b.name, k.born, k.first, k.last, k.seq, 0, 0, '', '', k.plain, k.body
    FROM b JOIN blockyard.chunk k USING (conversation, born) WHERE k.seq > b.since
  UNION ALL SELECT 4, name, 0, first, last, seq, 0, 0, '', '', plain, body FROM own
  UNION ALL SELECT 5, c.name, t.place, 0, 0, 0, 0, 0, '', '', 0, t.body
    FROM c JOIN blockyard.turn t ON t.conversation = c.id WHERE c.name IN (SELECT name FROM own)
  ORDER BY what, born, last`;

/** Of each conversation what it stands at here. */
type Known = ReadonlyMap<ConversationId, number>;

/** Where nothing was committed, or where there is no such conversation, there is nothing. */
export async function readMissed(
  connection: Connection,
  known: Known,
): Promise<ReadonlyMap<ConversationId, Missed>> {
  const rows = await connection.rows<MissedRow>({
    name: "missed",
    text: MISSED,
    values: [[...known.keys()], [...known.values()]],
  });
  const missed = new Map<ConversationId, Missed>();
  for (const [name, some] of Map.groupBy(rows, (row) => row.name))
    missed.set(name, missedOf(name, known.get(name) ?? 0, some));
  return missed;
}

function missedOf(conversation: ConversationId, since: number, rows: readonly MissedRow[]): Missed {
  const kinds = Map.groupBy(rows, ({ what }) => what);
  const blocks = (kinds.get(1) ?? []).map(openBlock);
  const compacted = new Set(kinds.get(2)?.map(({ born }) => born));
  const chunks = Map.groupBy(kinds.get(3) ?? [], ({ born }) => born);
  const ops: Op[] = (kinds.get(4) ?? []).flatMap((row) => unpackOps(row, conversation, null));
  for (const { id, born, version } of blocks) {
    if (compacted.has(born)) continue;
    const some = chunks.get(born) ?? [];
    requireWhole(id, some, undefined, version);
    for (const chunk of some) ops.push(...unpackOps(chunk, conversation, id));
  }
  const renewed: BlockId[] = blocks.filter(({ born }: Block) => compacted.has(born)).map(({ id }) => id);
  return {
    record: openRecord((rows[0] as MissedRow).body),
    turns: (kinds.get(5) ?? []).map(({ body }) => unpackJson<Turn>(body)),
    blocks,
    ops: ops.filter((op) => op.seq > since).sort((a, b) => a.seq - b.seq),
    renewed,
  };
}

/** The stored answers among the keys of each conversation. */
export async function readAnswers(
  connection: Connection,
  asked: ReadonlyMap<ConversationId, readonly string[]>,
): Promise<Map<ConversationId, ReadonlyMap<string, Json>>> {
  const answers = new Map<ConversationId, Map<string, Json>>();
  const names: ConversationId[] = [];
  const keys: Buffer[] = [];
  const given = new Map<string, string>();
  for (const [name, some] of asked) {
    answers.set(name, new Map());
    for (const key of some) {
      const stored = keyOf(key);
      names.push(name);
      keys.push(stored);
      given.set(`${name} ${stored.toString("latin1")}`, key);
    }
  }
  if (keys.length === 0) return answers;
  const rows = await connection.rows<{ name: ConversationId; key: Buffer; body: Buffer }>({
    name: "answers",
    // LIMIT keeps the planner from joining all answers of a conversation, which it prefers while it has no statistics.
    text: `SELECT u.name, a.key, a.body FROM unnest($1::text[], $2::bytea[]) AS u (name, key)
      CROSS JOIN LATERAL (SELECT id FROM blockyard.conversation WHERE name = u.name LIMIT 1) c
      CROSS JOIN LATERAL (SELECT key, body FROM blockyard.answer WHERE conversation = c.id AND key = u.key LIMIT 1) a`,
    values: [names, keys],
  });
  for (const { name, key, body } of rows) {
    const as = given.get(`${name} ${key.toString("latin1")}`);
    if (as !== undefined) answers.get(name)?.set(as, unpackJson<Json>(body));
  }
  return answers;
}
