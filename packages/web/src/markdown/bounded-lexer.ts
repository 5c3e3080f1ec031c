/** marked's lexer with a bound on its work, and with formulas left alone. What is too hard is shown as it was written. */
import { boundRules, GROWING_MATH_RULES, MATH_RULES, maskMath, TOO_HARD } from "@blockyard/kernel";
import { Hooks, Lexer, type Links, type Token, Tokenizer } from "marked";

const hooks = Object.assign(new Hooks(), { emStrongMask: maskMath });

export function lexBounded(
  text: string,
  links: Links,
  isGrowing = false,
): { tokens: readonly Token[]; links: Links } {
  const lexer = new Lexer({
    ...{ gfm: true, hooks, extensions: isGrowing ? GROWING_MATH_RULES : MATH_RULES },
    tokenizer: boundRules(new Tokenizer(), text.length),
  });
  Object.assign(lexer.tokens.links, links);
  try {
    const tokens = lexer.lex(text);
    return { tokens: [...tokens], links: tokens.links };
  } catch (error) {
    if (error !== TOO_HARD) throw error;
    return { tokens: [{ type: "html", raw: text, text, block: true, pre: false }], links };
  }
}
