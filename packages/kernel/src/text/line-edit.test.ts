/** Line edits as rows: text, operations, result. The rules are in docs/spec/tools.md. */

import { describe, expect, it } from "vitest";
import type { Splice } from "../model/op.ts";
import { isProblem, type Problem } from "../model/problem.ts";
import { random32 } from "../testing/virtual-env.ts";
import { type LineOperation, planLines, type Since } from "./line-edit.ts";
import { Text } from "./text.ts";
import { trimmedSplice } from "./trimmed-splice.ts";

const insert = (line: number, content: string): LineOperation => ({ op: "insert", line, content });
const remove = (start_line: number, end_line: number, expected_text?: string): LineOperation => ({
  op: "delete",
  start_line,
  end_line,
  expected_text,
});
const replace = (
  start_line: number,
  end_line: number,
  content: string,
  expected_text?: string,
): LineOperation => ({ op: "replace", start_line, end_line, content, expected_text });

function edit(text: string, operations: readonly LineOperation[], since?: Since): string | Problem {
  const now = Text.of(text);
  const splices = planLines(now, operations, 7, since);
  return isProblem(splices) ? splices : now.apply(splices).toString();
}

function check(text: string, operations: readonly LineOperation[], expected: string): void {
  expect({ text, operations, result: edit(text, operations) }).toEqual({
    text,
    operations,
    result: expected,
  });
}

function refuse(text: string, operations: readonly LineOperation[], code: string, details: object): void {
  expect(edit(text, operations)).toMatchObject({ problem: code, details });
}

