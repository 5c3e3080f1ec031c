/**
 * marked's lexer with a bound on its work. On most texts it takes time in proportion to their length; some, of one endless
 * paragraph or item, it reads again for each of their words, and an agent that writes such a one must not stop the server.
 * The bound counts what is read, not time: a text always looks the same, here as on the page, which has the same bound.
 */
import { Lexer, type Token, Tokenizer } from "marked";

/** Characters that may be looked at again and again: some for any text, and more for a longer one. */
const FREE_WORK = 30_000_000;
const WORK_PER_CHARACTER = 200;
/** What stands in a paragraph or an item of this length is not counted: most texts have no others. */
const USUAL_CHARS = 1_000;
/** Looking for the end of an emphasis, or of a line in a list, costs about this much more than for the end of a word. */
const DEAR = 8;
const MAX_DEPTH = 100;
const MAX_CELLS = 100_000;

/** The tokens; undefined for what is too hard. */
export function lexBounded(text: string): readonly Token[] | undefined {
  try {
    return new Lexer({ gfm: true, tokenizer: boundedTokenizer(text.length) }).lex(text);
  } catch (error) {
    if (error !== TOO_HARD) throw error;
    return undefined;
  }
}

const TOO_HARD = new Error("too hard to lex");

function boundedTokenizer(chars: number): Tokenizer {
  const own = new Tokenizer();
  const marked = Tokenizer.prototype;
  let work = FREE_WORK + WORK_PER_CHARACTER * chars;
  let depth = 0;
  const spend = (src: string, price: number): void => {
    work -= price * Math.max(0, src.length - USUAL_CHARS);
    if (work < 0) throw TOO_HARD;
  };
  const below = <T>(lex: () => T): T => {
    if (++depth > MAX_DEPTH) throw TOO_HARD;
    const found = lex();
    depth--;
    return found;
  };
  own.blockquote = (src) => below(() => marked.blockquote.call(own, src));
  own.list = (src) => below(() => marked.list.call(own, src));
  own.emStrong = (src, masked, before) => {
    if (src.startsWith("*") || src.startsWith("_")) spend(src, DEAR);
    return below(() => marked.emStrong.call(own, src, masked, before));
  };
  own.text = (src) => {
    spend(src, DEAR);
    return marked.text.call(own, src);
  };
  own.inlineText = (src) => {
    spend(src, 1);
    return marked.inlineText.call(own, src);
  };
  own.table = (src) => {
    if (cellsOf(src) > MAX_CELLS) throw TOO_HARD;
    return marked.table.call(own, src);
  };
  return own;
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
