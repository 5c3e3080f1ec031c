/** marked's lexer with a bound on its work, and with formulas left alone. What is too hard is shown as it was written. */
import { boundRules, MarkdownBudget, maskMath, mathRules, TOO_HARD } from "@blockyard/kernel";
import { Hooks, Lexer, type Links, type Token, Tokenizer } from "marked";

const hooks = Object.assign(new Hooks(), { emStrongMask: maskMath });

interface Lexed {
  readonly tokens: readonly Token[];
  readonly links: Links;
  /** The one token is the text as it was written. */
  readonly tooHard?: true;
}

export function lexBounded(text: string, links: Links, isGrowing = false): Lexed {
  const budget = new MarkdownBudget(text, isGrowing);
  const lexer = new Lexer({
    ...{ gfm: true, hooks, extensions: mathRules(budget, isGrowing) },
    tokenizer: boundRules(new Tokenizer(), budget),
  });
  Object.assign(lexer.tokens.links, links);
  try {
    const tokens = lexer.lex(text);
    return { tokens: [...tokens], links: tokens.links };
  } catch (error) {
    if (error !== TOO_HARD) throw error;
    return { tokens: [{ type: "html", raw: text, text, block: true, pre: false }], links, tooHard: true };
  }
}
