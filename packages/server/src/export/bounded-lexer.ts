/** marked's lexer with a bound on its work, the same as the page's. */
import { boundRules, TOO_HARD } from "@blockyard/kernel";
import { Lexer, type Token, Tokenizer } from "marked";

/** The tokens; undefined for what is too hard. */
export function lexBounded(text: string): readonly Token[] | undefined {
  try {
    return new Lexer({ gfm: true, tokenizer: boundRules(new Tokenizer(), text.length) }).lex(text);
  } catch (error) {
    if (error !== TOO_HARD) throw error;
    return undefined;
  }
}
