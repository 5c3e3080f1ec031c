/** What is a formula in Markdown, and what is money. */
import type { Token } from "marked";
import { describe, expect, it } from "vitest";
import { lexBounded } from "./bounded-lexer.ts";

/** The formulas that a lexer finds in a text, and what else it makes of it but text. */
function found(text: string): { readonly math: string[]; readonly others: string[] } {
  const math: string[] = [];
  const others: string[] = [];
  const look = (tokens: readonly Token[]) => {
    for (const token of tokens) {
      if (token.type === "math") math.push(token["text"]);
      else if (!["paragraph", "text", "space", "escape"].includes(token.type)) others.push(token.type);
      look(("items" in token ? token["items"] : "tokens" in token ? token.tokens : undefined) ?? []);
    }
  };
  look(lexBounded(text, {}).tokens);
  return { math, others };
}

describe("[V24] formulas in Markdown", () => {
  it.each([
    ["$x_1*y_1*z$", ["$x_1*y_1*z$"]],
    ["where $a_i$ and $b_j$, then", ["$a_i$", "$b_j$"]],
    ["so \\(a_1 * b_1 * c\\) holds", ["\\(a_1 * b_1 * c\\)"]],
    ["and \\[ \\frac{a}{b} \\] too", ["\\[ \\frac{a}{b} \\]"]],
    ["$$\nx\n=\ny\n$$", ["$$\nx\n=\ny\n$$"]],
    ["It is\n$$\na \\\\\n- b\n$$\nand on", ["$$\na \\\\\n- b\n$$"]],
    ["\\[\n- a\n+ b\n\\]", ["\\[\n- a\n+ b\n\\]"]],
    ["costs \\$5 and $x$", ["$x$"]],
    ["$\\text{a\\$b}$", ["$\\text{a\\$b}$"]],
  ])("[V24] %j holds %j, and nothing else but text", (text, math) => {
    expect(found(text)).toEqual({ math, others: [] });
  });

  it.each([
    "from $20,000 to $30,000",
    "$5 and $6",
    "$HOME/bin:$PATH",
    "$a and b $",
    "a $ b $ c",
    "it costs 5$.",
    "$$$$ $$",
    "$never closed",
    "$$ never closed",
    "$a\n\nb$",
  ])("[V24] %j holds none", (text) => {
    expect(found(text).math).toEqual([]);
  });

  it("[V24] code stays code, and emphasis around a formula stays emphasis", () => {
    expect(found("`$a_1$` and `$b`")).toEqual({ math: [], others: ["codespan", "codespan"] });
    expect(found("*so $a*b$ is*")).toEqual({ math: ["$a*b$"], others: ["em"] });
    expect(found("a*b $x*y$ c")).toEqual({ math: ["$x*y$"], others: [] });
  });

  it("[V24] a formula in a list or a quote stays one", () => {
    expect(found("- $a_1*b_1*c$").math).toEqual(["$a_1*b_1*c$"]);
    expect(found("> $$\n> a\n> $$").math).toEqual(["$$\na\n$$"]);
  });

  it("[R38] texts of dollars and formula-like text do not take long", () => {
    const pieces = ["$a ", "$", "$$a ", "\\(a ", "$$a\n \n", "$a\\$ ", "_$a ", "$a$ "];
    const started = performance.now();
    for (const piece of pieces) lexBounded(piece.repeat(30_000), {});
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
