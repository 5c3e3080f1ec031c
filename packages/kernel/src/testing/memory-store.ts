/**
 * The store in memory: every op as it came, in plain maps, every query a scan. It is the slow and obvious reference
 * that the other stores are compared with, and the store of simulations and tests. Not durable: it lives as long as
 * the object does, so `close` keeps everything and a "restart" is a new kernel on the same MemoryStore.
 *
 * Invariant: nothing that a caller holds can change what is kept. Values are frozen, not copied, when they come in;
 * bytes cannot be frozen and are copied, both ways.
 */

import { assert } from "../model/assert.ts";
import type { Block } from "../model/block.ts";
import type { Conversation, Turn } from "../model/conversation.ts";
import type { BlockId, ConversationId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { limits } from "../model/limits.ts";
import { type Op, splicesOf } from "../model/op.ts";
import { blobsIn } from "../model/pictures.ts";
import type { Problem } from "../model/problem.ts";
import { MemoryAuditLog } from "../ports/audit.ts";
import { readMissed } from "../ports/missed.ts";
import type {
  BlockLog,
  BlockQuery,
  Commit,
  CommitAnswer,
  Compacted,
  ConversationQuery,
  Deletion,
  DeletionLog,
  LogPoint,
  NodeRegister,
  RawRun,
  SearchAnswer,
  SearchQuery,
  Store,
  TurnedCommit,
} from "../ports/store.ts";
import {
  checkCommit,
  fitsQuery,
  newestBlockFirst,
  newestFirst,
  oldestFirst,
  spliced,
} from "../ports/store-rules.ts";
import { type Clock, fitsSearch, type SearchSource, searchBlocks } from "../search/search.ts";

interface KeptConversation {
  record: Conversation;
  readonly ops: Op[];
  readonly turns: Map<string, Turn>;
  readonly answers: Map<string, Json>;
}

interface KeptBlock {
  record: Block;
  compacted: Compacted | undefined;
  /** Sequence number of the last op that the compaction replaced. */
  compactedSeq: number;
  ops: Op[];
}

export class MemoryStore implements Store {
  readonly epoch: string;
  /** Set where several kernels share this store. */
  nodes?: NodeRegister;
  readonly audit = new MemoryAuditLog();
  readonly #clock: Clock;
  readonly #conversations = new Map<ConversationId, KeptConversation>();
  readonly #blocks = new Map<BlockId, KeptBlock>();
  readonly #raw = new Map<ConversationId, Map<string, Uint8Array[]>>();
  readonly #deletions = new Map<ConversationId, Deletion>();
  readonly #blobs = new Map<string, { readonly mediaType: string; readonly bytes: Uint8Array }>();

  /** Without a clock a search takes the time that it takes. */
  constructor(epoch: string, clock: Clock = () => 0) {
    this.epoch = epoch;
    this.#clock = clock;
  }

  async commit(commit: Commit): Promise<CommitAnswer> {
    return this.#commit(commit);
  }

  #commit(commit: Commit): CommitAnswer {
    const stored = this.#conversations.get(commit.conversation)?.record.seq ?? 0;
    if (stored !== commit.expectedSeq) return { type: "moved", seq: stored };
    // Everything that can be wrong is found before anything is written: that is what makes the commit atomic here.
    checkCommit(commit, (id) => this.#blocks.get(id)?.record.version ?? 0);
    const kept = this.#openConversation(commit);
    for (const op of commit.ops) {
      const frozen = freeze(withOwnBytes(op));
      if (op.block === null) kept.ops.push(frozen);
      else this.#openBlock(op.block, commit.blocks).ops.push(frozen);
    }
    for (const block of commit.blocks) this.#openBlock(block.id, commit.blocks).record = freeze(block);
    for (const turn of commit.turns) kept.turns.set(turn.id, freeze(turn));
    for (const { key, answer } of commit.answers) keepAnswer(kept.answers, key, freeze(answer));
    return { type: "committed" };
  }

  async commitInTurn(turned: TurnedCommit): Promise<CommitAnswer> {
    for (;;) {
      const { conversation } = turned;
      const keys = turned.keys();
      const since = turned.since();
      const missed = await readMissed(this, conversation, since);
      const kept = this.#conversations.get(conversation);
      if ((kept?.record.seq ?? 0) !== (missed?.record.seq ?? since)) continue; // it has moved while it was read
      const answers = new Map<string, Json>();
      for (const key of [...keys, ...turned.moreKeys()]) {
        const answer = kept?.answers.get(key);
        if (answer !== undefined) answers.set(key, answer);
      }
      const commit = turned.plan(missed, answers);
      return commit === undefined ? { type: "committed" } : this.#commit(commit);
    }
  }

  async conversation(id: ConversationId): Promise<Conversation | undefined> {
    return this.#conversations.get(id)?.record;
  }

  async seqs(ids: readonly ConversationId[]): Promise<ReadonlyMap<ConversationId, number>> {
    const known = ids.map((id) => [id, this.#conversations.get(id)?.record.seq] as const);
    return new Map(known.filter((each): each is [ConversationId, number] => each[1] !== undefined));
  }

  async conversations(query: ConversationQuery): Promise<readonly Conversation[]> {
    const title = query.title?.toLowerCase();
    return [...this.#conversations.values()]
      .map((kept) => kept.record)
      .filter((record) => query.before === undefined || record.updatedAt < query.before)
      .filter(({ id }) => !query.except?.includes(id))
      .filter((record) => title === undefined || record.title.toLowerCase().includes(title))
      .sort(newestFirst)
      .slice(0, query.limit);
  }

  async turns(conversation: ConversationId): Promise<readonly Turn[]> {
    return [...(this.#conversations.get(conversation)?.turns.values() ?? [])];
  }

  async answer(conversation: ConversationId, key: string): Promise<Json | undefined> {
    return this.#conversations.get(conversation)?.answers.get(key);
  }

  async block(id: BlockId): Promise<Block | undefined> {
    return this.#blocks.get(id)?.record;
  }

  async blocks(query: BlockQuery): Promise<readonly Block[]> {
    const found = [...this.#blocks.values()]
      .map((kept) => kept.record)
      .filter((block) => fitsQuery(block, query))
      .sort(oldestFirst(query));
    if (query.order === "last") found.reverse();
    return found.slice(0, query.limit);
  }

  async log(block: BlockId, after: LogPoint): Promise<BlockLog> {
    const kept = this.#blocks.get(block);
    const isAfter = (op: Op) => ("version" in after ? op.version > after.version : op.seq > after.seq);
    const ops = (kept?.ops ?? []).filter(isAfter).map(withOwnBytes);
    if (kept?.compacted === undefined) return { ops };
    const replaced =
      "version" in after ? after.version < kept.compacted.version : after.seq < kept.compactedSeq;
    return replaced ? { compacted: withOwnState(kept.compacted), ops } : { ops };
  }

  async text(block: BlockId): Promise<string> {
    const kept = this.#blocks.get(block);
    let text = kept?.compacted?.text ?? "";
    for (const op of kept?.ops ?? []) {
      for (const splice of splicesOf(op)) text = spliced(text, splice);
    }
    return text;
  }

  async conversationOps(conversation: ConversationId, afterSeq: number): Promise<readonly Op[]> {
    return (this.#conversations.get(conversation)?.ops ?? []).filter((op) => op.seq > afterSeq);
  }

  async compact(block: BlockId, compacted: Compacted): Promise<void> {
    const kept = this.#blocks.get(block);
    assert(kept !== undefined, `compaction of ${block}, which does not exist`);
    assert(
      compacted.version <= kept.record.version,
      `compaction of ${block} at ${compacted.version} is past its last version`,
    );
    // A compaction that came late is older than the stored one: its ops are already gone, so it is useless.
    if (kept.compacted !== undefined && compacted.version <= kept.compacted.version) return;
    kept.compacted = freeze(withOwnState(compacted));
    kept.compactedSeq = kept.ops.findLast((op) => op.version <= compacted.version)?.seq ?? kept.compactedSeq;
    kept.ops = kept.ops.filter((op) => op.version > compacted.version);
  }

  async search(query: SearchQuery): Promise<SearchAnswer | Problem> {
    const source: SearchSource = {
      // No filters: every fitting block is searched. That makes this the reference.
      candidates: () =>
        [...this.#blocks.values()]
          .map((kept) => kept.record)
          .filter((block) => fitsSearch(block, query))
          .sort(newestBlockFirst)
          .map((block) => block.id),
      block: (id) => this.block(id),
      text: (id) => this.text(id),
    };
    return searchBlocks(source, query, this.#clock);
  }

  async appendRaw(run: RawRun, bytes: Uint8Array): Promise<void> {
    const runs = this.#raw.get(run.conversation) ?? new Map<string, Uint8Array[]>();
    this.#raw.set(run.conversation, runs);
    const parts = runs.get(run.run) ?? [];
    runs.set(run.run, parts);
    parts.push(bytes.slice());
  }

  async raw(run: RawRun): Promise<Uint8Array> {
    return joined(this.#raw.get(run.conversation)?.get(run.run) ?? []);
  }

  async rawRuns(conversation: ConversationId): Promise<readonly string[]> {
    return [...(this.#raw.get(conversation)?.keys() ?? [])];
  }

  async putBlob(hash: string, mediaType: string, bytes: Uint8Array): Promise<void> {
    if (!this.#blobs.has(hash)) this.#blobs.set(hash, { mediaType, bytes: bytes.slice() });
  }

  async blob(hash: string): Promise<{ readonly mediaType: string; readonly bytes: Uint8Array } | undefined> {
    const kept = this.#blobs.get(hash);
    return kept && { mediaType: kept.mediaType, bytes: kept.bytes.slice() };
  }

  readonly deletions: DeletionLog = {
    note: async (deletion) => {
      if (!this.#deletions.has(deletion.conversation)) this.#deletions.set(deletion.conversation, deletion);
    },
    withdraw: async (conversation) => {
      if (this.#deletions.get(conversation)?.removedAt === undefined) this.#deletions.delete(conversation);
    },
    waiting: async () => [...this.#deletions.values()].filter(({ removedAt }) => removedAt === undefined),
    find: async (conversation) => this.#deletions.get(conversation),
    remove: async (conversation, expectedSeq, at) => this.#remove(conversation, expectedSeq, at),
    clear: async () => undefined,
  };

  async close(): Promise<void> {}

  #remove(conversation: ConversationId, expectedSeq: number, removedAt: number): "removed" | "moved" {
    const kept = this.#conversations.get(conversation);
    const deletion = this.#deletions.get(conversation);
    if (deletion === undefined || kept?.record.seq !== expectedSeq) return "moved";
    const blobs = new Set<string>();
    for (const [id, { record }] of this.#blocks) {
      if (record.conversation !== conversation) continue;
      for (const blob of blobsIn(record.metadata)) blobs.add(blob);
      this.#blocks.delete(id);
    }
    for (const { record } of this.#blocks.values())
      for (const blob of blobsIn(record.metadata)) blobs.delete(blob);
    for (const blob of blobs) this.#blobs.delete(blob);
    this.#conversations.delete(conversation);
    this.#raw.delete(conversation);
    this.#deletions.set(conversation, { ...deletion, removedAt });
    return "removed";
  }

  #openConversation(commit: Commit): KeptConversation {
    const kept = this.#conversations.get(commit.conversation);
    const record = freeze(commit.record);
    if (kept !== undefined) {
      kept.record = record;
      return kept;
    }
    const created = { record, ops: [], turns: new Map(), answers: new Map() };
    this.#conversations.set(commit.conversation, created);
    return created;
  }

  #openBlock(id: BlockId, records: readonly Block[]): KeptBlock {
    const kept = this.#blocks.get(id);
    if (kept !== undefined) return kept;
    const record = records.find((block) => block.id === id) as Block;
    const created = { record, compacted: undefined, compactedSeq: 0, ops: [] };
    this.#blocks.set(id, created);
    return created;
  }
}

function keepAnswer(answers: Map<string, Json>, key: string, answer: Json): void {
  answers.delete(key); // given again: it is the newest now
  answers.set(key, answer);
  for (const oldest of answers.keys()) {
    if (answers.size <= limits.keysPerConversation) return;
    answers.delete(oldest);
  }
}

function withOwnBytes(op: Op): Op {
  if (op.body.type !== "splice") return op;
  return { ...op, body: { ...op.body, update: op.body.update.slice() } };
}

function withOwnState(compacted: Compacted): Compacted {
  return compacted.state === undefined ? compacted : { ...compacted, state: compacted.state.slice() };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Freezes a value and everything in it but bytes. A frozen value is assumed to be frozen throughout. */
function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || value instanceof Uint8Array)
    return value;
  Object.freeze(value);
  for (const item of Object.values(value)) freeze(item);
  return value;
}
