/** Unified diffs as rows, and round trips against the diffs of a library and of GNU diff and patch. */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTwoFilesPatch } from "diff";
import { describe, expect, it } from "vitest";
import { limits } from "../model/limits.ts";
import { random32 } from "../testing/virtual-env.ts";
import type { HunkError } from "./hunk-place.ts";
import { planPatch } from "./patch.ts";
import { Text } from "./text.ts";

function apply(text: string, patch: string): string | HunkError[] | { problem: string; details?: unknown } {
  const value = Text.of(text);
  const plan = planPatch(value, patch);
  if ("problem" in plan) return plan;
  if ("errors" in plan) return plan.errors;
  return value.apply(plan.splices).toString();
}

function check(text: string, patch: string, expected: string): void {
  expect({ text, patch, result: apply(text, patch) }).toEqual({ text, patch, result: expected });
}

function refuse(text: string, patch: string, ...errors: object[]): void {
  expect(apply(text, patch)).toEqual(errors.map((error) => expect.objectContaining(error)));
}

const abc = "a\nb\nc\nd\ne\n";

describe("reading", () => {
  it("[T26] file headers, hunk headers and their counts may be missing or wrong", () => {
    const body = " b\n-c\n+C\n d\n";
    const expected = "a\nb\nC\nd\ne\n";
    const rows = [
      `--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n${body}`,
      `diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@ function\n${body}`,
      `@@ -2,3 +2,3 @@\n${body}`,
      `@@ -2,30 +2,7 @@\n${body}`,
      `@@ -2,1 +2,1 @@\n${body}`,
      `@@ -2 +2 @@\n${body}`,
      `@@ @@\n${body}`,
      `@@\n${body}`,
      `@@ ... @@\n${body}`,
      `@@ -2,3 +2,3\n${body}`,
      body,
      `--- a/f\n+++ b/f\n${body}`,
      `@@ -2,3 +2,3 @@\n${body}-- \n2.39.1\n`,
      `@@ -2,3 +2,3 @@\n${body}\n\n`,
      `@@ -2,9 +2,9 @@\n${body}\n\n`,
      `@@ -2,3 +2,3 @@\n${body.slice(0, -1)}`,
    ];
    for (const patch of rows) check(abc, patch, expected);
  });

  it("[T26] an empty line stands for an empty context line", () => {
    check("a\n\nc\n", "@@ -1,3 +1,3 @@\n a\n\n-c\n+C\n", "a\n\nC\n");
    check("a\n\nc\n", "@@\n a\n\n-c\n+C\n", "a\n\nC\n");
  });

  it("[T26] a removed or added line may look like a header", () => {
    check("-- x\ny\n", "@@ -1,2 +1,2 @@\n--- x\n+++ z\n y\n", "++ z\ny\n");
    check("@@ x\ny\n", "@@ -1,2 +1,1 @@\n-@@ x\n y\n", "y\n");
  });

  it("[T26] anything but a patch of one text is a problem", () => {
    const rows: [string, object][] = [
      ["", { problem: "patch" }],
      ["hello", { problem: "patch" }],
      ["@@ -1 +1 @@\n", { problem: "patch" }],
      ["@@ -1,2 +1,2 @@\n a\nb\n-c\n", { problem: "patch", details: { patch_line: 3 } }],
      [
        "--- a\n+++ a\n@@ -1 +1 @@\n-a\n+x\n--- b\n+++ b\n@@ -1 +1 @@\n-a\n+x\n",
        { problem: "patch", details: { files: 2 } },
      ],
      [
        "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+x\ndiff --git a/b b/b\nBinary files a/b and b/b differ\n",
        { problem: "patch", details: { files: 2 } },
      ],
      [
        "diff --git a/b b/c\nrename from b\nrename to c\ndiff --git a/a b/a\n@@ -1 +1 @@\n-a\n+x\n",
        { problem: "patch", details: { files: 2 } },
      ],
      [
        " ".repeat(limits.patchChars + 1),
        { problem: "too_large", details: { max_chars: limits.patchChars } },
      ],
    ];
    for (const [patch, expected] of rows) expect(apply(abc, patch)).toMatchObject(expected);
  });
});

