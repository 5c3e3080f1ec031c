/**
 * The base state of one conversation: its committed state as far as this node knows it, on which drafts are planned. It loads
 * missing parts, and applies commits of this node and of others. It has no queue and emits nothing.
 *
 * Between batches, record, blocks, turns and texts all belong to one seq. A draft never gets a text whose version differs from
 * its block's record.
 */

import type { Block } from "../model/block.ts";
import { type Conversation, newConversation, type Turn } from "../model/conversation.ts";
import type { AgentId, BlockId, ConversationId } from "../model/ids.ts";
import type { Op } from "../model/op.ts";
import type { Problem } from "../model/problem.ts";
import type { Env } from "../ports/env.ts";
import type { Commit, Missed, Store } from "../ports/store.ts";
import type { BlockText } from "../text/block-text.ts";
import type { TextCache } from "../text/text-cache.ts";
import { BlockRecords } from "./block-records.ts";
import { removedProblem } from "./deletions.ts";
import type { Draft } from "./draft.ts";
import type { DraftBase, DraftedUnit } from "./draft-base.ts";
import { OpenUnits } from "./open-units.ts";
import type { Queued } from "./write.ts";

export class BaseState implements DraftBase {
  readonly conversation: ConversationId;
  /** The write that is being planned, or will be planned first. */
  planning: Queued | undefined;
  readonly #env: Env;
  readonly #store: Store;
  readonly #texts: TextCache;
  #committed: Conversation | undefined;
  #removed: Problem | undefined;
  readonly #blocks = new BlockRecords();
  readonly #turns = new Map<string, Turn>();
  readonly #units: OpenUnits;

  constructor(conversation: ConversationId, env: Env, store: Store, texts: TextCache) {
    this.conversation = conversation;
    this.#env = env;
    this.#store = store;
    this.#texts = texts;
    this.#units = new OpenUnits(() => env.monotonic());
  }

  /** The committed record, if it exists and is loaded. */
  get committed(): Conversation | undefined {
    return this.#committed;
  }

  /** Set if the conversation was removed: its id is never used again. */
  get removed(): Problem | undefined {
    return this.#removed;
  }

  /** The record to plan on: a new one if nothing is committed. */
  get record(): Conversation {
    return this.#committed ?? newConversation(this.conversation, this.planning?.agent ?? "", this.#env.now());
  }

  block(id: BlockId): Block | null | undefined {
    return this.#blocks.get(id);
  }

  turn(id: string): Turn | undefined {
    return this.#turns.get(id);
  }

  text(id: BlockId): BlockText | undefined {
    const text = this.#texts.peek(id);
    if (text === undefined) return undefined;
    return text.committed.version === (this.#blocks.get(id)?.version ?? 0) ? text : undefined;
  }

  /** Whether a text is in memory, in any version. */
  hasText(id: BlockId): boolean {
    return this.#texts.peek(id) !== undefined;
  }

  isFresh(): boolean {
    return this.planning?.isFresh === true;
  }

  openUnit(block: BlockId, agent: AgentId, type: "append" | "burst"): number | undefined {
    return this.#units.get(block, agent, type);
  }

  /** Reads the record and the turns. */
  async load(): Promise<void> {
    this.#committed = await this.#store.conversation(this.conversation);
    this.#turns.clear();
    this.#removed = this.#committed ? undefined : await removedProblem(this.#store, this.conversation);
    if (this.#committed)
      for (const turn of await this.#store.turns(this.conversation)) this.#turns.set(turn.id, turn);
  }

  async loadBlock(id: BlockId): Promise<void> {
    const block = await this.#store.block(id);
    this.#blocks.set(id, block ?? null);
    if (block) this.#texts.outdate(id, block.version);
  }

  async loadText(id: BlockId, hasUndo = false): Promise<BlockText> {
    const text = await this.#texts.load(id);
    if (hasUndo) await this.#texts.loadUndo(id);
    return text;
  }

  /** Whether the record is older than a loaded text, because another node has written to the block. */
  async isBehind(text: BlockText): Promise<boolean> {
    const { id } = text;
    if (this.#blocks.get(id) === undefined) await this.loadBlock(id);
    const known = this.#blocks.get(id)?.version ?? 0;
    if (text.committed.version === known) return false;
    this.#texts.drop(text); // text or record is outdated
    return text.committed.version > known;
  }

  /** A batch was committed. `draft` is undefined if a piece took the fast path. */
  applyCommit(
    { record, blocks, turns }: Commit,
    draft: Draft | undefined,
    units: readonly DraftedUnit[],
  ): void {
    this.#committed = record;
    for (const block of blocks) this.#blocks.set(block.id, block);
    for (const turn of turns) this.#turns.set(turn.id, turn);
    if (draft !== undefined && draft.touched.size > 0) this.#commitTexts(draft);
    for (const block of blocks) this.#texts.outdate(block.id, block.version);
    if (units.length > 0) this.#units.take(units);
  }

  #commitTexts(draft: Draft): void {
    for (const text of draft.touched) {
      if (draft.invalidated.has(text)) continue;
      text.commit();
      if (isStreamed(text, draft.ops)) this.#texts.grew(text);
      else this.#texts.used(text);
    }
  }

  /** Another node has committed: replaces outdated state. */
  absorb({ record, turns, blocks }: Missed): void {
    this.#committed = record;
    for (const turn of turns) this.#turns.set(turn.id, turn);
    for (const block of blocks) {
      this.#blocks.set(block.id, block);
      this.#texts.dropId(block.id);
    }
    this.#units.clear();
  }

  /** Drops texts that a draft has changed and that will not be committed. */
  dropTexts(texts: ReadonlySet<BlockText>): void {
    for (const text of texts) this.#texts.drop(text);
  }
}

/** Whether only a stream wrote to the text: streams do not read it, so it need not stay in memory. */
function isStreamed({ id }: BlockText, ops: readonly Op[]): boolean {
  return ops.every((op) => op.block !== id || op.body.type === "append");
}
