/**
 * A formula, typeset: loaded with the first one that is shown. What it makes are elements of MathML, one by one; there is no HTML
 * on the way.
 */

import { createElement, type ReactNode } from "react";
import { KEPT_FORMULAS } from "./limits.ts";
import { type MathNode, mathTree } from "./math-tree.ts";

const made = new Map<string, MathNode | undefined>();

export default function Formula({ source }: { source: string }): ReactNode {
  const tree = kept(source);
  return tree === undefined ? source : drawn(tree, 0);
}

/** Typeset formulas: a text that grows is drawn many times. */
function kept(source: string): MathNode | undefined {
  if (made.has(source)) return made.get(source);
  const tree = mathTree(source);
  made.set(source, tree);
  const [oldest] = made.keys();
  if (made.size > KEPT_FORMULAS && oldest !== undefined) made.delete(oldest);
  return tree;
}

function drawn(node: MathNode | string, key: number): ReactNode {
  if (typeof node === "string") return node;
  const { tag, attributes, style, children } = node;
  return createElement(tag, { key, ...attributes, style }, ...children.map(drawn));
}
