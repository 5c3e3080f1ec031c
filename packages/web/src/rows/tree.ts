/**
 * The tree of a view: which blocks hang off which. Kept up to date as blocks come, without looking at all of them again.
 * Pure bookkeeping over the view's outline; it knows no texts and no screen.
 */
import type { Block, BlockId } from "@blockyard/kernel";

export interface Outline {
  readonly order: readonly BlockId[];
  readonly blocks: ReadonlyMap<BlockId, Block>;
}

const NONE: readonly BlockId[] = [];

export class Tree {
  #order: readonly BlockId[] = NONE;
  readonly #sides = new Map<BlockId, BlockId[]>();
  /** By what they continue; those that continue nothing begin the conversation. */
  readonly #nexts = new Map<BlockId | null, BlockId[]>();

  /** Takes in what is new in the outline. */
  update(outline: Outline): void {
    const before = this.#order;
    const { order } = outline;
    if (order === before) return;
    this.#order = order;
    const last = before.at(-1);
    const grew = order.length >= before.length && (before.length === 0 || order[before.length - 1] === last);
    const isSamePrefix = grew && order[0] === (before[0] ?? order[0]);
    if (!isSamePrefix) {
      this.#sides.clear();
      this.#nexts.clear();
    }
    const grown = new Set<readonly BlockId[]>();
    for (let i = isSamePrefix ? before.length : 0; i < order.length; i++) {
      const block = outline.blocks.get(order[i] as BlockId);
      if (block === undefined) continue;
      const { parent, side, id } = block;
      if (!side) add(this.#nexts, grown, parent, id);
      else if (parent !== null) add(this.#sides, grown, parent, id);
    }
  }

  /** What hangs off a block: a call's results, a sub-agent's work, notices. Oldest first. */
  sides(id: BlockId): readonly BlockId[] {
    return this.#sides.get(id) ?? NONE;
  }

  /** The blocks that continue a block, or nothing: more than one where the conversation was forked, or begun anew. */
  nexts(id: BlockId | null): readonly BlockId[] {
    return this.#nexts.get(id) ?? NONE;
  }
}

/** Whoever has a list sees that it is another one when it has grown. `grown`: those that were copied for that already. */
function add<Key>(lists: Map<Key, BlockId[]>, grown: Set<readonly BlockId[]>, key: Key, id: BlockId): void {
  const known = lists.get(key) ?? [];
  const list = grown.has(known) ? known : [...known];
  grown.add(list);
  list.push(id);
  lists.set(key, list);
}
