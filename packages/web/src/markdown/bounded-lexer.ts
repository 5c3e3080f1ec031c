/** marked's lexer with a bound on its work. What is too hard is shown as it was written. */
import { boundRules, TOO_HARD } from "@blockyard/kernel";
import { Lexer, type Links, type Token, Tokenizer } from "marked";

export function lexBounded(text: string, links: Links): { tokens: readonly Token[]; links: Links } {
  const lexer = new Lexer({ gfm: true, tokenizer: boundRules(new Tokenizer(), text.length) });
  Object.assign(lexer.tokens.links, links);
  try {
    const tokens = lexer.lex(text);
    return { tokens: [...tokens], links: tokens.links };
  } catch (error) {
    if (error !== TOO_HARD) throw error;
    return { tokens: [{ type: "html", raw: text, text, block: true, pre: false }], links };
  }
}
