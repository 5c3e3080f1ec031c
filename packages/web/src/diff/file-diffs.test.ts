/** A diff of several files, split. */
import { expect, it } from "vitest";
import { fileDiffs } from "./file-diffs.ts";

it("[V15] a diff of several files is one for each, with what happens to it", () => {
  const diff = [
    "--- /w/a.js",
    "+++ /w/a.js",
    "@@ -1,2 +1,2 @@",
    " same",
    "--- x",
    "+++ y",
    "--- /w/b.js",
    "+++ /w/lib/c.js",
    "@@ -1 +1 @@",
    "-old",
    "+new",
    "\\ No newline at end of file",
    "--- /dev/null",
    "+++ /w/new.js",
    "@@ -0,0 +1 @@",
    "+made",
    "--- /w/gone.js",
    "+++ /dev/null",
    "",
  ].join("\n");
  expect(fileDiffs(diff)).toEqual([
    { path: "/w/a.js", kind: "modify", diff: "@@ -1,2 +1,2 @@\n same\n--- x\n+++ y\n" },
    {
      ...{ path: "/w/b.js", kind: "modify", movedTo: "/w/lib/c.js" },
      diff: "@@ -1 +1 @@\n-old\n+new\n\\ No newline at end of file\n",
    },
    { path: "/w/new.js", kind: "add", diff: "@@ -0,0 +1 @@\n+made\n" },
    { path: "/w/gone.js", kind: "delete", diff: "" },
  ]);
});

it("[V15] a diff without headers is one of an unnamed file", () => {
  expect(fileDiffs("@@ -1 +1 @@\n-a\n+b\n")).toEqual([{ kind: "modify", diff: "@@ -1 +1 @@\n-a\n+b\n" }]);
  expect(fileDiffs("")).toEqual([]);
});
