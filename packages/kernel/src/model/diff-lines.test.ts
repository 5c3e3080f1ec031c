/** Lines of unified diffs: header lines do not count, whatever they look like. */
import { expect, it } from "vitest";
import { linesIn } from "./diff-lines.ts";

it.each([
  ["", 0, 0],
  ["@@ -1 +1 @@\n-a\n+b", 1, 1],
  ["--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b", 1, 1],
  ["+a\n+b", 2, 0],
  ["@@ -1 +1 @@\n--- a comment\n+++ another", 1, 1],
  [
    "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n+a\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n+b",
    2,
    0,
  ],
])("[T93] lines of %j", (text, added, removed) => {
  expect(linesIn(text)).toEqual({ added, removed });
});
