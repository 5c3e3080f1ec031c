/**
 * Mathematics in Markdown, for the page and for exports alike: where a formula begins and ends, so that a lexer leaves it
 * as it was written. Nothing here typesets it; but without this `$x_1 * y_1 * z$` loses its stars, `\(` its backslash, and a
 * line that begins with a minus becomes a list.
 *
 * A formula is `$$…$$`, `\[…\]`, `\(…\)` or `$…$`, without an empty line in it. Money and variables are none: behind the
 * first single dollar, and before the last, stands no blank, behind the last no letter or digit, and no backtick between.
 */

/** A longer one is none: what is looked for behind every dollar has a bound. */
const MAX_CHARS = 4_000;
const PAIRS: readonly (readonly [string, string])[] = [
  ["$$", "$$"],
  ["\\[", "\\]"],
  ["\\(", "\\)"],
];

export interface MathToken {
  readonly type: "math";
  readonly raw: string;
  readonly text: string;
}

/** The shape in which marked takes rules of others; each is asked where it would begin, and then what is there. */
export const MATH_RULES = {
  renderers: {},
  childTokens: {},
  block: [blockMath],
  startBlock: [blockStart],
  inline: [inlineMath],
  startInline: [inlineStart],
};

/** The same for a text that is still being written: a formula on lines of its own that has no end yet goes on to the last. */
export const GROWING_MATH_RULES = { ...MATH_RULES, block: [growingMath] };

function inlineMath(src: string): MathToken | undefined {
  const length = mathLength(src);
  return length === 0 ? undefined : mathToken(src.slice(0, length));
}

/** Where a formula might begin; a row of dollars is looked at once. */
function inlineStart(src: string): number | undefined {
  const at = src.search(/\$\$?(?=[^\s$`])|\$\$(?=\n)|\\[([]/);
  return at === -1 ? undefined : at;
}

/** The text with its formulas made of letters, so that no emphasis begins or ends in one. As long as it was. */
export function maskMath(text: string): string {
  if (!text.includes("$")) return text;
  let masked = "";
  let from = 0;
  for (let at = text.indexOf("$"); at !== -1; at = text.indexOf("$", Math.max(from, at + 1))) {
    const length = mathLength(text.slice(at, at + MAX_CHARS));
    if (length === 0) continue;
    masked += text.slice(from, at) + "a".repeat(length);
    from = at + length;
  }
  return masked + text.slice(from);
}

/** On lines of its own, up to three blanks in. */
const BLOCK_START = /^ {0,3}(?=\$\$|\\\[)/;

function blockMath(src: string): MathToken | undefined {
  const indent = BLOCK_START.exec(src)?.[0].length;
  if (indent === undefined) return undefined;
  const length = mathLength(src.slice(indent, indent + MAX_CHARS));
  const rest = /^[ \t]*(?:\n|$)/.exec(src.slice(indent + length, indent + length + 100));
  if (length === 0 || rest === null) return undefined;
  return mathToken(src.slice(0, indent + length + rest[0].length));
}

function growingMath(src: string): MathToken | undefined {
  const isOpen = BLOCK_START.test(src) && src.length <= MAX_CHARS && !/\n[ \t]*\n/.test(src);
  return blockMath(src) ?? (isOpen && mathLength(src.trimStart()) === 0 ? mathToken(src) : undefined);
}

/** Where a formula on lines of its own may end the paragraph before it. */
function blockStart(src: string): number | undefined {
  const end = src.search(/\n[ \t]*\n/);
  const paragraph = end === -1 ? src : src.slice(0, end);
  const found = /\n {0,3}(?:\$\$|\\\[)/.exec(paragraph);
  return found === null ? undefined : found.index + 1;
}

function mathToken(raw: string): MathToken {
  return { type: "math", raw, text: raw.trim() };
}

/** How long the formula is that begins here; 0 where none does. */
function mathLength(src: string): number {
  const pair = PAIRS.find(([open]) => src.startsWith(open));
  if (pair) return paired(src, pair);
  if (!/^\$[^\s$`]/.test(src)) return 0;
  const text = src.slice(0, MAX_CHARS);
  for (let at = text.indexOf("$", 1); at !== -1; at = text.indexOf("$", at + 1)) {
    if (text[at - 1] === "\\") continue;
    const isEnd = !/\s/.test(text[at - 1] as string) && !/[\p{L}\p{N}$]/u.test(text[at + 1] ?? "");
    return isEnd && !/`|\n[ \t]*\n/.test(text.slice(0, at)) ? at + 1 : 0;
  }
  return 0;
}

function paired(src: string, [open, close]: readonly [string, string]): number {
  const at = src.slice(0, MAX_CHARS).indexOf(close, open.length);
  const inside = at === -1 ? "" : src.slice(open.length, at);
  return inside.trim() === "" || /\n[ \t]*\n/.test(inside) ? 0 : at + close.length;
}
