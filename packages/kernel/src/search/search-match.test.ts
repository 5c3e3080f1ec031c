/** Lines, columns and contents of matches, also where lines are long and texts longer. */
import { describe, expect, it } from "vitest";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import { compilePattern } from "./pattern.ts";
import { type Matches, matchText } from "./search-match.ts";

function matches(
  text: string,
  pattern: string,
  contextLines = 0,
  maxMatches = 100,
  literal = false,
): Matches {
  const compiled = compilePattern({ pattern, literal, ignoreCase: false });
  if (isProblem(compiled)) throw new Error(compiled.message);
  return matchText(text, compiled, { contextLines, maxMatches, isLate: () => false });
}

/** `line:start-end` of every match. */
function places(text: string, pattern: string): string {
  return matches(text, pattern)
    .matches.map(({ line, start, end }) => `${line}:${start}-${end}`)
    .join(" ");
}

describe("[Q6] lines and columns", () => {
  it.each([
    ["one\ntwo\nthree", "t", "1:0-1 2:0-1"],
    ["a\r\nb\r\n", "\\r", "0:1-2 1:1-2"],
    ["x\u2028y\rz", "z", "0:4-5"],
    ["😀é😀b", "b", "0:5-6"],
    ["no newline at the end", "end", "0:18-21"],
    ["", "x*", ""],
    ["a\n", "$", "0:1-1"],
    ["a\n", "^", "0:0-0"],
    ["a\n\n", "^$", "1:0-0"],
    ["\n", "^", "0:0-0"],
    ["\n\n\nx", "x", "3:0-1"],
    ["ab ab\nab", "ab", "0:0-2 0:3-5 1:0-2"],
  ])("%j / %s", (text, pattern, expected) => {
    expect(places(text, pattern)).toBe(expected);
  });
});

describe("[Q8] matches over lines", () => {
  it.each([
    [
      "one\ntwo\nthree\nfour",
      "two\\nthr",
      { line: 1, start: 0, end: 7, content: "two\nthree", contentLine: 1 },
    ],
    ["xone\n", "one\\n", { line: 0, start: 1, end: 5, content: "xone", contentLine: 0 }],
    ["a\n\n\nb", "a\\s+b", { line: 0, start: 0, end: 5, content: "a\n\n\nb", contentLine: 0 }],
    ["a\n\nb", "\\n\\n", { line: 0, start: 1, end: 3, content: "a\n", contentLine: 0 }],
  ])("%j / %s", (text, pattern, expected) => {
    expect(matches(text, pattern).matches).toEqual([expected]);
  });

  it("shows a bounded number of them", () => {
    const [match] = matches("line\n".repeat(500), "(?s).*").matches;
    expect(match?.content.split("\n")).toHaveLength(1 + limits.contextLines);
    expect(match?.end).toBe(2_500);
  });
});

describe("[Q9] context", () => {
  const text = "0\n1\n2\n3\n4\n5\n";
  it.each([
    ["3", 2, "1\n2\n3\n4\n5", 1],
    ["0", 2, "0\n1\n2", 0],
    ["5", 2, "3\n4\n5", 3],
    ["1", 1, "0\n1\n2", 0],
    ["3", 0, "3", 3],
    ["2", 100, "0\n1\n2\n3\n4\n5", 0],
    ["2\\n3", 1, "1\n2\n3\n4", 1],
  ])("of %s, %d lines", (pattern, contextLines, content, contentLine) => {
    expect(matches(text, pattern, contextLines).matches).toMatchObject([{ content, contentLine }]);
  });

  it("keeps a carriage return in its line", () => {
    expect(matches("a\r\nb\r\nc", "b", 1).matches).toMatchObject([{ content: "a\r\nb\r\nc" }]);
  });

  it("is right far down in a long text, without a list of its lines", () => {
    const long = Array.from({ length: 200_000 }, (_, line) => `this is line ${line}`).join("\n");
    expect(matches(long, "line 199998", 1).matches).toEqual([
      {
        line: 199_998,
        start: 8,
        end: 19,
        content: "this is line 199997\nthis is line 199998\nthis is line 199999",
        contentLine: 199_997,
      },
    ]);
  });
});

describe("[Q10] long lines", () => {
  const width = limits.searchLineChars;

  it("of the matched line, the part around the match is shown", () => {
    const line = `${"a".repeat(5_000)}NEEDLE${"b".repeat(5_000)}`;
    const [match] = matches(`before\n${line}\nafter`, "NEEDLE", 1).matches;
    expect(match).toMatchObject({ line: 1, start: 5_000, end: 5_006, contentLine: 0 });
    const [before, shown, ...after] = (match?.content ?? "").split("\n");
    expect([before, after]).toEqual(["before", []]);
    expect(shown?.length).toBe(width + 2);
    expect(shown?.indexOf("NEEDLE")).toBe(5_000 - (match?.shownFrom ?? 0) + 1);
  });

  it("at either end of a long line", () => {
    const line = `FIRST${"x".repeat(5_000)}LAST`;
    const [first, last] = matches(`${line}\nnext`, "FIRST|LAST", 1).matches;
    expect(first?.shownFrom).toBeUndefined();
    expect(first?.content).toBe(`${line.slice(0, width)}…`);
    expect(last?.shownFrom).toBe(line.length - width);
    expect(last?.content).toBe(`…${line.slice(-width)}\nnext`);
  });

  it("cuts lines around it at the end, and splits no pair", () => {
    const wide = `${"😀".repeat(width)}`;
    const [match] = matches(`x${wide}\nb\nx${wide}\nd`, "^b", 2).matches;
    const [before, , after, ...others] = (match?.content ?? "").split("\n");
    expect(before).toBe(`x${"😀".repeat(width / 2 - 1)}…`);
    expect(after).toBe(before);
    expect(others).toEqual([]);
    expect(match?.content.isWellFormed()).toBe(true);
  });

  it("a text of one line with many matches is read once", () => {
    const { matches: found } = matches("ab".repeat(2_000_000), "a", 2, limits.searchMatches);
    expect(found).toHaveLength(limits.searchMatches);
    expect(found.at(-1)).toMatchObject({ line: 0, start: 1_998 });
  });

  it("all contents together are bounded", () => {
    const text = `${"y".repeat(900)}\n`.repeat(5_000);
    const answer = matches(text, "^y", limits.contextLines, 1_000_000);
    const chars = answer.matches.reduce((sum, match) => sum + match.content.length, 0);
    expect(answer.more).toBe(true);
    expect(chars).toBeLessThan(limits.searchContentChars + 101 * 901);
  });
});

describe("[Q11] as many as requested", () => {
  it.each([
    [3, 3, false],
    [2, 2, true],
    [0, 0, true],
  ])("at most %d", (max, length, more) => {
    const answer = matches("a a a", "a", 0, max);
    expect([answer.matches.length, answer.more, answer.late]).toEqual([length, more, false]);
  });

  it("and reports that it is late", () => {
    const compiled = compilePattern({ pattern: "a", literal: true, ignoreCase: false });
    if (isProblem(compiled)) throw new Error(compiled.message);
    const answer = matchText("a a a", compiled, { contextLines: 0, maxMatches: 9, isLate: () => true });
    expect(answer).toMatchObject({ more: true, late: true, matches: [{ line: 0 }] });
  });
});
