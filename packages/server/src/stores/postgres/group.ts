/**
 * One transaction for a group of commits and raw bytes. The rows of their conversations are locked in the order of their
 * names, so that two nodes never wait for each other; then each conversation is decided for itself (decide.ts), and what
 * is accepted is written with a few statements, however many commits there are.
 */

import type {
  BlockId,
  Commit,
  CommitAnswer,
  ConversationId,
  Json,
  Missed,
  Op,
  RawRun,
  TurnedCommit,
} from "@blockyard/kernel";
import type { AnswerCounts } from "./answer-counts.ts";
import type { Connection } from "./connections.ts";
import { byConversation, type Decided, decide } from "./decide.ts";
import { type Accepted, writeParts } from "./group-parts.ts";
import { readAnswers, readMissed } from "./missed.ts";
import { keyOf, pack, packed } from "./rows.ts";
import type { Versions } from "./versions.ts";

export interface RawPart {
  readonly run: RawRun;
  readonly bytes: Uint8Array;
}

interface Group {
  readonly commits: readonly Commit[];
  /** Planned here, when nobody else can write to their conversations any more. */
  readonly turned: readonly TurnedCommit[];
  readonly raws: readonly RawPart[];
}

export type Verdict = CommitAnswer | { readonly error: unknown };

/** What is known from earlier groups. */
export interface Remembered {
  readonly versions: Versions;
  readonly counts: AnswerCounts;
}

/** What was decided, and what was planned. */
export interface Written {
  readonly verdicts: ReadonlyMap<Commit, Verdict>;
  readonly planned: ReadonlyMap<TurnedCommit, Commit>;
}

const COMMITTED: CommitAnswer = { type: "committed" };

/**
 * Writes the group inside a transaction that is being begun, and commits it: `commit` is called when everything that is
 * to be written is on its way, so that the last way to the server is taken once for all of it. Nothing is written before it
 * has begun; what is answered holds when it is committed.
 */
export async function writeGroup(
  connection: Connection,
  { commits, turned, raws }: Group,
  { versions, counts }: Remembered,
  begun: Promise<unknown>,
  commit: () => Promise<void>,
): Promise<Written> {
  const verdicts = new Map<Commit, Verdict>();
  const names = new Set([...commits, ...turned].map(({ conversation }) => conversation));
  // Sent together: what each has missed is looked for behind the lock.
  const [standings, { missed, answers }] = await Promise.all([
    lock(connection, [...names]),
    findFor(connection, turned),
    begun,
  ]);
  await findMore(connection, turned, answers);
  const planned = new Map<TurnedCommit, Commit>();
  for (const each of turned) {
    const { conversation } = each;
    const news = missed.get(conversation);
    if (news) versions.missed(conversation, each.since(), news);
    const made = each.plan(news, answers.get(conversation) ?? NO_ANSWERS);
    if (made) planned.set(each, withOwnBytes(made));
  }
  const groups = byConversation([...commits, ...planned.values()]);
  const { old, made } = await decideCommits(connection, groups, standings, versions, verdicts);
  // Sent one after the other and done in that order, without waiting for the answers in between.
  await allDone(
    connection.together(() => [
      ...(old.length + made.length > 0 ? [writeParts(connection, { old, made }, counts)] : []),
      ...addRaws(connection, raws),
      commit(),
    ]),
  );
  return { verdicts, planned };
}

/** Waits for all of them; what failed first is thrown. */
async function allDone(work: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) if (result.status === "rejected") throw result.reason;
}

interface Found {
  readonly missed: ReadonlyMap<ConversationId, Missed>;
  readonly answers: Map<ConversationId, ReadonlyMap<string, Json>>;
}

const NO_ANSWERS: ReadonlyMap<string, Json> = new Map();

/**
 * Where it took long to get the lock, more writes wait by now than keys were asked for. They are worth another look: otherwise
 * each turn carries half of what it could.
 */
