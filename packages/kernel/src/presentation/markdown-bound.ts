/**
 * A bound on the work of a Markdown lexer, for the page and for exports alike. On most texts the lexer takes time in
 * proportion to their length; some, of one endless paragraph or item, it reads again for each of their words, and an
 * agent that writes such a one must stop neither. The bound counts what is read, not time: a text always looks the same.
 *
 * The lexer is whoever's: only the rules that this has to count are named here.
 */
import {
  FREE_WORK_CHARS,
  FREE_WORK_GROWING_CHARS,
  MARKDOWN_DEPTH,
  OPEN_BRACKET_CHARS,
  TABLE_CELLS,
  USUAL_PARAGRAPH_CHARS,
  WORK_PER_CHARACTER,
} from "./limits.ts";

/**
 * Scanning for the end of an emphasis, of a list line or of a heading costs about this much more than for the end of a
 * word.
 */
const EMPHASIS_PRICE = 8;
/** Scanning for the end of a link costs less: the engine does most of it. */
const LINK_PRICE = 0.25;

/** The rules of marked's tokenizer that are counted. */
interface MarkdownRules {
  blockquote(src: string): unknown;
  list(src: string): unknown;
  emStrong(src: string, masked: string, before?: string): unknown;
  text(src: string): unknown;
  inlineText(src: string): unknown;
  table(src: string): unknown;
  lheading(src: string): unknown;
  link(src: string): unknown;
}

/** Thrown by bounded rules. */
export const TOO_HARD = new Error("too hard to lex");

/** The work that is left for one text, for all rules together. */
export class MarkdownBudget {
  #work: number;

  constructor(text: string, isGrowing = false) {
    this.#work = (isGrowing ? FREE_WORK_GROWING_CHARS : FREE_WORK_CHARS) + WORK_PER_CHARACTER * text.length;
    this.#work -= OPEN_BRACKET_CHARS * openBrackets(text) + openCodeChars(text);
  }

  spend(chars: number): void {
    this.#work -= chars;
    if (this.#work < 0) throw TOO_HARD;
  }
}

/** The same rules with bounded work. */
export function boundRules<R extends MarkdownRules>(rules: R, budget: MarkdownBudget): R {
  const { blockquote, list, emStrong, text, inlineText, table, lheading, link } = rules;
  let depth = 0;
  const spend = (src: string, price: number): void => {
    budget.spend(price * Math.max(0, src.length - USUAL_PARAGRAPH_CHARS));
  };
  const below = (lex: () => unknown): unknown => {
    if (++depth > MARKDOWN_DEPTH) throw TOO_HARD;
    const found = lex();
    depth--;
    return found;
  };
  const bounded: MarkdownRules = {
    blockquote: (src) => below(() => blockquote.call(rules, src)),
    list(src) {
      const tasks = tasksOf(src);
      budget.spend(tasks * tasks);
      return below(() => list.call(rules, src));
    },
    emStrong(src, masked, before) {
      if (src.startsWith("*") || src.startsWith("_")) spend(src, EMPHASIS_PRICE);
      return below(() => emStrong.call(rules, src, masked, before));
    },
    text(src) {
      spend(src, EMPHASIS_PRICE);
      return text.call(rules, src);
    },
    inlineText(src) {
      spend(src, 1);
      return inlineText.call(rules, src);
    },
    table(src) {
      if (cellsOf(src) > TABLE_CELLS) throw TOO_HARD;
      return table.call(rules, src);
    },
    link(src) {
      if (/^!?\[/.test(src)) spend(src, LINK_PRICE);
      return link.call(rules, src);
    },
    lheading(src) {
      const end = src.indexOf("\n\n");
      budget.spend(EMPHASIS_PRICE * Math.max(0, (end === -1 ? src.length : end) - USUAL_PARAGRAPH_CHARS));
      return lheading.call(rules, src);
    },
  };
  return Object.assign(rules, bounded);
}

/** Checkboxes in the list that begins here, if one does: for each the lexer scans those before it. */
function tasksOf(src: string): number {
  if (!/^[ \t]{0,3}(?:[-*+]|\d{1,9}[.)])[ \t]/.test(src)) return 0;
  const end = src.search(/\n\n(?![ \t]|[-*+]|\d)/);
  const boxes = (end === -1 ? src : src.slice(0, end)).match(
    /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\]/gm,
  );
  return boxes?.length ?? 0;
}

function openBrackets(text: string): number {
  let open = 0;
  for (let at = text.indexOf("["); at !== -1; at = text.indexOf("[", at + 1)) open++;
  for (let at = text.indexOf("]"); at !== -1 && open > 0; at = text.indexOf("]", at + 1)) open--;
  return open;
}

/** Characters that the lexer scans in vain for the ends of code: each run of backticks that nothing closes costs the rest of its paragraph. */
function openCodeChars(text: string): number {
  const paragraphs = text.includes("`") ? text.split(/\n[ \t]*\n/) : [];
  return paragraphs.reduce((chars, paragraph) => chars + openCodeIn(paragraph), 0);
}

/** As the lexer reads it: an escape takes one character, and code ends at the next run that is exactly as long. */
function openCodeIn(paragraph: string): number {
  /** Where runs of a length begin, the last one first. */
  const runs = new Map<number, number[]>();
  for (const { 0: run, index } of [...paragraph.matchAll(/`+/g)].reverse()) {
    const starts = runs.get(run.length);
    if (starts) starts.push(index);
    else runs.set(run.length, [index]);
  }
  let chars = 0;
  const step = /\\[!-/:-@[-`{-~]|`+/g;
  for (let at = step.exec(paragraph); at !== null; at = step.exec(paragraph)) {
    if (at[0].startsWith("\\")) continue;
    const closing = runs.get(at[0].length) ?? [];
    while (closing.length > 0 && (closing.at(-1) as number) < step.lastIndex) closing.pop();
    const end = closing.at(-1);
    if (end === undefined) chars += paragraph.length - step.lastIndex;
    else step.lastIndex = end + at[0].length;
  }
  return chars;
}

/** The maximum number of cells in the table that begins here; 0 if none does. Each row gets as many cells as the head. */
function cellsOf(src: string): number {
  const headEnd = src.indexOf("\n");
  const columns = headEnd === -1 ? 0 : src.slice(0, headEnd).split("|").length;
  if (columns < 2 || !/^[ \t]{0,3}[-:|]/.test(src.slice(headEnd + 1, headEnd + 5))) return 0;
  let rows = 0;
  for (let at = headEnd + 1; at !== 0 && src[at] !== "\n" && columns * rows <= TABLE_CELLS; rows++)
    at = src.indexOf("\n", at) + 1;
  return columns * rows;
}
