/** Diffs as rows: numbers, words, sides, and what agents print instead of a diff. */
import { describe, expect, test } from "vitest";
import { countChanges, type DiffRow, diffRows, editRows, splitRows } from "./diff-rows.ts";

const short = (rows: readonly DiffRow[]) =>
  rows.map((row) => `${row.type[0]} ${row.old ?? "."} ${row.new ?? "."} ${row.text}`);

describe("diff rows", () => {
  test("numbers on both sides, hunks, no headers", () => {
    const diff =
      "--- /w/a.js\n+++ /w/a.js\n@@ -6,4 +6,4 @@ class A\n   keep\n }\n-old line\n+new line\n@@ -20 +20,2 @@\n x\n+y\n";
    expect(short(diffRows(diff))).toEqual([
      "h . . class A",
      "s 6 6   keep",
      "s 7 7 }",
      "d 8 . old line",
      "a . 8 new line",
      "h . . ",
      "s 20 20 x",
      "a . 21 y",
    ]);
  });

  test("a tool's message instead of a diff is whole", () => {
    expect(short(diffRows("Applied 2 edits:\n1. a"))).toEqual(["s 1 1 Applied 2 edits:", "s 2 2 1. a"]);
  });

  test("an edit that is nowhere in particular has no numbers", () => {
    const diff = "--- a\n+++ a\n@@ -0,2 +0,2 @@\n keep\n-out\n+in\n@@ -0 +0,0 @@\n-last\n";
    expect(short(diffRows(diff))).toEqual(["s . . keep", "d . . out", "a . . in", "h . . ", "d . . last"]);
    expect(short(diffRows("--- a\n+++ a\n@@ -0,0 +1,2 @@\n+a\n+b\n"))).toEqual(["a . 1 a", "a . 2 b"]);
  });

  test("a diff without headers, with bare hunks, without a newline at the end", () => {
    expect(short(diffRows("-a\n+b\n\\ No newline at end of file"))).toEqual([
      "d 1 . a",
      "a . 1 b",
      "n . . No newline at end of file",
    ]);
    expect(short(diffRows("@@\n a\n+b"))).toEqual(["s 1 1 a", "a . 2 b"]);
  });

  test("deleted dashes and added pluses inside a hunk are lines", () => {
    expect(short(diffRows("@@ -1,2 +1,2 @@\n--- sql comment\n+++ c"))).toEqual([
      "d 1 . -- sql comment",
      "a . 1 ++ c",
    ]);
  });

  test("words that changed are marked, lines with nothing in common are not", () => {
    const [deleted, added] = diffRows(
      "@@ -1 +1 @@\n-export function add(a, b) {\n+export function add(x, y) {\n",
    );
    const texts = (row: DiffRow | undefined) => row?.marks?.map(([from, to]) => row.text.slice(from, to));
    expect(texts(deleted)).toEqual(["a", "b"]);
    expect(texts(added)).toEqual(["x", "y"]);
    expect(diffRows("@@ -1 +1 @@\n-entirely other\n+no such thing\n").some((row) => row.marks)).toBe(false);
  });

  test("before and after", () => {
    expect(short(editRows("a\nb\nc\n", "a\nx\nc\n"))).toEqual(["s 1 1 a", "d 2 . b", "a . 2 x", "s 3 3 c"]);
    expect(countChanges(editRows("", "one\ntwo"))).toEqual({ added: 2, deleted: 0 });
  });

  test("side by side", () => {
    const rows = splitRows(diffRows("@@ -1,3 +1,2 @@\n-a\n-b\n+x\n c\n"));
    expect(rows.map(({ left, right }) => [left?.text, right?.text])).toEqual([
      ["a", "x"],
      ["b", undefined],
      ["c", "c"],
    ]);
  });
});
