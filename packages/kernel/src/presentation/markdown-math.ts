/**
 * Mathematics in Markdown, for the page and for exports alike: finds where a formula begins and ends, so that a lexer
 * leaves it as it was written. Nothing here typesets it; but without this `$x_1 * y_1 * z$` loses its stars, `\(` its
 * backslash, and a line that begins with a minus becomes a list.
 *
 * A formula is `$$…$$`, `\[…\]`, `\(…\)` or `$…$`, without an empty line in it. Prices and variables are not formulas:
 * no space may follow the first single dollar or precede the last, no letter or digit may follow the last, and no
 * backtick may be in between.
 */

import { FORMULA_CHARS, FORMULA_WINDOW_CHARS } from "./limits.ts";
import type { MarkdownBudget } from "./markdown-bound.ts";

/** Scanning for the end of a formula costs about this much per character, compared with the end of a word. */
const END_PRICE = 4;
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

/**
 * The rules in the form of a marked extension: each is asked for its next start, then for the token. In a text that is
 * still being written, an unclosed display formula continues to the last line.
 */
export function mathRules(budget: MarkdownBudget, isGrowing = false) {
  const start = (find: (src: string) => number | undefined) => (src: string) => {
    const at = find(src);
    budget.spend(at ?? Math.min(src.length, FORMULA_WINDOW_CHARS));
    return at;
  };
  const read = (rule: (src: string) => MathToken | undefined) => (src: string) => {
    if (!OPENS.test(src)) return undefined;
    budget.spend(END_PRICE * Math.min(src.length, FORMULA_CHARS));
    return rule(src);
  };
  return {
    renderers: {},
    childTokens: {},
    block: [read(isGrowing ? growingMath : blockMath)],
    startBlock: [start(blockStart)],
    inline: [read(inlineMath)],
    startInline: [start(inlineStart)],
  };
}

function inlineMath(src: string): MathToken | undefined {
  const length = mathLength(src.slice(0, FORMULA_CHARS));
  return length === 0 ? undefined : mathToken(src.slice(0, length));
}

/**
 * The next possible start of a formula; a row of dollars is scanned once. Returns a blank if the next characters have
 * none: the lexer asks again from there, so that a long paragraph is not scanned to its end for each word.
 */
function inlineStart(src: string): number | undefined {
  const near = src.slice(0, FORMULA_WINDOW_CHARS);
  const at = near.search(/\$\$?(?=[^\s$`])|\$\$(?=\n)|\\[([]/);
  if (at !== -1) return at;
  if (near.length === src.length) return undefined;
  const blank = near.lastIndexOf(" ");
  return blank > 0 ? blank : undefined;
}

/** The text with its formulas replaced by letters, so that no emphasis begins or ends in one. The length stays the same. */
export function maskMath(text: string): string {
  if (!text.includes("$")) return text;
  let masked = "";
  let from = 0;
  for (let at = text.indexOf("$"); at !== -1; at = text.indexOf("$", Math.max(from, at + 1))) {
    const length = mathLength(text.slice(at, at + FORMULA_CHARS));
    if (length === 0) continue;
    masked += text.slice(from, at) + "a".repeat(length);
    from = at + length;
  }
  return masked + text.slice(from);
}

/** The possible starts of a formula, inline or display. */
const OPENS = /^ {0,3}(?:\$|\\[([])/;

/** Display, indented up to three blanks. */
const BLOCK_START = /^ {0,3}(?=\$\$|\\\[)/;

function blockMath(src: string): MathToken | undefined {
  const indent = BLOCK_START.exec(src)?.[0].length;
  if (indent === undefined) return undefined;
  const length = mathLength(src.slice(indent, indent + FORMULA_CHARS));
  const rest = /^[ \t]*(?:\n|$)/.exec(src.slice(indent + length, indent + length + 100));
  if (length === 0 || rest === null) return undefined;
  return mathToken(src.slice(0, indent + length + rest[0].length));
}

function growingMath(src: string): MathToken | undefined {
  const whole = blockMath(src);
  if (whole || src.length > FORMULA_CHARS || !BLOCK_START.test(src)) return whole;
  const isOpen = !/\n[ \t]*\n/.test(src) && mathLength(src.trimStart()) === 0;
  return isOpen ? mathToken(src) : undefined;
}

/** The nearby end of a paragraph before a display formula; an empty line ends it anyway. */
function blockStart(src: string): number | undefined {
  const found = /\n(?:[ \t]*\n| {0,3}(?:\$\$|\\\[))/.exec(src.slice(0, FORMULA_WINDOW_CHARS));
  return found === null || found[0].endsWith("\n") ? undefined : found.index + 1;
}

function mathToken(raw: string): MathToken {
  return { type: "math", raw, text: raw.trim() };
}

/** The length of the formula that begins here; 0 if none does. */
function mathLength(src: string): number {
  const pair = PAIRS.find(([open]) => src.startsWith(open));
  if (pair) return paired(src, pair);
  if (!/^\$[^\s$`]/.test(src)) return 0;
  const text = src.slice(0, FORMULA_CHARS);
  for (let at = text.indexOf("$", 1); at !== -1; at = text.indexOf("$", at + 1)) {
    if (text[at - 1] === "\\") continue;
    const isEnd = !/\s/.test(text[at - 1] as string) && !/[\p{L}\p{N}$]/u.test(text[at + 1] ?? "");
    return isEnd && !/`|\n[ \t]*\n/.test(text.slice(0, at)) ? at + 1 : 0;
  }
  return 0;
}

function paired(src: string, [open, close]: readonly [string, string]): number {
  const at = src.slice(0, FORMULA_CHARS).indexOf(close, open.length);
  const inside = at === -1 ? "" : src.slice(open.length, at);
  return inside.trim() === "" || /\n[ \t]*\n/.test(inside) ? 0 : at + close.length;
}