describe("placing", () => {
  it("[T27] a hunk that has moved is found, the next one by how far", () => {
    const moved = `0\n1\n2\n${abc}`;
    check(moved, "@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n", "0\n1\n2\na\nb\nC\nd\ne\n");
    check("c\nd\ne\n", "@@ -3,2 +3,2 @@\n-c\n+C\n d\n", "C\nd\ne\n");
    // The second hunk's lines occur twice; the first hunk's offset decides between them.
    const text = `x\nx\nx\nk\n1\nz\n${"f\n".repeat(20)}z\n`;
    check(
      text,
      "@@ -1,2 +1,2 @@\n-k\n+K\n 1\n@@ -3,1 +3,1 @@\n-z\n+Z\n",
      text.replace("k", "K").replace("z", "Z"),
    );
  });

  it("[T27] the nearest place wins; between equally near ones the hunk is refused", () => {
    const text = "x\n1\n2\n3\nx\n5\n6\n7\n8\nx\n";
    check(text, "@@ -4,1 +4,1 @@\n-x\n+X\n", text.replace("3\nx", "3\nX"));
    refuse(text, "@@ -3,1 +3,1 @@\n-x\n+X\n", { hunk: 0, expected_line: 2, candidates: [0, 4, 9] });
  });

  it("[T27] without a line number a place must be the only one", () => {
    check(abc, "@@\n-c\n+C\n", "a\nb\nC\nd\ne\n");
    refuse("x\ny\nx\n", "@@\n-x\n+X\n", { hunk: 0, candidates: [0, 2] });
    // Only one place is left before a hunk that has a single place.
    check("x\ny\nx\n", "@@\n-x\n+X\n@@\n-y\n+Y\n", "X\nY\nx\n");
    check("x\ny\nx\n", "@@\n-y\n+Y\n@@\n-x\n+X\n", "x\nY\nX\n");
  });

  it("[T27] every context and removed line must be there", () => {
    refuse(abc, "@@ -2,3 +2,3 @@\n b\n-X\n+C\n d\n", {
      hunk: 0,
      expected_line: 1,
      actual: "b\nc\nd",
    });
    refuse(abc, "@@ -2,2 +2,2 @@\n b\n-c \n+C\n", { hunk: 0 });
    refuse("e\u0301\n", "@@ -1 +1 @@\n-é\n+x\n", { hunk: 0 });
    refuse("", "@@ -1 +1 @@\n-a\n+b\n", { hunk: 0 });
  });

  it("[T27] hunks keep their order", () => {
    refuse(abc, "@@\n-d\n+D\n@@\n-b\n+B\n", { hunk: 1, candidates: [1] });
    refuse(abc, "@@ -2,2 +2,2 @@\n b\n-c\n+C\n@@ -3,2 +3,2 @@\n c\n-d\n+D\n", { hunk: 1, candidates: [2] });
  });

  it("[T28] reports all errors, and one error leaves everything unchanged", () => {
    refuse(abc, "@@ -1 +1 @@\n-x\n+X\n@@ -3 +3 @@\n-c\n+C\n@@ -5 +5 @@\n-y\n+Y\n", { hunk: 0 }, { hunk: 2 });
  });

  it("[T28] names a final newline that the patch denies as the reason", () => {
    const message = expect.stringContaining("No newline at end of file");
    const none = "\\ No newline at end of file\n";
    refuse("a\nb\n", `@@ -1,2 +1,2 @@\n-a\n+A\n b\n${none}`, { hunk: 0, message, candidates: [0] });
    refuse("x\na\nb\n", `@@\n a\n-b\n${none}+c\n`, { hunk: 0, message, candidates: [1] });
    refuse("a\nb\n", `@@ -1,2 +1,2 @@\n-x\n+A\n b\n${none}`, { hunk: 0, expected_line: 0 });
  });

  it("[T27] added lines alone go after the line that the header names", () => {
    check(abc, "@@ -2,0 +3,2 @@\n+x\n+y\n", "a\nb\nx\ny\nc\nd\ne\n");
    check(abc, "@@ -0,0 +1 @@\n+x\n", `x\n${abc}`);
    check(abc, "@@ -5,0 +6 @@\n+x\n", `${abc}x\n`);
    check("", "@@ -0,0 +1,2 @@\n+x\n+y\n", "x\ny\n");
    check("", "@@\n+x\n", "x\n");
    check("", "@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n", "x");
    refuse(abc, "@@\n+x\n", { hunk: 0 });
    refuse(abc, "@@ -3,1 +3,1 @@\n+x\n", { hunk: 0 });
    refuse(abc, "@@ -9,0 +10 @@\n+x\n", { hunk: 0, expected_line: 9 });
  });
});