async function findMore(
  connection: Connection,
  turned: readonly TurnedCommit[],
  answers: Map<ConversationId, ReadonlyMap<string, Json>>,
): Promise<void> {
  const more = new Map(
    turned.flatMap((each) => {
      const keys = each.moreKeys();
      return keys.length > 0 ? [[each.conversation, keys] as const] : [];
    }),
  );
  if (more.size === 0) return;
  for (const [conversation, found] of await readAnswers(connection, more))
    answers.set(conversation, new Map([...(answers.get(conversation) ?? []), ...found]));
}

async function findFor(connection: Connection, turned: readonly TurnedCommit[]): Promise<Found> {
  if (turned.length === 0) return { missed: new Map(), answers: new Map() };
  const keys = new Map(turned.map((each) => [each.conversation, each.keys()]));
  const known = new Map(turned.map((each) => [each.conversation, each.since()]));
  const [missed, answers] = await Promise.all([readMissed(connection, known), readAnswers(connection, keys)]);
  return { missed, answers };
}

/** Bytes that their owner may change while they are on their way are copied. */
export function withOwnBytes(commit: Commit): Commit {
  return commit.ops.some(hasBytes) ? { ...commit, ops: commit.ops.map(copied) } : commit;
}

function hasBytes({ body }: Op): boolean {
  return body.type === "splice";
}

function copied(op: Op): Op {
  return op.body.type === "splice" ? { ...op, body: { ...op.body, update: op.body.update.slice() } } : op;
}

interface Standing {
  readonly id: number;
  readonly seq: number;
}

/** Decides, and makes new conversations: what is to be written of those that were there and of those that were made. */
async function decideCommits(
  connection: Connection,
  groups: ReadonlyMap<ConversationId, readonly Commit[]>,
  standings: ReadonlyMap<ConversationId, Standing>,
  versions: Versions,
  verdicts: Map<Commit, Verdict>,
): Promise<{ readonly old: readonly Accepted[]; readonly made: readonly Accepted[] }> {
  const stored = await storedVersions(connection, groups, standings, versions);
  const accepted: Accepted[] = [];
  for (const [name, commits] of groups) {
    const standing = standings.get(name);
    const decided = decide(commits, standing?.seq ?? 0, (block) => stored.get(block) ?? 0);
    settleVerdicts(verdicts, decided);
    const last = decided.accepted.at(-1);
    if (last === undefined) continue;
    const expectedSeq = standing?.seq ?? 0;
    accepted.push({
      id: standing?.id ?? 0,
      name,
      expectedSeq,
      record: last.record,
      commits: decided.accepted,
    });
  }
  const old = accepted.filter(({ id }) => id !== 0);
  const made = accepted.filter(({ id }) => id === 0);
  return { old, made: made.length > 0 ? await makeConversations(connection, made, verdicts) : [] };
}

function settleVerdicts(verdicts: Map<Commit, Verdict>, { accepted, refused }: Decided): void {
  for (const commit of accepted) verdicts.set(commit, COMMITTED);
  for (const [commit, verdict] of refused) verdicts.set(commit, verdict);
}

/** Where the conversations stand. They stay there until the transaction ends; one that does not exist may come to. */
async function lock(
  connection: Connection,
  names: readonly ConversationId[],
): Promise<Map<ConversationId, Standing>> {
  if (names.length === 0) return new Map();
  const rows = await connection.rows<Standing & { name: ConversationId }>({
    name: "lock",
    text: "SELECT name, id, seq FROM blockyard.conversation WHERE name = ANY($1) ORDER BY name FOR UPDATE",
    values: [names],
  });
  return new Map(rows.map(({ name, id, seq }) => [name, { id, seq }]));
}