describe("lines", () => {
  it("[T13] are split at newlines only and include their newline", () => {
    const count = (text: string) => Text.of(text).lineCount;
    expect(
      ["", "\n", "a", "a\n", "a\nb", "a\nb\n", "a\n\n", "a\r\nb\r\n", "a\rb", "a\u2028b"].map(count),
    ).toEqual([0, 1, 1, 1, 2, 2, 2, 2, 1, 1]);
  });

  it("[T14] an insert puts whole lines before a line, or after the last one", () => {
    check("a\nb\n", [insert(0, "x")], "x\na\nb\n");
    check("a\nb\n", [insert(1, "x")], "a\nx\nb\n");
    check("a\nb\n", [insert(2, "x")], "a\nb\nx\n");
    check("a\nb\n", [insert(1, "x\n")], "a\nx\nb\n");
    check("a\nb\n", [insert(1, "x\ny")], "a\nx\ny\nb\n");
    check("a\nb\n", [insert(1, "")], "a\n\nb\n");
    check("a\nb\n", [insert(1, "\n")], "a\n\nb\n");
    check("a\nb\n", [insert(1, "x\n\n")], "a\nx\n\nb\n");
    check("\n", [insert(1, "x")], "\nx\n");
  });

  it("[T14] after a text without a final newline, a newline goes first", () => {
    check("a\nb", [insert(2, "x")], "a\nb\nx");
    check("a\nb", [insert(2, "x\n")], "a\nb\nx\n");
    check("a\nb", [insert(2, "")], "a\nb\n\n");
    check("a\nb", [insert(1, "x")], "a\nx\nb");
    check("a\nb", [insert(2, "x"), insert(2, "y")], "a\nb\nx\ny");
    check("a\nb", [insert(2, "x\n"), insert(2, "y")], "a\nb\nx\ny");
    check("a\nb", [remove(1, 2), insert(2, "x")], "a\nx");
    check("a\nb", [replace(1, 2, "B\n"), insert(2, "x")], "a\nB\nx");
    check("a\nb", [replace(1, 2, "B"), insert(2, "x")], "a\nB\nx");
    check("a\nb", [remove(0, 2), insert(2, "x")], "x");
  });

  it("[T14] into the empty text the content goes unchanged", () => {
    check("", [insert(0, "x")], "x");
    check("", [insert(0, "x\n")], "x\n");
    check("", [insert(0, "")], "\n");
    check("", [insert(0, "x"), insert(0, "y")], "x\ny");
  });

  it("[T15] a replace keeps lines whole, a delete takes their newlines along", () => {
    check("a\nb\nc\n", [replace(1, 2, "x")], "a\nx\nc\n");
    check("a\nb\nc\n", [replace(1, 2, "x\n")], "a\nx\nc\n");
    check("a\nb\nc\n", [replace(0, 3, "x\ny")], "x\ny\n");
    check("a\nb\nc\n", [replace(1, 2, "")], "a\nc\n");
    check("a\nb\nc\n", [replace(1, 2, "\n")], "a\n\nc\n");
    check("a\nb", [replace(1, 2, "x")], "a\nx");
    check("a\nb", [replace(1, 2, "x\n")], "a\nx\n");
    check("a\nb", [remove(1, 2)], "a\n");
    check("a\nb", [remove(0, 1)], "b");
    check("a", [remove(0, 1)], "");
    check("a\nb\n", [remove(0, 2)], "");
    check("𝒜é\n日本\n😀\n", [replace(1, 2, "e\u0301")], "𝒜é\ne\u0301\n😀\n");
  });

  it("[T16] content takes on the line ends of a CRLF text", () => {
    check("a\r\nb\r\n", [insert(1, "x")], "a\r\nx\r\nb\r\n");
    check("a\r\nb\r\n", [insert(1, "x\ny\n")], "a\r\nx\r\ny\r\nb\r\n");
    check("a\r\nb\r\n", [replace(0, 1, "x\r\ny")], "x\r\ny\r\nb\r\n");
    check("a\r\nb", [insert(2, "x")], "a\r\nb\r\nx");
    check("a\r\nb\r\n", [insert(2, "")], "a\r\nb\r\n\r\n");
    check("a\nb\r\n", [replace(1, 2, "x")], "a\nx\n"); // the first line decides
    check("a\nb\n", [replace(0, 1, "x\r\n")], "x\r\nb\n"); // kept as given
  });

  it("[T17] numbers of a batch mean the text before it, in any order", () => {
    check("a\nb\nc\nd\n", [replace(3, 4, "D"), insert(0, "x"), remove(1, 2)], "x\na\nc\nD\n");
    check("a\nb\n", [insert(1, "x"), insert(1, "y"), insert(1, "z")], "a\nx\ny\nz\nb\n");
    check("a\nb\nc\n", [insert(1, "x"), replace(1, 2, "B"), insert(2, "y")], "a\nx\nB\ny\nc\n");
    check("a\nb\nc\n", [insert(2, "y"), replace(1, 2, "B"), insert(1, "x")], "a\nx\nB\ny\nc\n");
    check("a\nb\nc\n", [replace(0, 1, "A"), replace(1, 2, "B"), insert(1, "x")], "A\nx\nB\nc\n");
    check("b\n", [insert(0, "x"), replace(0, 1, "c\nb")], "x\nc\nb\n"); // a replace that amounts to an insertion
    check("a\n", [replace(0, 1, "a\nb"), insert(1, "x")], "a\nb\nx\n");
  });

  it("[T17] operations that overlap are refused by their indexes", () => {
    const rows: [LineOperation[], [number, number]][] = [
      [
        [replace(0, 2, "x"), replace(1, 3, "y")],
        [0, 1],
      ],
      [
        [remove(2, 3), insert(0, "x"), replace(1, 3, "y")],
        [0, 2],
      ],
      [
        [replace(1, 3, "y"), insert(2, "x")],
        [0, 1],
      ],
      [
        [insert(2, "x"), remove(0, 4)],
        [0, 1],
      ],
      [
        [replace(0, 1, "a"), replace(0, 1, "a")],
        [0, 1],
      ],
      [
        [remove(0, 4), remove(1, 2), remove(3, 4)],
        [0, 1],
      ],
    ];
    for (const [operations, indexes] of rows) {
      refuse("a\nb\nc\nd\n", operations, "overlap", { operations: indexes });
    }
  });

  it("[T18] an operation that is out of range or empty is refused with the line count", () => {
    const rows: [string, LineOperation][] = [
      ["a\nb\n", insert(3, "x")],
      ["a\nb", insert(3, "x")],
      ["", insert(1, "x")],
      ["a\nb\n", remove(0, 3)],
      ["a\nb\n", remove(2, 3)],
      ["a\nb\n", replace(1, 1, "x")],
      ["a\nb\n", replace(1, 0, "x")],
      ["", remove(0, 1)],
    ];
    for (const [text, operation] of rows) {
      refuse(text, [insert(0, "ok"), operation], "out_of_range", {
        operation: 1,
        line_count: Text.of(text).lineCount,
        version: 7,
      });
    }
  });

  it("[T19] expected text is compared to the lines without their last newline", () => {
    const rows: [string, number, number, string][] = [
      ["a\nb\nc\n", 0, 2, "a\nb"],
      ["a\nb\nc\n", 0, 2, "a\nb\n"],
      ["a\r\nb\r\n", 0, 2, "a\nb"],
      ["a\r\nb\r\n", 0, 2, "a\r\nb\r\n"],
      ["a\r\nb\r\n", 0, 2, "a\r\nb"],
      ["a\nb\n", 0, 2, "a\r\nb\r\n"],
      ["a\n\n", 0, 2, "a\n"],
      ["\n", 0, 1, ""],
      ["\n", 0, 1, "\n"],
      ["é😀\n", 0, 1, "é😀"],
    ];
    for (const [text, start, end, expected] of rows) {
      expect(edit(text, [remove(start, end, expected)]), JSON.stringify([text, expected])).toBeTypeOf(
        "string",
      );
      expect(edit(text, [replace(start, end, "x", expected)])).toBeTypeOf("string");
    }
    const wrong: [string, number, number, string][] = [
      ["a\nb\nc\n", 0, 2, "a\nB"],
      ["a\nb\nc\n", 0, 2, "a\nb\n\n"],
      ["a\nb\nc\n", 0, 2, "a"],
      ["a\nb\nc\n", 0, 1, " a"],
      ["a\r\n", 0, 1, "a\r\r"],
      ["a\n", 0, 1, ""],
      ["e\u0301\n", 0, 1, "é"],
    ];
    for (const [text, start, end, expected] of wrong) {
      refuse(text, [insert(0, "x"), replace(start, end, "y", expected)], "mismatch", {
        operation: 1,
        version: 7,
      });
    }
    refuse("a\nb\nc\n", [remove(1, 3, "x")], "mismatch", {
      actual: "b\nc",
      expected: "x",
      start_line: 1,
      end_line: 3,
    });
  });

  it("[T19] a problem shows a bounded piece of a long text", () => {
    const text = `${"x".repeat(50)}\n`.repeat(10_000);
    const answer = edit(text, [remove(0, 10_000, "no")]) as Problem;
    const { actual, actual_cut } = answer.details as { actual: string; actual_cut: boolean };
    expect([actual, actual_cut]).toEqual([`${`${"x".repeat(50)}\n`.repeat(99)}${"x".repeat(50)}`, true]);
    const line = edit("y".repeat(1_000_000), [remove(0, 1, "n".repeat(900_000))]) as Problem;
    expect(line.details).toMatchObject({ actual_cut: true, expected_cut: true });
    const shown = line.details as { actual: string; expected: string };
    expect(Math.max(shown.actual.length, shown.expected.length)).toBeLessThan(20_000);
  });

  it("[T19] the actual text of a mismatch can be sent as expected_text", () => {
    for (const [text, end] of [
      ["a\nb\nc\n", 2],
      ["a\nb", 2],
      ["a\r\nb\r\n", 2],
      ["\n\n", 2],
      ["é😀\n", 1],
    ] as const) {
      const refused = edit(text, [replace(0, end, "y", "no")]) as Problem;
      const { actual } = refused.details as { actual: string };
      expect(edit(text, [replace(0, end, "y", actual)])).not.toHaveProperty("problem");
    }
  });
});