describe("ends", () => {
  it("[T29] the missing newline at the end is taken at its word", () => {
    const none = "\\ No newline at end of file\n";
    check("a\nb", `@@ -1,2 +1,2 @@\n a\n-b\n${none}+c\n${none}`, "a\nc");
    check("a\nb", `@@ -1,2 +1,2 @@\n a\n-b\n${none}+b\n`, "a\nb\n");
    check("a\nb\n", `@@ -1,2 +1,2 @@\n a\n-b\n+b\n${none}`, "a\nb");
    check("a\nb", `@@ -1,2 +1,3 @@\n a\n-b\n${none}+b\n+c\n${none}`, "a\nb\nc");
    check("a\nb", `@@ -1,2 +1,1 @@\n-a\n b\n${none}`, "b");
    refuse("a\nb\n", `@@ -1,2 +1,2 @@\n a\n-b\n${none}+c\n`, { hunk: 0 });
  });

  it("[T29] where the patch is silent, a text without one stays without", () => {
    check("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\nc");
    check("a\nb", "@@ -1,2 +1,3 @@\n a\n b\n+c\n", "a\nb\nc");
    check("a\nb", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n", "A\nb");
    check("a\nb", "@@ -1,2 +1,1 @@\n a\n-b\n", "a\n");
    check("a\nb", "@@ -2,0 +3 @@\n+c\n", "a\nb\nc");
  });

  it("[T30] line ends may differ between patch and text; added lines end as the text's do", () => {
    const crlf = abc.replaceAll("\n", "\r\n");
    const patch = "@@ -2,3 +2,4 @@\n b\n-c\n+C\n+D\n d\n";
    const expected = "a\nb\nC\nD\nd\ne\n";
    check(crlf, patch, expected.replaceAll("\n", "\r\n"));
    check(abc, patch.replaceAll("\n", "\r\n"), expected);
    check(crlf, patch.replaceAll("\n", "\r\n"), expected.replaceAll("\n", "\r\n"));
    check("a\r\nb", "@@ -1,2 +1,3 @@\n a\n b\n+c\n", "a\r\nb\r\nc");
    check("a\r\nb\r\n", "@@ -1,0 +2 @@\n+x\n", "a\r\nx\r\nb\r\n");
    // A patch about line ends means them.
    check("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n", "a\nb\r\n");
    check("a\nb\n", "@@ -1,2 +1,2 @@\n-a\n+a\r\n b\n", "a\r\nb\n");
  });
});

/** Texts whose lines repeat a lot, with and without a final newline, with every odd character. */
function randomTexts(random: () => number): [string, string] {
  const below = (n: number) => random() % n;
  const words = [
    "",
    "a",
    "b",
    "  x",
    "-- y",
    "++ z",
    "@@ q",
    "\\ n",
    "é😀",
    "a\r",
    "\r",
    "日本語",
    "--- f",
    "+++ g",
  ];
  const line = () => words[below(words.length)] as string;
  const lines = Array.from({ length: below(30) }, line);
  const changed = lines.flatMap((each) => {
    const dice = below(12);
    if (dice === 0) return [];
    if (dice === 1) return [each, line()];
    return [dice === 2 ? line() : each];
  });
  if (below(4) === 0) changed.push(line());
  const end = () => (below(3) === 0 ? "" : "\n");
  const join = (all: string[]) => (all.length === 0 ? "" : all.join("\n") + end());
  return [join(lines), join(changed)];
}

it("[T31] 3,000 random texts: the library's diff turns one into the other", () => {
  const random = random32(31);
  let changes = 0;
  for (let round = 0; round < 3_000; round++) {
    const [from, to] = randomTexts(random);
    // Without context a patch cannot know the text's line ends: see [T30].
    const context = from.includes("\r") ? 1 + (random() % 3) : random() % 4;
    const patch = createTwoFilesPatch("a", "b", from, to, "", "", { context });
    if (!patch.includes("\n@@")) {
      expect(from).toBe(to);
      continue;
    }
    changes++;
    check(from, patch, to);
  }
  expect(changes).toBeGreaterThan(2_000);
});

it("[T31] a GNU diff turns one text into the other, and GNU patch agrees on moved hunks", () => {
  if (spawnSync("patch", ["--version"]).status !== 0 || spawnSync("diff", ["--version"]).status !== 0) return;
  const dir = mkdtempSync(join(tmpdir(), "patch-"));
  const file = (name: string) => join(dir, name);
  const random = random32(7);
  let moved = 0;
  try {
    for (let round = 0; round < 60; round++) {
      const [from, to] = randomTexts(random);
      writeFileSync(file("a"), from);
      writeFileSync(file("b"), to);
      const made = spawnSync("diff", [`-U${1 + (round % 3)}`, file("a"), file("b")], { encoding: "utf8" });
      if (made.status !== 1) continue;
      check(from, made.stdout, to);
      // Moved by two lines that occur nowhere else: what GNU patch does without fuzz, we do.
      const far = `new 1\nnew 2\n${from}`;
      writeFileSync(file("c"), far);
      writeFileSync(file("p"), made.stdout);
      const theirs = spawnSync("patch", ["-F0", "-s", "--binary", "-o", file("out"), file("c"), file("p")]);
      const ours = apply(far, made.stdout);
      if (theirs.status !== 0 || typeof ours !== "string") continue;
      expect(ours).toBe(readFileSync(file("out"), "utf8"));
      moved++;
    }
    expect(execFileSync("patch", ["--version"], { encoding: "utf8" })).toContain("patch");
    expect(moved).toBeGreaterThan(5);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

it("[T27] hunks are found in a large text without comparing every line for each", () => {
  const lines = Array.from({ length: 200_000 }, (_, i) => `line ${i}`);
  const text = Text.of(`${lines.join("\n")}\n`);
  const hunks = Array.from({ length: 500 }, (_, i) => {
    const at = i * 390 + 5;
    return `@@ -${at + 200},3 +${at + 200},3 @@\n line ${at}\n-line ${at + 1}\n+LINE ${at + 1}\n line ${at + 2}\n`;
  });
  const plan = planPatch(text, hunks.join(""));
  expect("splices" in plan && plan.splices.length).toBe(500);
  expect("hunks" in plan && plan.hunks[0]).toEqual({ line: 5, offset: -199, added: 1, removed: 1 });
});

it("gives up on hunks that fit everywhere, before they block other callers", () => {
  const patch = "@@ -1,3 +1,3 @@\n a\n-a\n+c\n a\n".repeat(2_000);
  expect(apply("a\n".repeat(200_000), patch)).toMatchObject({ problem: "too_large" });
});
