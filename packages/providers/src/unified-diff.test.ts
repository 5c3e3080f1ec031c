/** Diffs: that they state the change, and that patching with them produces the new text. */
import { applyPatch } from "diff";
import { describe, expect, it } from "vitest";
import { patchChanges } from "./apply-patch.ts";
import { hunksOf, joinDiffs, unifiedDiff } from "./unified-diff.ts";

const numbers = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`).join("\n");

it.each<[string, string]>([
  ["a\nb\nc\n", "a\nB\nc\n"],
  ["a\n", "a"],
  ["a", "a\n"],
  ["", "new\nfile\n"],
  ["", "no newline"],
  ["gone\n", ""],
  [numbers, numbers.replace("line 3\n", "").replace("line 30", "LINE 30")],
  ["é😀\r\nx\r\n", "é😀\r\ny\r\n"],
])("[P28] %j → %j can be applied", (before, after) => {
  expect(applyPatch(before, unifiedDiff("f", { before, after }))).toBe(after);
});

it("[P28] texts that differ too much are one replacement", () => {
  const before = Array.from({ length: 9_000 }, (_, i) => `a${i}`).join("\n");
  const after = Array.from({ length: 9_000 }, (_, i) => `b${i}`).join("\n");
  expect(hunksOf({ before, after })).toHaveLength(1);
  expect(applyPatch(before, unifiedDiff("f", { before, after }))).toBe(after);
});

it("[P28] headers say what became of the file", () => {
  expect(unifiedDiff("a", { before: "", after: "x\n" }, "add")).toBe(
    "--- /dev/null\n+++ a\n@@ -0,0 +1 @@\n+x\n",
  );
  expect(unifiedDiff("a", { before: "x\n", after: "" }, "delete")).toBe(
    "--- a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
  );
  expect(unifiedDiff("a", { before: "x", after: "x" })).toBe("");
  expect(joinDiffs(["a\n", undefined, "", "b\n"])).toBe("a\nb\n");
});

it("[P28] ready hunks are written unchanged", () => {
  const hunk = { oldStart: 5, oldLines: 2, newStart: 5, newLines: 1, lines: [" a", "-b"] };
  expect(unifiedDiff("f", [hunk])).toBe("--- f\n+++ f\n@@ -5,2 +5 @@\n a\n-b\n");
});

describe("[P29] apply_patch", () => {
  const patch = [
    "*** Begin Patch",
    "*** Add File: new.txt",
    "+one",
    "+two",
    "*** Update File: old.txt",
    "*** Move to: moved.txt",
    "@@ function x()",
    " keep",
    "-out",
    "+in",
    "@@",
    "-last",
    "*** Delete File: gone.txt",
    "*** End Patch",
  ].join("\n");

  it("reads every kind of change", () => {
    expect(patchChanges(patch)).toEqual([
      { path: "new.txt", kind: "add", diff: "--- /dev/null\n+++ new.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n" },
      {
        path: "old.txt",
        kind: "modify",
        movedTo: "moved.txt",
        unverified: true,
        diff: "--- old.txt\n+++ moved.txt\n@@ -0,2 +0,2 @@\n keep\n-out\n+in\n@@ -0 +0,0 @@\n-last\n",
      },
      { path: "gone.txt", kind: "delete" },
    ]);
  });

  it("never fails on a part of it, nor on anything else", () => {
    for (let cut = 0; cut <= patch.length; cut++)
      expect(patchChanges(patch.slice(0, cut)).length).toBeLessThanOrEqual(3);
    expect(patchChanges("--- a\n+++ b\n")).toEqual([]);
  });
});
