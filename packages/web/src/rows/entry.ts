/**
 * A block with what belongs to its row, as the rules of loudness look at it; and what those rules said of it, kept for as long
 * as none of it changes: the rows are made anew with every block that comes.
 */
import { type Block, type BlockId, type Entry, isGathered, isResult, type TodoStep } from "@blockyard/kernel";
import type { Outline, Tree } from "./tree.ts";

interface RowEntry extends Entry {
  readonly block: Block;
  readonly results: readonly Block[];
}

export function entryOf(outline: Outline, tree: Tree, block: Block, isLivingTodo = false): RowEntry {
  const sides = block.kind === "tool_call" ? tree.sides(block.id) : [];
  const results: Block[] = [];
  let isFollowed = false;
  for (const id of sides) {
    const side = outline.blocks.get(id);
    if (!side || !isResult(side)) continue;
    results.push(side);
    isFollowed ||= tree.sides(id).length > 0;
  }
  return { block, results, isFollowed, isLivingTodo };
}

interface Known extends RowEntry {
  readonly isQuiet: boolean;
}

const known = new WeakMap<Block, Known>();

/** Whether an entry is put together with its neighbours. */
export function isQuietRow(outline: Outline, tree: Tree, block: Block, isLivingTodo: boolean): boolean {
  if (block.kind !== "tool_call" && block.kind !== "thinking") return false;
  const entry = entryOf(outline, tree, block, isLivingTodo);
  const before = known.get(block);
  if (before && isSame(before, entry)) return before.isQuiet;
  const isQuiet = isGathered(entry);
  known.set(block, { ...entry, isQuiet });
  return isQuiet;
}

function isSame(a: RowEntry, b: RowEntry): boolean {
  return (
    a.isFollowed === b.isFollowed &&
    a.isLivingTodo === b.isLivingTodo &&
    a.results.length === b.results.length &&
    a.results.every((result, i) => result === b.results[i])
  );
}

/** What a block does to the to-do list of its turn. */
export function todoStep(outline: Outline, tree: Tree, block: Block): TodoStep<BlockId> {
  const todo =
    block.kind === "tool_call"
      ? tree.sides(block.id).find((id) => outline.blocks.get(id)?.kind === "todo")
      : undefined;
  return {
    id: block.id,
    turn: block.metadata.turn,
    isPrompt: block.kind === "text" && block.role === "user" && !block.side,
    todo,
  };
}
