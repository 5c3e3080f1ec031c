/**
 * A formula as a tree of MathML: what the typesetter makes of TeX, taken over node by node. Only elements, attributes and
 * styles that MathML needs are taken; links, pictures and everything else a formula might ask for are not. What cannot be read
 * is undefined, and shown as it was written.
 */

import temml from "temml";
import { FORMULA_DEPTH, FORMULA_NODES } from "./limits.ts";

export interface MathNode {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly style: Readonly<Record<string, string>>;
  readonly children: readonly (MathNode | string)[];
}

const TAGS: ReadonlySet<string> = new Set(
  (
    "math mrow mi mo mn ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts " +
    "mprescripts none mtable mtr mtd mstyle mpadded mphantom menclose merror"
  ).split(" "),
);
const ATTRIBUTES: ReadonlySet<string> = new Set(
  (
    "accent accentunder columnalign columnlines columnspacing columnspan depth display displaystyle fence form height " +
    "largeop linethickness lspace mathvariant maxsize minsize movablelimits notation rowlines rowspacing rowspan rspace " +
    "scriptlevel separator stretchy symmetric voffset width"
  ).split(" "),
);
const STYLES: ReadonlySet<string> = new Set(
  (
    "border borderBottom borderLeft borderRight borderTop fontStyle fontWeight height margin marginLeft marginRight " +
    "mathDepth mathStyle padding paddingBottom paddingLeft paddingRight paddingTop textAlign verticalAlign width"
  ).split(" "),
);

/** `source` with its dollars or brackets. */
export function mathTree(source: string): MathNode | undefined {
  const { tex, isDisplay } = texOf(source);
  try {
    const made = temml.__renderToMathMLTree(tex, {
      displayMode: isDisplay,
      throwOnError: true,
      trust: false,
      strict: false,
      maxExpand: 200,
      maxSize: [20, 20],
    }) as Made;
    const count = { left: FORMULA_NODES };
    const tree = taken(made, 0, count);
    return tree === undefined || typeof tree === "string" ? undefined : tree;
  } catch {
    return undefined;
  }
}

/** The fields of the typesetter's nodes that are read here. */
interface Made {
  readonly type?: string;
  readonly text?: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly style?: Readonly<Record<string, unknown>>;
  readonly children?: readonly Made[];
}

function taken(made: Made, depth: number, count: { left: number }): MathNode | string | undefined {
  if (count.left-- <= 0 || depth > FORMULA_DEPTH) throw new RangeError("too large");
  if (typeof made.text === "string" && made.type === undefined) return made.text;
  const children = (made.children ?? []).flatMap((child) => taken(child, depth + 1, count) ?? []);
  if (made.type === undefined || !TAGS.has(made.type)) {
    // A pure container is replaced by its parts.
    return children.length === 1 ? children[0] : { tag: "mrow", attributes: {}, style: {}, children };
  }
  return {
    tag: made.type,
    attributes: kept(made.attributes, ATTRIBUTES),
    style: kept(made.style, STYLES),
    children,
  };
}

function kept(
  given: Readonly<Record<string, unknown>> | undefined,
  known: ReadonlySet<string>,
): Record<string, string> {
  const entries = Object.entries(given ?? {}).filter(([name]) => known.has(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

function texOf(source: string): { readonly tex: string; readonly isDisplay: boolean } {
  const text = source.trim();
  if (text.startsWith("$$")) return { tex: text.slice(2, -2), isDisplay: true };
  if (text.startsWith("\\[")) return { tex: text.slice(2, -2), isDisplay: true };
  if (text.startsWith("\\(")) return { tex: text.slice(2, -2), isDisplay: false };
  return { tex: text.slice(1, -1), isDisplay: false };
}
