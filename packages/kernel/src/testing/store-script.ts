/**
 * Makes commits without a kernel: what the store's contract, its fault tests and its benches write. It numbers ops and
 * keeps records as the kernel does, for one conversation, and checks nothing.
 */

import { applyOp } from "../model/apply.ts";
import type { Block } from "../model/block.ts";
import { type Conversation, newConversation, type Turn } from "../model/conversation.ts";
import { type AgentId, type BlockId, blockId, type ConversationId } from "../model/ids.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { Kind, Status } from "../model/kind.ts";
import type { Op, OpBody, Splice } from "../model/op.ts";
import type { Commit, CommitAnswer, Store } from "../ports/store.ts";

interface BlockStart {
  readonly kind?: Kind;
  readonly text?: string;
  readonly parent?: BlockId | null;
  readonly status?: Status;
  readonly metadata?: JsonObject;
  readonly agent?: AgentId;
}

export class StoreScript {
  readonly id: ConversationId;
  record: Conversation;
  readonly blocks = new Map<BlockId, Block>();
  /** Wall clock of the next ops; moves by one with every op. */
  now = 1_700_000_000_000;
  #seq = 0;
  #ops: Op[] = [];
  #turns: Turn[] = [];
  #answers: { key: string; answer: Json }[] = [];

  constructor(id: ConversationId, agent: AgentId = "ada") {
    this.id = id;
    this.record = newConversation(id, agent, this.now);
  }

  /** The number of the next op. */
  get nextSeq(): number {
    return this.#seq + 1;
  }

  create(start: BlockStart = {}): BlockId {
    const agent = start.agent ?? "model";
    const id = blockId(this.id, agent, this.nextSeq);
    this.#add(id, agent, {
      type: "create",
      kind: start.kind ?? "text",
      role: "model",
      parent: start.parent ?? null,
      side: false,
      status: start.status ?? "pending",
      text: start.text ?? "",
      metadata: start.metadata ?? {},
    });
    this.record = { ...this.record, blocks: this.record.blocks + 1, head: id };
    return id;
  }

  /** `unit`: the version of the first append of the same session; without it, a unit of its own. */
  append(id: BlockId, text: string, unit?: number): Op {
    const block = this.block(id);
    return this.#add(id, block.agent, { type: "append", at: block.chars, text }, unit);
  }

  promote(id: BlockId): Op {
    return this.#add(id, this.block(id).agent, { type: "promote" });
  }

  splice(id: BlockId, agent: AgentId, splices: readonly Splice[], update: Uint8Array, more: object = {}): Op {
    return this.#add(id, agent, { type: "splice", splices, update, ...more });
  }

  status(id: BlockId, status: Status, metadata: JsonObject = {}): Op {
    return this.#add(id, this.block(id).agent, { type: "status", status, metadata });
  }

  meta(id: BlockId, metadata: JsonObject): Op {
    return this.#add(id, this.block(id).agent, { type: "meta", metadata });
  }

  prune(id: BlockId, pruned: boolean): Op {
    return this.#add(id, this.block(id).agent, { type: "prune", pruned });
  }

  title(title: string): Op {
    this.record = { ...this.record, title };
    return this.#add(null, "ada", { type: "conversation", patch: { title } });
  }

  turn(turn: Turn): Op {
    this.#turns.push(turn);
    return this.#add(null, turn.agent, { type: "turn", turn });
  }

  answer(key: string, answer: Json): void {
    this.#answers.push({ key, answer });
  }

  block(id: BlockId): Block {
    return this.blocks.get(id) as Block;
  }

  /** Everything since the last one, as a commit. */
  take(): Commit {
    const ops = this.#ops;
    const touched = new Set(ops.flatMap((op) => op.block ?? []));
    this.record = { ...this.record, seq: this.#seq, updatedAt: ops.at(-1)?.at ?? this.now };
    const commit: Commit = {
      conversation: this.id,
      expectedSeq: this.#seq - ops.length,
      ops,
      blocks: [...touched].map((id) => this.block(id)),
      record: this.record,
      turns: this.#turns,
      answers: this.#answers,
    };
    this.#ops = [];
    this.#turns = [];
    this.#answers = [];
    return commit;
  }

  commit(store: Store): Promise<CommitAnswer> {
    return store.commit(this.take());
  }

  #add(block: BlockId | null, agent: AgentId, body: OpBody, unit?: number): Op {
    const seq = ++this.#seq;
    const before = block === null ? undefined : this.blocks.get(block);
    const version = block === null ? 0 : (before?.version ?? 0) + 1;
    const op: Op = {
      conversation: this.id,
      seq,
      seqFrom: seq,
      block,
      version,
      versionFrom: version,
      agent,
      unit: unit ?? version,
      at: this.now++,
      body,
    };
    this.#ops.push(op);
    if (block !== null) this.blocks.set(block, applyOp(before, op));
    return op;
  }
}