/** The versions of the blocks that are written to: from memory, where that is as new as the conversation. */
async function storedVersions(
  connection: Connection,
  groups: ReadonlyMap<ConversationId, readonly Commit[]>,
  standings: ReadonlyMap<ConversationId, Standing>,
  versions: Versions,
): Promise<Map<BlockId, number>> {
  const stored = new Map<BlockId, number>();
  const ids: number[] = [];
  const births: number[] = [];
  const asked = new Map<string, BlockId>();
  for (const [name, { id, seq }] of standings) {
    const known = versions.at(name, seq);
    for (const commit of groups.get(name) ?? []) {
      if (commit.expectedSeq < seq) continue; // too late: nothing of it is looked at
      for (const block of commit.blocks) {
        const version = known?.get(block.id);
        if (version !== undefined) stored.set(block.id, version);
        else if (block.born <= seq && !asked.has(`${id}/${block.born}`)) {
          ids.push(id);
          births.push(block.born);
          asked.set(`${id}/${block.born}`, block.id);
        }
      }
    }
  }
  if (ids.length === 0) return stored;
  const rows = await connection.rows<{ conversation: number; born: number; version: number }>({
    name: "versions",
    text: `SELECT b.conversation, b.born, b.version FROM blockyard.block b
      JOIN unnest($1::bigint[], $2::bigint[]) AS u (conversation, born) USING (conversation, born)`,
    values: [ids, births],
  });
  for (const { conversation, born, version } of rows)
    stored.set(asked.get(`${conversation}/${born}`) as BlockId, version);
  return stored;
}

/** Makes new ones. Where another node was faster its own is there now, and who wanted to make it is told so. */
async function makeConversations(
  connection: Connection,
  accepted: readonly Accepted[],
  verdicts: Map<Commit, Verdict>,
): Promise<readonly Accepted[]> {
  const rows = await connection.rows<{ name: ConversationId; id: number }>({
    name: "make",
    text: `INSERT INTO blockyard.conversation (name, seq, updated_at, body)
      SELECT * FROM unnest($1::text[], $2::bigint[], $3::float8[], $4::bytea[])
        AS u (name, seq, updated_at, body) ORDER BY u.name COLLATE "C"
      ON CONFLICT (name) DO NOTHING RETURNING name, id`,
    values: [
      accepted.map(({ name }) => name),
      accepted.map(({ record }) => record.seq),
      accepted.map(({ record }) => record.updatedAt),
      accepted.map(({ record }) => packed(record)),
    ],
  });
  const ids = new Map(rows.map(({ name, id }) => [name, id]));
  const lost = accepted.filter(({ name }) => !ids.has(name));
  if (lost.length > 0) {
    const there = await connection.rows<{ name: ConversationId; seq: number }>({
      text: "SELECT name, seq FROM blockyard.conversation WHERE name = ANY($1)",
      values: [lost.map(({ name }) => name)],
    });
    const seqs = new Map(there.map(({ name, seq }) => [name, seq]));
    for (const { name, commits } of lost)
      for (const commit of commits) verdicts.set(commit, { type: "moved", seq: seqs.get(name) ?? 0 });
  }
  return accepted.flatMap((each) => {
    const id = ids.get(each.name);
    return id === undefined ? [] : [{ ...each, id }];
  });
}

/** Adds bytes to the ends of their runs. The row of a run says where its end is, and is locked until the commit. */
function addRaws(connection: Connection, raws: readonly RawPart[]): Promise<void>[] {
  const runs = new Map<string, { readonly run: RawRun; readonly parts: Uint8Array[] }>();
  for (const { run, bytes } of raws) {
    const name = `${run.conversation}/${run.run}`;
    const known = runs.get(name);
    if (known) known.parts.push(bytes);
    else runs.set(name, { run, parts: [bytes] });
  }
  return [...runs.values()].map(async ({ run, parts }) => {
    const bytes = Buffer.concat(parts);
    const { plain, body } = pack(bytes);
    await connection.run({
      name: "add raw",
      text: `WITH run AS (INSERT INTO blockyard.raw AS r (conversation, key, name, bytes, loose) VALUES ($1, $2, $3, $4::bigint, 1)
          ON CONFLICT (conversation, key) DO UPDATE SET bytes = r.bytes + excluded.bytes, loose = r.loose + 1
          RETURNING id, bytes)
        INSERT INTO blockyard.raw_chunk (raw, at, plain, body) SELECT id, bytes - $4::bigint, $4::bigint, $5 FROM run WHERE $4::bigint > 0`,
      values: [run.conversation, keyOf(run.run), Buffer.from(run.run), plain, body],
    });
  });
}