describe("an older base", () => {
  const at = (offset: number, del: string, ins: string): Splice => ({ at: offset, del, ins });
  function carried(base: string, splices: Splice[], operations: LineOperation[]): string | Problem {
    return edit(Text.of(base).apply(splices).toString(), operations, { splices });
  }

  it("[T20] lines are carried over what happened since", () => {
    const rows: [string, Splice[], LineOperation[], string][] = [
      ["a\nb\nc\n", [at(0, "", "0\n")], [replace(1, 2, "B")], "0\na\nB\nc\n"],
      ["a\nb\nc\n", [at(0, "a\n", "")], [replace(1, 2, "B", "b")], "B\nc\n"],
      ["a\nb\nc\n", [at(4, "c\n", "")], [insert(1, "x")], "a\nx\nb\n"],
      ["a\nb\nc\n", [at(2, "", "x\n")], [replace(1, 2, "B")], "a\nx\nB\nc\n"],
      ["a\nb\nc\n", [at(4, "", "x\n")], [replace(1, 2, "B")], "a\nB\nx\nc\n"],
      ["a\nb\n", [at(4, "", "c\n")], [insert(2, "x")], "a\nb\nx\nc\n"],
      ["a\nb", [at(3, "", "\nc\n")], [replace(1, 2, "B")], "a\nB\nc\n"],
      ["a\nb", [at(3, "", "\nc\n")], [insert(2, "x")], "a\nb\nx\nc\n"],
      ["a\r\nb", [at(4, "", "\r\nc\r\n")], [remove(1, 2)], "a\r\nc\r\n"],
      ["a\nb\nc\n", [at(0, "a", "A"), at(4, "c", "C"), at(0, "", "0\n")], [remove(1, 2)], "0\nA\nC\n"],
      ["", [at(0, "", "s\n")], [insert(0, "x")], "x\ns\n"],
    ];
    for (const [base, splices, operations, expected] of rows) {
      expect({ base, result: carried(base, splices, operations) }).toEqual({ base, result: expected });
    }
  });

  it("[T20] a touched line that changed is stale, with the fresh lines", () => {
    const rows: [string, Splice[], LineOperation, string][] = [
      ["a\nb\nc\n", [at(2, "b", "B")], replace(1, 2, "x"), "B"],
      ["a\nb\nc\n", [at(2, "b\n", "")], replace(1, 2, "x"), "c"],
      ["a\nb\nc\n", [at(1, "\n", "")], replace(1, 2, "x"), "ab"],
      ["a\nb\nc\n", [at(3, "", "!")], replace(1, 2, "x"), "b!"],
      ["a\nb", [at(3, "", "c")], replace(1, 2, "x"), "bc"],
      ["a\nb", [at(3, "", "c\n")], insert(2, "x"), "bc"],
      ["a\nb\nc\n", [at(2, "", "0")], replace(1, 2, "x"), "0b"],
      ["a\nb\nc\nd\n", [at(2, "b\nc\n", "")], insert(2, "x"), "d"],
      ["a\nb\nc\n", [at(2, "", "x\n"), at(2, "x\nb", "")], replace(1, 2, "x"), ""],
    ];
    for (const [base, splices, operation, fresh] of rows) {
      const answer = carried(base, splices, [operation]) as Problem;
      expect(answer, JSON.stringify([base, splices])).toMatchObject({ problem: "stale" });
      expect(answer.details).toMatchObject({ version: 7, operation: 0 });
      expect((answer.details as { fresh: string }).fresh.split("\n")).toContain(fresh);
    }
  });

  it("[T21] inside a merged run only the lines before the run are known", () => {
    // "a
    // b
    // " was certainly there; how much of "c
    // d
    // " is unknown.
    const text = "a\nb\nc\nd\n";
    const since = { splices: [], blurredFrom: 4 };
    expect(edit(text, [replace(1, 2, "B")], since)).toBe("a\nB\nc\nd\n");
    expect(edit(text, [insert(2, "x")], since)).toBe("a\nb\nx\nc\nd\n");
    for (const operation of [replace(2, 3, "C"), remove(1, 3), insert(3, "x"), insert(4, "x")]) {
      expect(edit(text, [operation], since)).toMatchObject({ problem: "stale" });
    }
    expect(edit(text, [replace(1, 2, "B")], { splices: [], blurredFrom: 3 })).toMatchObject({
      problem: "stale",
    });
  });

  it("[T20] agrees with a slow reference that marks every line of the base", () => {
    const random = random32(20);
    const below = (n: number) => random() % n;
    let fresh = 0;
    let stale = 0;
    for (let round = 0; round < 3_000; round++) {
      // Every line is unique, so the reference can find it by its text.
      const lines = Array.from({ length: 1 + below(8) }, (_, i) => `${round}.${i}`);
      const base = lines.join("\n") + (below(3) > 0 ? "\n" : "");
      let now = Text.of(base);
      const splices: Splice[] = [];
      for (let i = below(4); i >= 0; i--) {
        const from = below(now.length + 1);
        const to = Math.min(now.length, from + below(6));
        const splice = {
          at: from,
          del: now.slice(from, to),
          ins: ["", "\n", "+", "+\n", "\n+"][below(5)] as string,
        };
        now = now.apply([splice]);
        splices.push(splice);
      }
      const line = below(lines.length);
      const result = edit(now.toString(), [replace(line, line + 1, "NEW")], { splices });
      const present = now.lines(0, now.lineCount);
      if (typeof result === "string") {
        fresh++;
        const expected = present.map((each) => (each === lines[line] ? "NEW" : each));
        expect(expected).toContain("NEW");
        const newline = now.endsWithNewline ? "\n" : "";
        expect(result).toBe(expected.join("\n") + newline);
      } else {
        stale++;
        expect(result.problem).toBe("stale");
        // Text that no splice touched is never stale.
        const start = Text.of(base).lineStart(line);
        const untouched =
          splices.length === 1 && (splices[0] as Splice).at > start + (lines[line] as string).length + 1;
        expect(untouched).toBe(false);
      }
    }
    expect(Math.min(fresh, stale)).toBeGreaterThan(300);
  });
});

it("[T22] a splice omits unchanged text and cuts no character", () => {
  const rows: [string, string, Splice | undefined][] = [
    ["abc", "abc", undefined],
    ["abc", "aXc", { at: 1, del: "b", ins: "X" }],
    ["aa", "aaa", { at: 2, del: "", ins: "a" }],
    ["aaa", "aa", { at: 2, del: "a", ins: "" }],
    ["😀", "😁", { at: 0, del: "😀", ins: "😁" }],
    ["😀", "🨀", { at: 0, del: "😀", ins: "🨀" }], // the low half is the same
    ["x😀y", "x😁y", { at: 1, del: "😀", ins: "😁" }],
  ];
  for (const [from, to, expected] of rows)
    expect(trimmedSplice(Text.of(from), 0, from.length, to)).toEqual(expected);
});

it("[T17] line numbers reach far into a large text", () => {
  const big = Text.of("a line of some length\n".repeat(200_000));
  const splices = planLines(big, [replace(150_000, 150_001, "another"), insert(200_000, "end")], 1);
  expect(splices).toEqual([
    { at: 22 * 200_000, del: "", ins: "end\n" },
    { at: 22 * 150_000 + 1, del: " line of some length", ins: "nother" },
  ]);
});
