/** Patterns: which are accepted, what they mean, where they match. */
import { describe, expect, it } from "vitest";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import { compilePattern, type PatternSource } from "./pattern.ts";

function source(pattern: string, options: Partial<PatternSource> = {}): PatternSource {
  return { pattern, literal: false, ignoreCase: false, ...options };
}

/** Where the matches are: `start-end`, joined. */
function spans(text: string, query: PatternSource): string {
  const pattern = compilePattern(query);
  if (isProblem(pattern)) return `${pattern.problem}: ${pattern.message}`;
  const found: string[] = [];
  pattern.find(
    text,
    (start, end) => found.push(`${start}-${end}`) > 0,
    () => false,
  );
  return found.join(" ");
}

describe("[Q1] a pattern that does not compile is a problem with its reason", () => {
  it.each([
    ["(", "missing closing ): `(`"],
    [")", "unexpected )"],
    ["[a", "missing closing ]"],
    ["*a", "missing argument to repetition operator"],
    ["a**", "invalid nested repetition operator"],
    ["a{1001}", "invalid repeat count"],
    ["a\\", "trailing backslash"],
    ["\\y", "invalid escape sequence"],
    ["(?P<n>a)(?P<n>b)", "duplicate capture group name"],
    ["\\p{Nonsense}", "invalid character class range"],
    ["(?x)a b", "invalid or unsupported Perl syntax"],
    ["(?>a)", "invalid or unsupported Perl syntax"],
    ["a{500}{500}", "invalid"],
  ])("%s", (pattern, reason) => {
    const answer = compilePattern(source(pattern));
    expect(answer).toMatchObject({ problem: "pattern", message: expect.stringContaining(reason) });
    expect(answer).not.toMatchObject({ message: expect.stringContaining("lookahead") });
    expect(isProblem(compilePattern(source(pattern, { literal: true })))).toBe(false);
  });
});

it.each(["foo(?=bar)", "foo(?!bar)", "(?<=foo)bar", "(?<!foo)bar", "(a)\\1", "(?P<n>a)\\k<n>"])(
  "[Q2] %s: the linear engine has none of that",
  (pattern) => {
    expect(compilePattern(source(pattern))).toMatchObject({
      problem: "pattern",
      message: expect.stringMatching(/linear.*no lookahead, lookbehind or backreferences/),
    });
  },
);

describe("[Q3] patterns are bounded", () => {
  it.each([
    ["", "empty"],
    ["a".repeat(limits.patternChars + 1), `${limits.patternChars + 1} characters`],
    ["\ud83d", "surrogate"],
    ["(a{1000}){1000}", "invalid repeat count"],
    ["(\\pL{30}){30}".repeat(6), "instructions"],
    ["((abc|def|ghi){30}){30}", "instructions"],
  ])("%s is refused", (pattern, reason) => {
    expect(compilePattern(source(pattern))).toMatchObject({
      problem: "pattern",
      message: expect.stringContaining(reason),
    });
  });

  it("up to the bound they are taken", () => {
    const longest = "a".repeat(limits.patternChars);
    expect(spans(`b${longest}`, source(longest))).toBe(`1-${limits.patternChars + 1}`);
    expect(spans(`b${longest}`, source(longest, { literal: true }))).toBe(`1-${limits.patternChars + 1}`);
  });
});

describe("[Q4] lines", () => {
  it.each([
    ["^b", "a\nb\nb", "2-3 4-5"],
    ["a$", "a\na\nb", "0-1 2-3"],
    ["a$", "a\r\na", "3-4"],
    ["a\\r?$", "a\r\na", "0-2 3-4"],
    [".+", "ab\ncd", "0-2 3-5"],
    [".+", "ab\rcd\u2028e", "0-7"],
    ["(?s)a.b", "a\nb", "0-3"],
    ["(?-m)^b", "a\nb", ""],
    ["(?i)A", "aA", "0-1 1-2"],
    ["\\Aa|b\\z", "ab\nab", "0-1 4-5"],
  ])("%s in %j", (pattern, text, expected) => {
    expect(spans(text, source(pattern))).toBe(expected);
  });
});

describe("[Q5] case", () => {
  const anyCase = (pattern: string, text: string, expected: string) => {
    expect(spans(text, source(pattern, { literal: true, ignoreCase: true }))).toBe(expected);
    expect(spans(text, source(pattern, { literal: false, ignoreCase: true }))).toBe(expected);
  };
  it.each([
    ["needle", "a NeEdLe İneedle", "2-8 10-16"],
    ["k", "kK\u212a", "0-1 1-2 2-3"],
    ["straße", "STRASSE Straße STRAẞE", "8-14 15-21"],
    ["σ", "ςΣσ", "0-1 1-2 2-3"],
    ["i", "İıIi", "2-3 3-4"],
    ["𐐀b", "é𐐨B", "1-4"],
  ])("%j in %j", anyCase);

  it.each([
    [source("A", { literal: true }), "aA", "1-2"],
    [source("A"), "aA", "1-2"],
    [source("a.b", { literal: true }), "axb a.b", "4-7"],
    [source("😀", { literal: true }), "x😀😀", "1-3 3-5"],
  ])("counts where it is not ignored: %j", (query, text, expected) => {
    expect(spans(text, query)).toBe(expected);
  });
});

describe("[Q7] all matches, in order, none over another", () => {
  it.each([
    [source("aa", { literal: true }), "aaaaa", "0-2 2-4"],
    [source("a*"), "baac", "0-0 1-3 3-3 4-4"],
    [source("^"), "a\nb", "0-0 2-2"],
    [source("$"), "a\nb", "1-1 3-3"],
    [source("\\b"), "ab cd", "0-0 2-2 3-3 5-5"],
    [source("x*"), "😀", "0-0 2-2"],
    [source("x", { literal: true }), "", ""],
  ])("%j in %j", (query, text, expected) => {
    expect(spans(text, query)).toBe(expected);
  });

  it("also where a long text is read in pieces", () => {
    const line = "nothing to see here, move along\n";
    const text = line.repeat(3_000);
    for (const at of [0, 8_192, 8_200, 50_000, text.length - 5]) {
      const hay = `${text.slice(0, at)}#42#${text.slice(at)}`;
      expect(spans(hay, source("#\\d+#"))).toBe(`${at}-${at + 4}`);
      expect(spans(hay, source("#[^x]{2}#"))).toBe(`${at}-${at + 4}`);
    }
    expect(spans(text, source("^nothing")).split(" ")).toHaveLength(3_000);
    expect(spans(text, source("along$")).split(" ")).toHaveLength(3_000);
    expect(spans(text, source("along\\nnothing")).split(" ")).toHaveLength(2_999);
  });

  it("stops on request, and reports that it is late", () => {
    const pattern = compilePattern(source("a"));
    if (isProblem(pattern)) throw new Error(pattern.message);
    const never = () => false;
    expect(pattern.find("aaa", never, never)).toBe("stopped");
    expect(
      pattern.find(
        "aaa",
        () => true,
        () => true,
      ),
    ).toBe("late");
    expect(pattern.find("aaa", () => true, never)).toBe("all");
    expect(
      pattern.find(
        "b\n".repeat(20_000),
        () => true,
        () => true,
      ),
    ).toBe("late");
  });
});
