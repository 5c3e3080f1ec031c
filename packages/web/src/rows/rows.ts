/**
 * Rows: what the list shows, one after the other. A pure fold of the tree: the path to the chosen head, what hangs off
 * it where that is open, and a footer behind each turn.
 *
 * A tool call and its results are one row. What a sub-agent did are rows of their own, deeper, so that the list can
 * leave out those that are off the screen; its report then is a row behind them.
 */
import { askOf, type Block, type BlockId, isResult } from "@blockyard/kernel";
import type { Outline, Tree } from "./tree.ts";

export type Row =
  | { readonly type: "block"; readonly key: string; readonly id: BlockId; readonly depth: number }
  /** The results of a call, behind what its sub-agent did. */
  | { readonly type: "results"; readonly key: string; readonly id: BlockId; readonly depth: number }
  | { readonly type: "turn"; readonly key: string; readonly turn: string }
  /** The conversation goes on in several ways behind `at`; `chosen` is the one that is shown, if any. */
  | {
      readonly type: "branch";
      readonly key: string;
      readonly at: BlockId;
      readonly ways: readonly BlockId[];
      readonly chosen: BlockId | undefined;
    }
  /** Blocks that are taken out of the context, folded together. */
  | { readonly type: "pruned"; readonly key: string; readonly ids: readonly BlockId[] };

export interface Shown {
  readonly thinking: boolean;
  readonly tools: boolean;
  readonly system: boolean;
}

export interface RowOptions {
  readonly head: BlockId | null;
  readonly shown: Shown;
  readonly isOpen: (name: string, byDefault: boolean) => boolean;
  /** Calls that wait for the reader's answer, with what they hang off: shown, whatever is closed or hidden. */
  readonly asking?: ReadonlySet<BlockId>;
}

export function foldRows(outline: Outline, tree: Tree, options: RowOptions): readonly Row[] {
  const rows: Row[] = [];
  const path = withLoose(outline, pathTo(outline, options.head));
  let foldedUntil = -1;
  path.forEach((block, i) => {
    if (block.pruned && !path[i - 1]?.pruned) {
      const ids = prunedRun(path, i);
      rows.push({ type: "pruned", key: prunedName(block.id), ids });
      if (!options.isOpen(prunedName(block.id), false)) foldedUntil = i + ids.length - 1;
    }
    if (i > foldedUntil) addBlock(rows, outline, tree, block, 0, options);
    const ways = tree.nexts(block.id);
    const next = path[i + 1];
    if (ways.length > (next ? 1 : 0))
      rows.push({ type: "branch", key: `branch:${block.id}`, at: block.id, ways, chosen: next?.id });
    const turn = turnOf(block);
    if (turn !== undefined && turnOf(next) !== turn)
      rows.push({ type: "turn", key: `turn:${turn}:${block.id}`, turn });
  });
  return rows;
}

function prunedRun(path: readonly Block[], from: number): readonly BlockId[] {
  const end = path.findIndex((block, i) => i > from && !block.pruned);
  return path.slice(from, end === -1 ? path.length : end).map((block) => block.id);
}

export function prunedName(first: BlockId): string {
  return `pruned:${first}`;
}

/** A tool call's name for what its sub-agent did. */
export function nestedName(call: BlockId): string {
  return `nested:${call}`;
}

/** Whether something of what hangs off a call was there before its first result: a sub-agent's work before its report. */
export function hasWorkBefore(sides: readonly (Block | undefined)[]): boolean {
  const known = sides.filter((side) => side !== undefined && !isQueued(side)) as readonly Block[];
  const first = known.findIndex((side) => isResult(side));
  return first > 0;
}

/** A command that was run again: shown below its first run, in the same row. */
export function isRerun({ kind, metadata }: Pick<Block, "kind" | "metadata">): boolean {
  return kind === "command" && metadata["notice"] === "rerun";
}

/** A message that waited for its turn: it hangs off what was last then, also off a call that ran, and is none of its work. */
export function isQueued({ metadata }: Pick<Block, "metadata">): boolean {
  return metadata["notice"] === "queued";
}

/** Blocks that hang off nothing are shown where they were written; they are on nobody's way. */
function withLoose({ order, blocks }: Outline, path: readonly Block[]): readonly Block[] {
  const loose = order.flatMap((id) => {
    const block = blocks.get(id);
    return block?.side && block.parent === null ? [block] : [];
  });
  return loose.length === 0 ? path : [...path, ...loose].sort((a, b) => a.born - b.born);
}

/** The calls that ask, and what they hang off. */
export function askingIn({ blocks }: Outline, asking: readonly BlockId[]): ReadonlySet<BlockId> {
  const ids = new Set<BlockId>();
  for (const call of asking) {
    for (let block = blocks.get(call); block && !ids.has(block.id); ) {
      ids.add(block.id);
      block = block.side && block.parent !== null ? blocks.get(block.parent) : undefined;
    }
  }
  return ids;
}

/** The blocks on the way to a head, oldest first, as far as they are here. Without a head: all that continue anything. */
export function pathTo(outline: Outline, head: BlockId | null): Block[] {
  const path: Block[] = [];
  let id = head !== null && outline.blocks.has(head) ? head : lastMain(outline);
  while (id !== null) {
    const block = outline.blocks.get(id);
    if (!block) break;
    path.push(block);
    id = block.parent;
  }
  return path.reverse();
}

function lastMain({ order, blocks }: Outline): BlockId | null {
  for (let i = order.length - 1; i >= 0; i--) {
    const id = order[i] as BlockId;
    if (blocks.get(id)?.side === false) return id;
  }
  return null;
}

function addBlock(
  rows: Row[],
  outline: Outline,
  tree: Tree,
  block: Block,
  depth: number,
  options: RowOptions,
): void {
  const isShown = isVisible(block, options.shown);
  if (isShown) rows.push({ type: "block", key: block.id, id: block.id, depth });
  else if (block.kind === "tool_call" && !options.asking?.has(block.id)) return;
  const sides = tree.sides(block.id);
  if (sides.length === 0) return;
  const isClosed = block.kind === "tool_call" && !(isShown && options.isOpen(nestedName(block.id), false));
  let report =
    !isClosed && block.kind === "tool_call" && hasWorkBefore(sides.map((id) => outline.blocks.get(id)));
  for (const id of sides) {
    const side = outline.blocks.get(id);
    if (report && side && isResult(side)) {
      rows.push({ type: "results", key: `results:${block.id}`, id: block.id, depth });
      report = false;
    }
    if (isClosed && !(side && isQueued(side)) && !options.asking?.has(id)) continue;
    if (!side || (block.kind === "tool_call" && isResult(side))) continue;
    if (block.kind === "command" && isRerun(side)) continue;
    addBlock(rows, outline, tree, side, depth + 1, options);
  }
}

export function isVisible(block: Block, shown: Shown): boolean {
  if (isQueued(block)) return isLeftOver(block);
  if (block.kind === "thinking") return shown.thinking;
  if (block.kind === "tool_call") return shown.tools || askOf(block.metadata) !== undefined;
  if (block.role === "system" && block.kind !== "error") return shown.system;
  return true;
}

/** A message that waits is shown at the composer, and once it has run, where it was said; not so one that never ran. */
export function isLeftOver(block: Block | undefined): boolean {
  if (!block || !isQueued(block)) return false;
  return block.status === "error" && block.metadata["reason"] !== "cancelled";
}

function turnOf(block: Block | undefined): string | undefined {
  const turn = block?.metadata["turn"];
  return typeof turn === "string" ? turn : undefined;
}
