/**
 * The changes of a draft's plans so far: ops, blocks, turns, undo steps and the conversation's record. One plan can be rolled
 * back as if it had not run; the texts that it changed are invalidated and loaded again.
 *
 * It checks nothing: the draft does.
 */

import type { Block } from "../model/block.ts";
import type { Conversation, Turn } from "../model/conversation.ts";
import type { AgentId, BlockId } from "../model/ids.ts";
import type { Op } from "../model/op.ts";
import type { BlockText } from "../text/block-text.ts";
import type { DraftedUnit } from "./draft-base.ts";

/** For the rollback of one plan: the replaced values, newest last. */
type Replaced =
  | { readonly block: BlockId; readonly before: Block | undefined }
  | { readonly turn: string; readonly before: Turn | undefined };

// Never added to.
const NO_OPS: Op[] = [];
const NO_UNITS: DraftedUnit[] = [];
const NO_TEXTS: ReadonlySet<BlockText> = new Set();
const NO_BLOCKS: readonly Block[] = [];
const NO_TURNS: readonly Turn[] = [];

export class DraftChanges {
  /** The record after all changes. */
  record: Conversation;
  // Most drafts are one append to a text that is not loaded, and they are very frequent, so collections are created only when
  // they are needed. An array literal with one element allocates no spare capacity; an empty one that grows does.
  #ops: Op[] = NO_OPS;
  #units: DraftedUnit[] = NO_UNITS;
  #touched: Set<BlockText> | undefined;
  #invalidated: Set<BlockText> | undefined;
  #turns: Map<string, Turn> | undefined;
  /** The drafted blocks in the order of their first change: a single one here, several in `#blocks`. */
  #block: Block | undefined;
  #blocks: Map<BlockId, Block> | undefined;
  // State before the current plan.
  #opsBefore = 0;
  #unitsBefore = 0;
  #recordBefore: Conversation;
  #blockBefore: Block | undefined;
  #hadBlocks = false;
  #replaced: Replaced[] | undefined;
  #touchedNow: BlockText[] | undefined;

  constructor(record: Conversation) {
    this.record = record;
    this.#recordBefore = record;
  }

  get ops(): readonly Op[] {
    return this.#ops;
  }

  get units(): readonly DraftedUnit[] {
    return this.#units;
  }

  get blocks(): readonly Block[] {
    if (this.#blocks) return [...this.#blocks.values()];
    return this.#block ? [this.#block] : NO_BLOCKS;
  }

  get turns(): readonly Turn[] {
    return this.#turns ? [...this.#turns.values()] : NO_TURNS;
  }

  /** Texts that were changed. */
  get touched(): ReadonlySet<BlockText> {
    return this.#touched ?? NO_TEXTS;
  }

  /** Texts that a rolled-back plan has changed. */
  get invalidated(): ReadonlySet<BlockText> {
    return this.#invalidated ?? NO_TEXTS;
  }

  isInvalidated(text: BlockText): boolean {
    return this.#invalidated?.has(text) === true;
  }

  block(id: BlockId): Block | undefined {
    if (this.#blocks) return this.#blocks.get(id);
    return this.#block?.id === id ? this.#block : undefined;
  }

  turn(id: string): Turn | undefined {
    return this.#turns?.get(id);
  }

  /** An agent's newest undo step in a block. */
  unitOf(id: BlockId, agent: AgentId): DraftedUnit | undefined {
    for (let at = this.#units.length - 1; at >= 0; at--) {
      const unit = this.#units[at] as DraftedUnit;
      if (unit.block === id && unit.agent === agent) return unit;
    }
    return undefined;
  }

  addOp(op: Op): void {
    if (this.#ops === NO_OPS) this.#ops = [op];
    else this.#ops.push(op);
  }

  addUnit(unit: DraftedUnit): void {
    if (this.#units === NO_UNITS) this.#units = [unit];
    else this.#units.push(unit);
  }

  setBlock(block: Block): void {
    if (this.#hadBlocks) this.#replace({ block: block.id, before: this.block(block.id) });
    if (!this.#blocks && this.#block && this.#block.id !== block.id) {
      this.#blocks = new Map([[this.#block.id, this.#block]]);
    }
    if (this.#blocks) this.#blocks.set(block.id, block);
    else this.#block = block;
  }

  setTurn(turn: Turn): void {
    this.#turns ??= new Map();
    this.#replace({ turn: turn.id, before: this.#turns.get(turn.id) });
    this.#turns.set(turn.id, turn);
  }

  touch(text: BlockText): void {
    this.#touched ??= new Set();
    this.#touched.add(text);
    this.#touchedNow ??= [];
    this.#touchedNow.push(text);
  }

  /** Starts the next plan. */
  begin(): void {
    this.#opsBefore = this.#ops.length;
    this.#unitsBefore = this.#units.length;
    this.#recordBefore = this.record;
    this.#blockBefore = this.#block;
    this.#hadBlocks = this.#blocks !== undefined;
    this.#replaced = undefined;
    this.#touchedNow = undefined;
  }

  /** Reverts the changes of the current plan. */
  rollBack(): void {
    if (this.#touchedNow) this.#invalidated = new Set([...this.invalidated, ...this.#touchedNow]);
    this.#ops = this.#opsBefore === 0 ? NO_OPS : this.#ops.slice(0, this.#opsBefore);
    this.#units = this.#unitsBefore === 0 ? NO_UNITS : this.#units.slice(0, this.#unitsBefore);
    this.record = this.#recordBefore;
    this.#block = this.#blockBefore;
    if (!this.#hadBlocks) this.#blocks = undefined;
    for (const each of this.#replaced?.reverse() ?? []) {
      if ("block" in each) restore(this.#blocks, each.block, each.before);
      else restore(this.#turns, each.turn, each.before);
    }
  }

  #replace(replaced: Replaced): void {
    this.#replaced ??= [];
    this.#replaced.push(replaced);
  }
}

function restore<K, V>(map: Map<K, V> | undefined, key: K, before: V | undefined): void {
  if (before === undefined) map?.delete(key);
  else map?.set(key, before);
}
