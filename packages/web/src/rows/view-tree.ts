/** The tree of each view, for whoever draws it: kept beside the view, brought up to date when it is read. */
import type { BlockId, View } from "@blockyard/kernel";
import { useOrder, useView } from "../state/session.tsx";
import { Tree } from "./tree.ts";

const trees = new WeakMap<View, Tree>();

export function treeOf(view: View): Tree {
  const tree = trees.get(view) ?? new Tree();
  trees.set(view, tree);
  tree.update(view);
  return tree;
}

/** The end of the branch from a block: its newest one, if there are several. */
export function endOf(view: View, start: BlockId): BlockId {
  const tree = treeOf(view);
  let end = start;
  for (let next = tree.nexts(end).at(-1); next; next = tree.nexts(end).at(-1)) end = next;
  return end;
}

/** The head that is shown: the conversation's own, or the end of the way that the reader has chosen, also as it grows. */
export function headOf(view: View, chosen: BlockId | undefined): BlockId | null {
  if (chosen === undefined || !view.blocks.has(chosen)) return view.record?.head ?? null;
  return endOf(view, chosen);
}

/** What hangs off a block. */
export function useSides(id: BlockId): readonly BlockId[] {
  const view = useView();
  useOrder(view);
  return treeOf(view).sides(id);
}
