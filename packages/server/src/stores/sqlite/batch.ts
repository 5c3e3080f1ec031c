/**
 * A batch: the commits that arrive while the one before is being written. They are checked and encoded as they arrive,
 * each on top of the ones before it, and become one row of the journal, so that one sync of the device serves them all.
 * Nothing outside the batch changes before that row is durable.
 */

import type { Block, Commit, CommitAnswer, Conversation, Op } from "@blockyard/kernel";
import { type BlockId, type ConversationId, checkCommit, checkLone } from "@blockyard/kernel/plain";
import { ByteWriter } from "../encoding/bytes.ts";
import { type Before, isStreamed, type RawEntry, writeCommit, writeRaw, writeStreams } from "./journal.ts";
import type { BlockHead, ConversationHead, Memtable, Streamed } from "./memtable.ts";

const COMMITTED: CommitAnswer = { type: "committed" };

export class Batch implements Before {
  readonly #memtable: Memtable;
  readonly #writer = new ByteWriter(64 * 1024);
  /** The heads whose next records are drafted here; the records of what has no head yet are in the maps. */
  #heads: (ConversationHead | BlockHead)[] = [];
  readonly #conversations = new Map<ConversationId, Conversation>();
  readonly #blocks = new Map<BlockId, Block>();
  #entries: (Streamed | { readonly commit: Commit } | { readonly raw: RawEntry })[] = [];
  /** How many of them are encoded: appends are encoded together, as late as possible. */
  #encoded = 0;

  constructor(memtable: Memtable) {
    this.#memtable = memtable;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  get touched(): number {
    return this.#heads.length + this.#conversations.size + this.#blocks.size;
  }

  conversation(id: ConversationId): Conversation | undefined {
    const made = this.#conversations.size > 0 ? this.#conversations.get(id) : undefined;
    if (made !== undefined) return made;
    const head = this.#memtable.conversationHead(id);
    return head?.drafted ?? head?.record;
  }

  block(id: BlockId): Block | undefined {
    const made = this.#blocks.size > 0 ? this.#blocks.get(id) : undefined;
    if (made !== undefined) return made;
    const head = this.#memtable.blockHead(id);
    return head?.drafted ?? head?.record;
  }

  /** Takes the commit in if it fits. The bytes that it is made of may change afterwards: the batch has its own. */
  add(commit: Commit): CommitAnswer {
    return this.#addStreamed(commit) ?? this.#addAny(commit);
  }

  /** The fast path for streams: one append to a known block in a known conversation. */
  #addStreamed(commit: Commit): CommitAnswer | undefined {
    const { conversation, expectedSeq, ops, blocks, record } = commit;
    const block = blocks[0];
    if (ops.length !== 1 || blocks.length !== 1 || ops[0]?.block !== block?.id) return undefined;
    const conversationHead = this.#memtable.knownConversation(conversation);
    const blockHead = block && this.#memtable.knownBlock(block.id);
    if (conversationHead === undefined || blockHead === undefined) return undefined;
    const recordBefore = conversationHead.drafted ?? conversationHead.record;
    const older = blockHead.drafted ?? blockHead.record;
    if (recordBefore.seq !== expectedSeq) return { type: "moved", seq: recordBefore.seq };
    checkLone(commit, older.version);
    if (!isStreamed(commit, recordBefore, older)) return undefined;
    this.#draft(conversationHead, record);
    this.#draft(blockHead, block as Block);
    const newlines = (block as Block).newlines - older.newlines;
    this.#entries.push({ commit, newlines, conversation: conversationHead, block: blockHead });
    return COMMITTED;
  }

  #addAny(given: Commit): CommitAnswer {
    const seq = this.conversation(given.conversation)?.seq ?? 0;
    if (seq !== given.expectedSeq) return { type: "moved", seq };
    checkCommit(given, (id) => this.block(id)?.version ?? 0);
    this.#encodeStreams();
    const commit = given.ops.some(hasBytes) ? { ...given, ops: given.ops.map(withOwnBytes) } : given;
    const before = this.#writer.length;
    try {
      writeCommit(this.#writer, commit, this);
    } catch (error) {
      this.#writer.rewind(before);
      throw error;
    }
    const { record } = commit;
    const owner = this.#conversations.has(record.id) ? undefined : this.#memtable.conversationHead(record.id);
    if (owner) this.#draft(owner, record);
    else this.#conversations.set(record.id, record);
    for (const block of commit.blocks) {
      const head = this.#blocks.has(block.id) ? undefined : this.#memtable.blockHead(block.id);
      if (head) this.#draft(head, block);
      else this.#blocks.set(block.id, block);
    }
    this.#entries.push({ commit });
    this.#encoded++;
    return COMMITTED;
  }

  #draft(head: ConversationHead, record: Conversation): void;
  #draft(head: BlockHead, record: Block): void;
  #draft(head: ConversationHead | BlockHead, record: Conversation | Block): void {
    if (head.drafted === undefined) this.#heads.push(head);
    head.drafted = record;
  }

  addRaw(entry: RawEntry): void {
    const raw = { run: { ...entry.run }, bytes: entry.bytes.slice() };
    this.#encodeStreams();
    writeRaw(this.#writer, raw);
    this.#entries.push({ raw });
    this.#encoded++;
  }

  /** The journal row. */
  body(): Uint8Array {
    this.#encodeStreams();
    return this.#writer.view();
  }

  #encodeStreams(): void {
    const { length } = this.#entries;
    if (this.#encoded === length) return;
    writeStreams(this.#writer, this.#entries as Streamed[], this.#encoded);
    this.#encoded = length;
  }

  /** Hands everything to the memtable, now that the journal row is durable. */
  apply(journal: number): void {
    for (const entry of this.#entries) {
      if ("block" in entry) this.#memtable.applyStreamed(journal, entry);
      else if ("commit" in entry) this.#memtable.applyCommit(journal, entry.commit);
      else this.#memtable.applyRaw(journal, entry.raw);
    }
  }

  clear(): void {
    for (const head of this.#heads) head.drafted = undefined;
    this.#heads = [];
    this.#conversations.clear();
    this.#blocks.clear();
    this.#entries = [];
    this.#encoded = 0;
    this.#writer.clear();
  }
}

function hasBytes(op: Op): boolean {
  return op.body.type === "splice";
}

function withOwnBytes(op: Op): Op {
  return op.body.type === "splice" ? { ...op, body: { ...op.body, update: op.body.update.slice() } } : op;
}
