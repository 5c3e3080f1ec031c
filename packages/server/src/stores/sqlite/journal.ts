/**
 * The journal: how commits and raw bytes are written before they reach the tables. One row holds everything that was
 * committed together, as entries in a row:
 *
 *   varint 1 · string conversation · varint expectedSeq · conversation record ·
 *     varint count · count x (string agent/born · block record) ·
 *     varint count · count x (varint n: of the n-th block from 1, or 0: of the conversation · op) ·
 *     varint count · count x json turn · varint count · count x (string key · json answer)
 *   varint 2 · string conversation · string run · bytes
 *   varint 3 · string block id · varint seq, version - unit · number at · varint newlines in the text · string text
 *   varint 4 · varint count · count x (varint units of the block id, of the text · varint seq, version - unit · `at` ·
 *     varint newlines in the text) · string: the block ids and texts of all, one behind the other
 *
 * The third and the fourth are what streams come to, and nearly all there is: appends, by the block's own agent, that change
 * nothing of the records but what every append changes. The fourth has all that came one behind the other, so that their
 * strings are encoded in one go; the third is no longer written. `at` is `varint 0` where it is that of the append before,
 * or `varint 1 · number`.
 *
 * A conversation record is `varint 1 · json`, or, when nothing but its numbers moved, `varint 0 · number updatedAt`. A
 * block record is `varint 1 · json`, or `varint 0 · varint version, seq · number updatedAt · varint chars, newlines`.
 * What a short record leaves out is in the record before it.
 */

import type { Block, Commit, Conversation, Op, OpBody, RawRun, Turn } from "@blockyard/kernel";
import {
  type BlockId,
  type ConversationId,
  conversationOf,
  type Json,
  sameJson,
} from "@blockyard/kernel/plain";
import { ByteReader, type ByteWriter } from "../encoding/bytes.ts";
import { readOp, writeOp } from "../encoding/codec.ts";
import { corrupt } from "../encoding/fault.ts";

const COMMIT = 1;
const RAW = 2;
const STREAMED = 3;
const STREAMS = 4;
const SHORT = 0;
const WHOLE = 1;

/** The records as they were before an entry. */
export interface Before {
  conversation(id: ConversationId): Conversation | undefined;
  block(id: BlockId): Block | undefined;
}

export interface RawEntry {
  readonly run: RawRun;
  readonly bytes: Uint8Array;
}

export function writeCommit(writer: ByteWriter, commit: Commit, before: Before): void {
  const { conversation, record, blocks, ops, turns, answers } = commit;
  writer.varint(COMMIT);
  writer.string(conversation);
  writer.varint(commit.expectedSeq);
  writeConversation(writer, before.conversation(conversation), record);
  writer.varint(blocks.length);
  for (const block of blocks) {
    writer.string(block.id.slice(conversation.length + 1));
    writeBlock(writer, before.block(block.id), block);
  }
  writer.varint(ops.length);
  const places = blocks.length > 1 ? new Map(blocks.map(({ id }, at) => [id, at + 1])) : undefined;
  for (const op of ops) {
    writer.varint(op.block === null ? 0 : (places?.get(op.block) ?? 1));
    writeOp(writer, op);
  }
  writer.varint(turns.length);
  for (const turn of turns) writer.json(turn);
  writer.varint(answers.length);
  for (const { key, answer } of answers) {
    writer.string(key);
    writer.json(answer);
  }
}

export function writeRaw(writer: ByteWriter, { run, bytes }: RawEntry): void {
  writer.varint(RAW);
  writer.string(run.conversation);
  writer.string(run.run);
  writer.bytes(bytes);
}

/** Yields the entries of a row in order. `before` is called after the entries before it were yielded. */
export function readEntries(
  bytes: Uint8Array,
  before: Before,
  take: { commit(commit: Commit): void; raw(entry: RawEntry): void },
): void {
  const reader = new ByteReader(bytes);
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === COMMIT) take.commit(readCommit(reader, before));
    else if (tag === RAW) take.raw(readRaw(reader));
    else if (tag === STREAMED) take.commit(readStreamed(reader, before));
    else if (tag === STREAMS) readStreams(reader, before, take);
    else throw corrupt(`a journal entry of an unknown kind, ${tag}`);
  }
}

function readRaw(reader: ByteReader): RawEntry {
  return { run: { conversation: reader.string(), run: reader.string() }, bytes: reader.bytes() };
}

