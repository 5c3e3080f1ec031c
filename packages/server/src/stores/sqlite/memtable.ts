/**
 * The memtable: what is in the journal and not in the tables yet, in memory, as heads. A head is a conversation, a block or
 * a raw run with its newest record and the ops or bytes that the tables lack; flush.ts writes heads into the tables.
 *
 * Heads that the tables have completely are kept as well, up to a bound, because the next write to the same block
 * needs its record.
 *
 * Invariants: tables + pending = everything that was acknowledged. A head is in `dirty` exactly while it has something
 * that the tables lack; `since` is then the first journal row that it still needs, and `dirty` is in that order.
 */

import type { Block, Commit, Conversation, Op, RawRun, Turn } from "@blockyard/kernel";
import {
  type BlockId,
  type ConversationId,
  continues,
  isEnded,
  type Json,
  parseBlockId,
} from "@blockyard/kernel/plain";
import { joinRun } from "../encoding/runs.ts";
import type { Before, RawEntry, StreamedEntry } from "./journal.ts";
import { CLEAN_HEADS, OP_BYTES, WORTHWHILE_BYTES } from "./limits.ts";
import type { Tables } from "./tables.ts";

interface Head {
  /** Its number in the tables; assigned before it is there. */
  readonly row: number;
  /** Whether the tables have a row of it. */
  stored: boolean;
  /** The last journal row whose changes are in the tables. */
  flushed: number;
  /** The first journal row with unflushed changes, and the last one that changed it. 0: none. */
  since: number;
  changed: number;
  pendingBytes: number;
}

export interface ConversationHead extends Head {
  readonly type: "conversation";
  record: Conversation;
  /** The record as the current batch will leave it (batch.ts). */
  drafted: Conversation | undefined;
  /** Sequence number of the last own op in the tables. */
  ops: number;
  pending: Op[];
  readonly turns: Map<string, Turn>;
  readonly answers: Map<string, Json>;
}

export class BlockHead implements Head {
  readonly type = "block";
  readonly row: number;
  stored = false;
  flushed = 0;
  since = 0;
  changed = 0;
  pendingBytes = 0;
  record: Block;
  drafted: Block | undefined = undefined;
  #pending: Op[] = [];
  /** A stream's appends that continue each other: the first, the last, and the text of all. They become one op later. */
  #first: Op | undefined = undefined;
  #last: Op | undefined = undefined;
  #text = "";

  constructor(row: number, record: Block) {
    this.row = row;
    this.record = record;
  }

  get pending(): readonly Op[] {
    this.#endRun();
    return this.#pending;
  }

  add(op: Op): void {
    const { body } = op;
    if (this.#last !== undefined && body.type === "append" && continues(this.#last, op)) {
      this.#last = op;
      this.#text += body.text;
      return;
    }
    this.#endRun();
    if (body.type !== "append") this.#pending.push(op);
    else {
      this.#first = this.#last = op;
      this.#text = body.text;
    }
  }

  clear(): void {
    this.#pending = [];
    this.#first = this.#last = undefined;
    this.#text = "";
  }

  #endRun(): void {
    if (this.#first === undefined) return;
    const last = this.#last as Op;
    this.#pending.push(this.#first === last ? last : joinRun(this.#first, last, this.#text));
    this.#first = this.#last = undefined;
    this.#text = "";
  }
}

export interface RawHead extends Head {
  readonly type: "raw";
  readonly run: RawRun;
  readonly drafted: undefined;
  /** Bytes in the tables. */
  bytes: number;
  pending: Uint8Array[];
}

export type AnyHead = ConversationHead | BlockHead | RawHead;

/** One append, with the heads of its conversation and block. */
export interface Streamed extends StreamedEntry {
  readonly conversation: ConversationHead;
  readonly block: BlockHead;
}

export class Memtable implements Before {
  readonly #tables: Tables;
  readonly #conversations = new Map<ConversationId, ConversationHead>();
  readonly #blocks = new Map<BlockId, BlockHead>();
  readonly #raws = new Map<string, RawHead>();
  readonly dirty = new Set<AnyHead>();
  /** Those of them that are worth flushing; the others rather wait. */
  readonly worthwhile = new Set<AnyHead>();
  /** Roughly how much is pending. */
  pendingBytes = 0;
  #lastRow: number;

