/**
 * A bound on the work of a Markdown lexer, for the page and for exports alike. On most texts the lexer takes time in
 * proportion to their length; some, of one endless paragraph or item, it reads again for each of their words, and an
 * agent that writes such a one must stop neither. The bound counts what is read, not time: a text always looks the same.
 *
 * The lexer is whoever's: only the rules that this has to count are named here.
 */

/** Characters that may be looked at again and again: some for any text, and more for a longer one. */
const FREE_WORK = 30_000_000;
const WORK_PER_CHARACTER = 200;
/** What stands in a paragraph or an item of this length is not counted: most texts have no others. */
const USUAL_CHARS = 1_000;
/** Looking for the end of an emphasis, or of a line in a list, costs about this much more than for the end of a word. */
const DEAR = 8;
const MAX_DEPTH = 100;
const MAX_CELLS = 100_000;

/** The rules of marked's tokenizer that are counted. */
export interface MarkdownRules {
  blockquote(src: string): unknown;
  list(src: string): unknown;
  emStrong(src: string, masked: string, before?: string): unknown;
  text(src: string): unknown;
  inlineText(src: string): unknown;
  table(src: string): unknown;
}

/** Thrown by bounded rules. */
export const TOO_HARD = new Error("too hard to lex");

/** The same rules, with a bound on what they do for a text of that length. */
export function boundRules<R extends MarkdownRules>(rules: R, chars: number): R {
  const { blockquote, list, emStrong, text, inlineText, table } = rules;
  let work = FREE_WORK + WORK_PER_CHARACTER * chars;
  let depth = 0;
  const spend = (src: string, price: number): void => {
    work -= price * Math.max(0, src.length - USUAL_CHARS);
    if (work < 0) throw TOO_HARD;
  };
  const below = (lex: () => unknown): unknown => {
    if (++depth > MAX_DEPTH) throw TOO_HARD;
    const found = lex();
    depth--;
    return found;
  };
  const bounded: MarkdownRules = {
    blockquote: (src) => below(() => blockquote.call(rules, src)),
    list: (src) => below(() => list.call(rules, src)),
    emStrong(src, masked, before) {
      if (src.startsWith("*") || src.startsWith("_")) spend(src, DEAR);
      return below(() => emStrong.call(rules, src, masked, before));
    },
    text(src) {
      spend(src, DEAR);
      return text.call(rules, src);
    },
    inlineText(src) {
      spend(src, 1);
      return inlineText.call(rules, src);
    },
    table(src) {
      if (cellsOf(src) > MAX_CELLS) throw TOO_HARD;
      return table.call(rules, src);
    },
  };
  return Object.assign(rules, bounded);
}

/** At most so many cells has the table that begins here; none where none does. Each row gets as many as the head has. */
function cellsOf(src: string): number {
  const headEnd = src.indexOf("\n");
  const columns = headEnd === -1 ? 0 : src.slice(0, headEnd).split("|").length;
  if (columns < 2 || !/^[ \t]{0,3}[-:|]/.test(src.slice(headEnd + 1, headEnd + 5))) return 0;
  let rows = 0;
  for (let at = headEnd + 1; at !== 0 && src[at] !== "\n" && columns * rows <= MAX_CELLS; rows++)
    at = src.indexOf("\n", at) + 1;
  return columns * rows;
}