function readCommit(reader: ByteReader, before: Before): Commit {
  const conversation = reader.string();
  const expectedSeq = reader.varint();
  const short = readConversation(reader, before.conversation(conversation));
  const blocks: Block[] = [];
  for (let count = reader.varint(); count > 0; count--) {
    const id = `${conversation}/${reader.string()}`;
    blocks.push(readBlock(reader, before.block(id), id));
  }
  const ops: Op[] = [];
  for (let count = reader.varint(); count > 0; count--) {
    const place = reader.varint();
    ops.push(readOp(reader, conversation, place === 0 ? null : (blocks[place - 1] as Block).id));
  }
  const turns: Turn[] = [];
  for (let count = reader.varint(); count > 0; count--) turns.push(reader.json<Turn>());
  const answers: { key: string; answer: Json }[] = [];
  for (let count = reader.varint(); count > 0; count--) {
    answers.push({ key: reader.string(), answer: reader.json() });
  }
  const record = { ...short, seq: expectedSeq + ops.length };
  return { conversation, expectedSeq, ops, blocks, record, turns, answers };
}

/** Whether a commit of one op on one block is an append that has a short form. */
export function isStreamed(
  { ops, blocks, record, turns, answers }: Commit,
  conversation: Conversation,
  older: Block,
): boolean {
  const op = ops[0] as Op;
  const block = blocks[0] as Block;
  const { body, at } = op;
  return (
    body.type === "append" &&
    turns.length === 0 &&
    answers.length === 0 &&
    op.agent === block.agent &&
    body.at === older.chars &&
    block.chars === body.at + body.text.length &&
    block.newlines >= older.newlines &&
    block.seq === op.seq &&
    block.updatedAt === at &&
    record.updatedAt === at &&
    onlyGrown(older, block) &&
    onlyNumbersMoved(conversation, record)
  );
}

/** An append in its short form: only what the previous records do not imply. */
export interface StreamedEntry {
  readonly commit: Commit;
  readonly newlines: number;
}

/** Writes the entries from a place on. */
export function writeStreams(writer: ByteWriter, entries: readonly StreamedEntry[], from: number): void {
  writer.varint(STREAMS);
  writer.varint(entries.length - from);
  let last = Number.NaN;
  let strings = "";
  for (let place = from; place < entries.length; place++) {
    const { commit, newlines } = entries[place] as StreamedEntry;
    const { block, body, seq, version, unit, at } = commit.ops[0] as Op;
    const id = block as BlockId;
    const { text } = body as OpBody & { type: "append" };
    writer.varint(id.length);
    writer.varint(text.length);
    writer.varint(seq);
    writer.varint(version - unit);
    if (at === last) writer.varint(0);
    else {
      writer.varint(1);
      writer.number(at);
      last = at;
    }
    writer.varint(newlines);
    strings += id;
    strings += text;
  }
  writer.string(strings);
}

function readStreams(reader: ByteReader, before: Before, take: { commit(commit: Commit): void }): void {
  const read = Array.from({ length: reader.varint() }, () => ({
    idUnits: reader.varint(),
    textUnits: reader.varint(),
    seq: reader.varint(),
    unitAge: reader.varint(),
    at: reader.varint() === 0 ? undefined : reader.number(),
    newlines: reader.varint(),
  }));
  const strings = reader.string();
  let place = 0;
  let last = Number.NaN;
  const next = (units: number) => {
    place += units;
    if (place > strings.length) throw corrupt("a journal entry whose strings end early");
    return strings.slice(place - units, place);
  };
  for (const { idUnits, textUnits, at = last, ...numbers } of read) {
    take.commit(streamedCommit(before, next(idUnits), { ...numbers, at, text: next(textUnits) }));
    last = at;
  }
}

function readStreamed(reader: ByteReader, before: Before): Commit {
  const id = reader.string();
  return streamedCommit(before, id, {
    seq: reader.varint(),
    unitAge: reader.varint(),
    at: reader.number(),
    newlines: reader.varint(),
    text: reader.string(),
  });
}

interface StreamedParts {
  readonly seq: number;
  readonly unitAge: number;
  readonly at: number;
  readonly newlines: number;
  readonly text: string;
}

