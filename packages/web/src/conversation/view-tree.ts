/**
 * The tree of each view, for whoever draws it: kept beside the view, brought up to date when it is read.
 */
import type { BlockId, View } from "@blockyard/kernel";
import { useOrder, useView } from "../session.tsx";
import { Tree } from "./tree.ts";

const trees = new WeakMap<View, Tree>();

export function treeOf(view: View): Tree {
  const tree = trees.get(view) ?? new Tree();
  trees.set(view, tree);
  tree.update(view);
  return tree;
}

/** What hangs off a block. */
export function useSides(id: BlockId): readonly BlockId[] {
  const view = useView();
  useOrder(view);
  return treeOf(view).sides(id);
}
