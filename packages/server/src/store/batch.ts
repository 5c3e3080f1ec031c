/**
 * A batch: the commits that arrive while the one before is being written. They are checked and encoded as they arrive,
 * each on top of the ones before it, and become one row of the journal, so that one sync of the device serves them all.
 * Nothing outside the batch changes before that row is durable.
 */

import {
  type Block,
  type BlockId,
  type Commit,
  type CommitAnswer,
  type Conversation,
  type ConversationId,
  checkCommit,
  type Op,
} from "@blockyard/kernel";
import { ByteWriter } from "./bytes.ts";
import { type Before, type RawEntry, writeCommit, writeRaw } from "./journal.ts";
import type { Young } from "./young.ts";

/** A buffer that grew beyond this for one large commit is not kept for the next. */
const KEPT_BYTES = 4 * 1024 * 1024;

export class Batch implements Before {
  readonly #young: Young;
  #writer = new ByteWriter(64 * 1024);
  readonly #conversations = new Map<ConversationId, Conversation>();
  readonly #blocks = new Map<BlockId, Block>();
  #entries: ({ readonly commit: Commit } | { readonly raw: RawEntry })[] = [];

  constructor(young: Young) {
    this.#young = young;
  }

  get bytes(): number {
    return this.#writer.length;
  }

  get touched(): number {
    return this.#conversations.size + this.#blocks.size;
  }

  conversation(id: ConversationId): Conversation | undefined {
    return this.#conversations.get(id) ?? this.#young.conversation(id);
  }

  block(id: BlockId): Block | undefined {
    return this.#blocks.get(id) ?? this.#young.block(id);
  }

  /** Takes the commit in if it fits. What it is made of may change afterwards; the batch has it encoded. */
  add(given: Commit): CommitAnswer {
    const seq = this.conversation(given.conversation)?.seq ?? 0;
    if (seq !== given.expectedSeq) return { type: "moved", seq };
    checkCommit(given, (id) => this.block(id)?.version ?? 0);
    const commit = given.ops.some(hasBytes) ? { ...given, ops: given.ops.map(withOwnBytes) } : given;
    this.#write(() => writeCommit(this.#writer, commit, this));
    this.#conversations.set(commit.conversation, commit.record);
    for (const block of commit.blocks) this.#blocks.set(block.id, block);
    this.#entries.push({ commit });
    return { type: "committed" };
  }

  addRaw(entry: RawEntry): void {
    const raw = { run: { ...entry.run }, bytes: entry.bytes.slice() };
    this.#write(() => writeRaw(this.#writer, raw));
    this.#entries.push({ raw });
  }

  /** The journal row. */
  body(): Uint8Array {
    return this.#writer.view();
  }

  /** Hands everything to the young, now that the journal row is durable. */
  apply(journal: number): void {
    for (const entry of this.#entries) {
      if ("commit" in entry) this.#young.applyCommit(journal, entry.commit);
      else this.#young.applyRaw(journal, entry.raw);
    }
  }

  clear(): void {
    this.#conversations.clear();
    this.#blocks.clear();
    this.#entries = [];
    if (this.#writer.length > KEPT_BYTES) this.#writer = new ByteWriter(64 * 1024);
    else this.#writer.rewind(0);
  }

  #write(write: () => void): void {
    const before = this.#writer.length;
    try {
      write();
    } catch (error) {
      this.#writer.rewind(before);
      throw error;
    }
  }
}

function hasBytes(op: Op): boolean {
  return op.body.type === "splice";
}

function withOwnBytes(op: Op): Op {
  return op.body.type === "splice" ? { ...op, body: { ...op.body, update: op.body.update.slice() } } : op;
}