function streamedCommit(
  before: Before,
  id: BlockId,
  { seq, unitAge, at, newlines, text }: StreamedParts,
): Commit {
  const conversation = conversationOf(id);
  const [older, record] = [before.block(id), before.conversation(conversation)];
  if (older === undefined || record === undefined)
    throw corrupt(`a stream goes on in ${id}, which is not there`);
  const version = older.version + 1;
  const op: Op = {
    conversation,
    seq,
    seqFrom: seq,
    block: id,
    version,
    versionFrom: version,
    agent: older.agent,
    unit: version - unitAge,
    at,
    body: { type: "append", at: older.chars, text },
  };
  const chars = older.chars + text.length;
  const block = { ...older, version, seq, updatedAt: at, chars, newlines: older.newlines + newlines };
  return {
    conversation,
    expectedSeq: seq - 1,
    ops: [op],
    blocks: [block],
    record: { ...record, seq, updatedAt: at },
    turns: [],
    answers: [],
  };
}

function writeConversation(writer: ByteWriter, before: Conversation | undefined, record: Conversation): void {
  if (before !== undefined && onlyNumbersMoved(before, record)) {
    writer.varint(SHORT);
    writer.number(record.updatedAt);
  } else {
    writer.varint(WHOLE);
    writer.json(record);
  }
}

function readConversation(reader: ByteReader, before: Conversation | undefined): Conversation {
  if (reader.varint() === WHOLE) return reader.json<Conversation & Json>();
  if (before === undefined) throw corrupt("a journal entry leaves out a conversation that is not there");
  return { ...before, updatedAt: reader.number() };
}

/** Whether a record differs from the previous one only by `seq` and `updatedAt`. Called at every commit, so it is simple. */
function onlyNumbersMoved(a: Conversation, b: Conversation): boolean {
  return (
    a.title === b.title &&
    a.head === b.head &&
    a.blocks === b.blocks &&
    a.turns === b.turns &&
    a.costUsd === b.costUsd &&
    a.uncounted === b.uncounted &&
    a.provider === b.provider &&
    a.model === b.model &&
    a.forkedFrom === b.forkedFrom &&
    a.createdBy === b.createdBy &&
    a.createdAt === b.createdAt &&
    a.ended === b.ended &&
    sameValue(a.running, b.running) &&
    sameValue(a.asking, b.asking) &&
    sameValue(a.cutAsks, b.cutAsks) &&
    sameValue(a.sessions, b.sessions) &&
    sameValue(a.included, b.included) &&
    sameValue(a.usage, b.usage) &&
    sameValue(a.metadata, b.metadata) &&
    sameValue(a.deleted, b.deleted)
  );
}

// Does not compile when a conversation gets a field that is compared nowhere.
type Compared =
  | "title"
  | "head"
  | "blocks"
  | "turns"
  | "costUsd"
  | "uncounted"
  | "provider"
  | "model"
  | "forkedFrom"
  | "createdBy"
  | "createdAt"
  | "running"
  | "ended"
  | "asking"
  | "cutAsks"
  | "sessions"
  | "included"
  | "usage"
  | "metadata"
  | "deleted";
({}) satisfies Record<Exclude<keyof Conversation, Compared | "id" | "seq" | "updatedAt">, never>;

function sameValue(a: unknown, b: unknown): boolean {
  return a === b || sameJson(a as Json, b as Json);
}

function writeBlock(writer: ByteWriter, before: Block | undefined, block: Block): void {
  if (before === undefined || !onlyGrown(before, block)) {
    writer.varint(WHOLE);
    writer.json(block);
    return;
  }
  writer.varint(SHORT);
  writer.varint(block.version);
  writer.varint(block.seq);
  writer.number(block.updatedAt);
  writer.varint(block.chars);
  writer.varint(block.newlines);
}

function readBlock(reader: ByteReader, before: Block | undefined, id: BlockId): Block {
  if (reader.varint() === WHOLE) return reader.json<Block & Json>();
  if (before === undefined) throw corrupt(`a journal entry leaves out ${id}, which is not there`);
  const version = reader.varint();
  const seq = reader.varint();
  const updatedAt = reader.number();
  return { ...before, version, seq, updatedAt, chars: reader.varint(), newlines: reader.varint() };
}

/** Metadata is compared by identity: a false "no" costs a few bytes, a deep comparison at every append would cost time. */
function onlyGrown(before: Block, block: Block): boolean {
  return (
    before.metadata === block.metadata &&
    before.status === block.status &&
    before.pruned === block.pruned &&
    before.promoted === block.promoted &&
    before.parent === block.parent &&
    before.kind === block.kind &&
    before.role === block.role &&
    before.side === block.side &&
    before.createdAt === block.createdAt
  );
}
