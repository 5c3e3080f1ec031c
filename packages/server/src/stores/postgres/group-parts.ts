/**
 * The parts of a group: the rows of blocks, ops, turns and answers that its accepted commits come to, each table written with
 * one statement. Which commits are accepted, and the rows of conversations, are group.ts.
 */

import type { Block, Commit, Conversation, Op, Turn } from "@blockyard/kernel";
import { type BlockId, type ConversationId, limits, splicesOf } from "@blockyard/kernel/plain";
import { mergeRuns } from "../encoding/runs.ts";
import type { AnswerCounts } from "./answer-counts.ts";
import type { Connection } from "./connections.ts";
import { keyOf, packed, packedBlock, packOps, pathOf } from "./rows.ts";

/** What is written of one conversation. */
export interface Accepted {
  readonly id: number;
  readonly name: ConversationId;
  readonly expectedSeq: number;
  readonly record: Conversation;
  readonly commits: readonly Commit[];
}

/**
 * Writes the rows of existing conversations, and the blocks, ops, turns and answers of all, with one statement. Rows
 * for conversations that this transaction created exist already.
 */
export async function writeParts(
  connection: Connection,
  { old, made }: { readonly old: readonly Accepted[]; readonly made: readonly Accepted[] },
  counts: AnswerCounts,
): Promise<void> {
  const blocks: BlockPart[] = [];
  const own: OpsPart[] = [];
  const turns: NamedPart[] = [];
  const answers: NamedPart[] = [];
  for (const { id, commits } of [...old, ...made]) {
    const ops = commits.flatMap((commit) => commit.ops);
    blocks.push(...blockParts(id, commits, ops));
    const ownOps = ops.filter(({ block }) => block === null);
    if (ownOps.length > 0) own.push({ id, born: 0, ops: ownOps });
    turns.push(...turnParts(id, commits));
    answers.push(...answerParts(id, commits));
  }
  const changed = blocks.flatMap(({ id, record, ops }) =>
    ops.length > 0 ? [{ id, born: record.born, ops }] : [],
  );
  const written = connection.run({
    name: "write group",
    text: WRITE_GROUP,
    values: [
      ...moveValues(old),
      ...blockValues(blocks),
      ...chunkValues([...changed, ...own]),
      ...namedValues(turns),
      ...namedValues(answers),
    ],
  });
  await Promise.all([written, trimAnswers(connection, counts.due(answers.map(({ id }) => id)))]);
}

/** The sequencer: the number advances here, from the planned one. */
const MOVE = `UPDATE blockyard.conversation c SET seq = u.seq, updated_at = u.updated_at, body = u.body
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::float8[], $5::bytea[])
    AS u (id, expected, seq, updated_at, body)
  WHERE c.id = u.id AND c.seq = u.expected RETURNING 1`;

const PUT_BLOCKS = `INSERT INTO blockyard.block AS b (conversation, born, seq, version, created_at, parent, kind, status, path,
    chars, texted, filtered, loose, changed, body)
  SELECT u.conversation, u.born, u.seq, u.version, u.created_at, u.parent, u.kind, u.status, u.path, u.chars,
    u.texted, 0, u.loose, pg_current_xact_id()::text::bigint, u.body
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::float8[], $6::text[], $7::text[],
    $8::text[], $9::bytea[], $10::bigint[], $11::bigint[], $12::int[], $13::bytea[])
    AS u (conversation, born, seq, version, created_at, parent, kind, status, path, chars, texted, loose, body)
  ON CONFLICT (conversation, born) DO UPDATE SET seq = excluded.seq, version = excluded.version,
    kind = excluded.kind, status = excluded.status, path = excluded.path, chars = excluded.chars,
    texted = greatest(b.texted, excluded.texted), loose = b.loose + excluded.loose, changed = excluded.changed,
    body = excluded.body`;

const ADD_CHUNKS = `INSERT INTO blockyard.chunk (conversation, born, first, last, seq, plain, body)
  SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::int[], $7::bytea[])`;

function putNamed(table: "turn" | "answer"): string {
  const renewed = table === "answer" ? ", place = excluded.place" : "";
  return `INSERT INTO blockyard.${table} (conversation, key, body)
    SELECT u.conversation, u.key, u.body FROM unnest($1::bigint[], $2::bytea[], $3::bytea[])
      WITH ORDINALITY AS u (conversation, key, body, place) ORDER BY u.place
    ON CONFLICT (conversation, key) DO UPDATE SET body = excluded.body${renewed}`;
}

/**
 * All of them: a server round trip for each would cost more than their work. If a locked row has changed, this divides
 * by zero: the commit is already sent after it.
 */
const WRITE_GROUP = `${together({
  moved: MOVE,
  blocks: PUT_BLOCKS,
  chunks: ADD_CHUNKS,
  turns: putNamed("turn"),
  answers: putNamed("answer"),
})} SELECT 1 / (count(*) = cardinality($1::bigint[]))::int FROM moved`;

