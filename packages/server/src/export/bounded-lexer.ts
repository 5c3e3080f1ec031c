/** marked's lexer with a bound on its work, and with formulas left alone, the same as the page's. */
import { boundRules, MarkdownBudget, maskMath, mathRules, TOO_HARD } from "@blockyard/kernel/presentation";
import { Hooks, Lexer, type Token, Tokenizer } from "marked";

const hooks = Object.assign(new Hooks(), { emStrongMask: maskMath });

/** The tokens; undefined for text that is too expensive. */
export function lexBounded(text: string): readonly Token[] | undefined {
  try {
    const budget = new MarkdownBudget(text);
    const tokenizer = boundRules(new Tokenizer(), budget);
    return new Lexer({ gfm: true, hooks, extensions: mathRules(budget), tokenizer }).lex(text);
  } catch (error) {
    if (error !== TOO_HARD) throw error;
    return undefined;
  }
}