  constructor(tables: Tables) {
    this.#tables = tables;
    this.#lastRow = tables.lastId();
  }

  conversation(id: ConversationId): Conversation | undefined {
    return this.conversationHead(id)?.record;
  }

  block(id: BlockId): Block | undefined {
    return this.blockHead(id)?.record;
  }

  /** The head if it is in memory. */
  knownConversation(id: ConversationId): ConversationHead | undefined {
    return this.#conversations.get(id);
  }

  knownBlock(id: BlockId): BlockHead | undefined {
    return this.#blocks.get(id);
  }

  conversationHead(id: ConversationId): ConversationHead | undefined {
    const known = this.#conversations.get(id);
    if (known !== undefined) return known;
    const row = this.#tables.conversation(id);
    if (row === undefined) return undefined;
    const head = conversationHead(row.id, row.record);
    head.stored = true;
    head.ops = row.ops;
    head.flushed = head.changed = row.journal;
    return remember(this.#conversations, id, head);
  }

  blockHead(id: BlockId): BlockHead | undefined {
    const known = this.#blocks.get(id);
    if (known !== undefined) return known;
    const parts = parseBlockId(id);
    const conversation = parts && this.conversationHead(parts.conversation);
    if (parts === undefined || !conversation?.stored) return undefined;
    const row = this.#tables.block(conversation.row, parts.conversation, parts.seq);
    if (row === undefined || row.record.id !== id) return undefined;
    const head = new BlockHead(row.id, row.record);
    head.stored = true;
    head.flushed = head.changed = row.journal;
    return remember(this.#blocks, id, head);
  }

  rawHead(run: RawRun): RawHead | undefined {
    const name = rawName(run);
    const known = this.#raws.get(name);
    if (known !== undefined) return known;
    const row = this.#tables.raw(run.conversation, run.run);
    if (row === undefined) return undefined;
    const head = rawHead(row.id, run);
    head.stored = true;
    head.bytes = row.bytes;
    head.flushed = head.changed = row.journal;
    return remember(this.#raws, name, head);
  }

  dirtyBlocks(): Block[] {
    return this.dirtyBlockHeads().map((head) => head.record);
  }

  dirtyBlockHeads(): BlockHead[] {
    return [...this.dirty].filter((head) => head.type === "block");
  }

  dirtyConversations(): Conversation[] {
    const conversations: Conversation[] = [];
    for (const head of this.dirty) if (head.type === "conversation") conversations.push(head.record);
    return conversations;
  }

  dirtyRaws(): RawHead[] {
    return [...this.dirty].filter((head) => head.type === "raw");
  }

  /** Applies a commit that journal row `journal` holds. Parts that the tables have already are skipped. */
  applyCommit(journal: number, commit: Commit): void {
    const conversation = this.#openConversation(commit);
    if (conversation.flushed < journal) {
      conversation.record = commit.record;
      for (const turn of commit.turns) conversation.turns.set(turn.id, turn);
      for (const { key, answer } of commit.answers) {
        conversation.answers.delete(key);
        conversation.answers.set(key, answer);
      }
      this.#touch(conversation, journal, OP_BYTES * (1 + commit.answers.length + commit.turns.length));
    }
    const heads = commit.blocks.length > 1 ? new Map<BlockId, BlockHead>() : undefined;
    let last: BlockHead | undefined;
    for (const record of commit.blocks) {
      last = this.#openBlock(record);
      heads?.set(record.id, last);
      if (last.flushed >= journal) continue;
      last.record = record;
      this.#touch(last, journal, 0);
    }
    for (const op of commit.ops) {
      const head = op.block === null ? conversation : (heads?.get(op.block) ?? (last as BlockHead));
      if (head.flushed >= journal) continue;
      if (head.type === "block") head.add(op);
      else head.pending.push(op);
      this.#touch(head, journal, OP_BYTES + opChars(op));
    }
  }

  /** The same for a stream's write, whose heads the batch has looked up. */
  applyStreamed(journal: number, { commit, conversation, block }: Streamed): void {
    const op = commit.ops[0] as Op;
    conversation.record = commit.record;
    this.#touch(conversation, journal, conversation.since === 0 ? OP_BYTES : 0);
    block.record = commit.blocks[0] as Block;
    block.add(op);
    this.#touch(block, journal, opChars(op)); // as part of a run it costs its text and nothing else
  }

  applyRaw(journal: number, { run, bytes }: RawEntry): void {
    const name = rawName(run);
    const head = this.rawHead(run) ?? remember(this.#raws, name, rawHead(++this.#lastRow, run));
    if (head.flushed >= journal) return;
    head.pending.push(bytes);
    this.#touch(head, journal, bytes.length);
  }

  /** Marks all of the head's changes as flushed. */
  flushed(head: AnyHead): void {
    this.pendingBytes -= head.pendingBytes;
    head.stored = true;
    head.flushed = head.changed;
    head.pendingBytes = 0;
    head.since = 0;
    if (head.type === "raw") head.bytes += head.pending.reduce((sum, part) => sum + part.length, 0);
    if (head.type === "conversation") {
      head.ops = head.pending.at(-1)?.seq ?? head.ops;
      head.turns.clear();
      head.answers.clear();
    }
    if (head.type === "block") head.clear();
    else head.pending = [];
    this.dirty.delete(head);
    this.worthwhile.delete(head);
  }

  /** Drops a conversation that was removed from the tables. All of it was flushed. */
  forget(conversation: ConversationId): void {
    const prefix = `${conversation}/`;
    this.#conversations.delete(conversation);
    for (const id of this.#blocks.keys()) if (id.startsWith(prefix)) this.#blocks.delete(id);
    for (const name of this.#raws.keys()) if (name.startsWith(prefix)) this.#raws.delete(name);
  }

  /** The first journal row that is still needed, if any. */
  firstNeeded(): number | undefined {
    for (const head of this.dirty) return head.since;
    return undefined;
  }

  #openConversation({ conversation: id, record }: Commit): ConversationHead {
    const known = this.conversationHead(id);
    return known ?? remember(this.#conversations, id, conversationHead(++this.#lastRow, record));
  }

  #openBlock(record: Block): BlockHead {
    const known = this.blockHead(record.id);
    return known ?? remember(this.#blocks, record.id, new BlockHead(++this.#lastRow, record));
  }

  #touch(head: AnyHead, journal: number, bytes: number): void {
    if (head.since === 0) {
      head.since = journal;
      this.dirty.add(head);
    }
    head.changed = journal;
    head.pendingBytes += bytes;
    this.pendingBytes += bytes;
    if (head.pendingBytes >= WORTHWHILE_BYTES || (head.type === "block" && isEnded(head.record.status)))
      this.worthwhile.add(head);
  }
}

function conversationHead(row: number, record: Conversation): ConversationHead {
  return {
    type: "conversation",
    ...cleanHead(row),
    record,
    drafted: undefined,
    ops: 0,
    pending: [],
    turns: new Map(),
    answers: new Map(),
  };
}

function rawHead(row: number, run: RawRun): RawHead {
  return { type: "raw", ...cleanHead(row), run, drafted: undefined, bytes: 0, pending: [] };
}

function cleanHead(row: number): Head {
  return { row, stored: false, flushed: 0, since: 0, changed: 0, pendingBytes: 0 };
}

/** Adds a head, and drops the oldest clean ones when there are many. */
function remember<H extends AnyHead>(heads: Map<string, H>, name: string, head: H): H {
  heads.set(name, head);
  if (heads.size <= CLEAN_HEADS) return head;
  for (const [other, { since, stored, drafted }] of heads) {
    if (heads.size <= CLEAN_HEADS * 0.75) break;
    if (since === 0 && stored && drafted === undefined && other !== name) heads.delete(other);
  }
  return head;
}

function rawName({ conversation, run }: RawRun): string {
  return `${conversation}/${run}`;
}

function opChars(op: Op): number {
  const { body } = op;
  switch (body.type) {
    case "append":
      return body.text.length;
    case "create":
      return body.text.length + 64;
    case "splice":
      return (
        body.update.length + body.splices.reduce((sum, { del, ins }) => sum + del.length + ins.length, 0)
      );
    default:
      return 64;
  }
}