/** Statements as parts of one, each with its own values after those of the previous one. */
function together(parts: Readonly<Record<string, string>>): string {
  let before = 0;
  const named = Object.entries(parts).map(([name, text]) => {
    const numbers = [...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number));
    const moved = text.replaceAll(/\$(\d+)/g, (_, number) => `$${before + Number(number)}`);
    before += Math.max(...numbers);
    return `${name} AS (${moved})`;
  });
  return `WITH ${named.join(",\n")}`;
}

interface BlockPart {
  readonly id: number;
  readonly record: Block;
  readonly ops: readonly Op[];
}

/** The blocks that a conversation's commits touch, each with its last record and all its ops. */
function blockParts(id: number, commits: readonly Commit[], ops: readonly Op[]): BlockPart[] {
  const records = new Map<BlockId, Block>();
  for (const { blocks } of commits) for (const block of blocks) records.set(block.id, block);
  const opsOf = new Map<BlockId, Op[]>();
  for (const op of ops) {
    if (op.block === null) continue;
    const those = opsOf.get(op.block);
    if (those) those.push(op);
    else opsOf.set(op.block, [op]);
  }
  return [...records.values()].map((record) => ({ id, record, ops: opsOf.get(record.id) ?? [] }));
}

function moveValues(accepted: readonly Accepted[]): unknown[] {
  return [
    accepted.map(({ id }) => id),
    accepted.map(({ expectedSeq }) => expectedSeq),
    accepted.map(({ record }) => record.seq),
    accepted.map(({ record }) => record.updatedAt),
    accepted.map(({ record }) => packed(record)),
  ];
}

function blockValues(parts: readonly BlockPart[]): unknown[] {
  const column = <T>(of: (block: Block, part: BlockPart) => T) => parts.map((part) => of(part.record, part));
  return [
    column((_, { id }) => id),
    column(({ born }) => born),
    column(({ seq }) => seq),
    column(({ version }) => version),
    column(({ createdAt }) => createdAt),
    column(({ parent }) => parent),
    column(({ kind }) => kind),
    column(({ status }) => status),
    column(pathOf),
    column(({ chars }) => chars),
    column((_, { ops }) => ops.findLast((op) => splicesOf(op).length > 0)?.version ?? 0),
    column((_, { ops }) => (ops.length > 0 ? 1 : 0)),
    column(packedBlock),
  ];
}

interface OpsPart {
  readonly id: number;
  readonly born: number;
  readonly ops: readonly Op[];
}

export async function addChunks(connection: Connection, parts: readonly OpsPart[]): Promise<void> {
  if (parts.length === 0) return;
  await connection.run({ name: "add chunks", text: ADD_CHUNKS, values: chunkValues(parts) });
}

function chunkValues(parts: readonly OpsPart[]): unknown[] {
  const chunks = parts.map(({ ops }) => packOps(mergeRuns(ops)));
  return [
    parts.map(({ id }) => id),
    parts.map(({ born }) => born),
    chunks.map(({ first }) => first),
    chunks.map(({ last }) => last),
    chunks.map(({ seq }) => seq),
    chunks.map(({ plain }) => plain),
    chunks.map(({ body }) => body),
  ];
}

interface NamedPart {
  readonly id: number;
  readonly key: Buffer;
  readonly body: Buffer;
}

/** Each turn once, at its first place, with its last value. */
function turnParts(id: number, commits: readonly Commit[]): NamedPart[] {
  const turns = new Map<string, Turn>();
  for (const commit of commits) for (const turn of commit.turns) turns.set(turn.id, turn);
  return [...turns.values()].map((turn) => ({ id, key: keyOf(turn.id), body: packed(turn) }));
}

/** Each key once, at its last place: it is as old as its newest answer. */
function answerParts(id: number, commits: readonly Commit[]): NamedPart[] {
  const answers = new Map<string, Buffer>();
  for (const commit of commits)
    for (const { key, answer } of commit.answers) {
      answers.delete(key);
      answers.set(key, packed(answer));
    }
  return [...answers].map(([key, body]) => ({ id, key: keyOf(key), body }));
}

function namedValues(parts: readonly NamedPart[]): unknown[] {
  return [parts.map(({ id }) => id), parts.map(({ key }) => key), parts.map(({ body }) => body)];
}

async function trimAnswers(connection: Connection, conversations: readonly number[]): Promise<void> {
  if (conversations.length === 0) return;
  await connection.run({
    name: "trim",
    text: `DELETE FROM blockyard.answer a USING (
        SELECT u.id, (SELECT place FROM blockyard.answer WHERE conversation = u.id
          ORDER BY place DESC OFFSET ${limits.keysPerConversation} LIMIT 1) AS place
        FROM unnest($1::bigint[]) AS u (id)) AS old
      WHERE a.conversation = old.id AND a.place <= old.place`,
    values: [conversations],
  });
}
