/** What a file change shows. */
import { expect, it } from "vitest";
import { changeTexts } from "./change-text.ts";

const change = { path: "a", kind: "modify" } as const;

it.each([
  [
    "its own diff",
    [{ ...change, diff: "@@ -1 +1 @@\n-a\n+b\n" }],
    "x",
    [{ diff: "@@ -1 +1 @@\n-a\n+b\n", note: "" }],
  ],
  ["the text of the only one", [change], "-a\n+b\n", [{ diff: "-a\n+b\n", note: "" }]],
  [
    "a sentence",
    [change],
    "The file a has been updated.",
    [{ diff: "", note: "The file a has been updated." }],
  ],
  [
    "several without diffs",
    [change, change],
    "-a\n",
    [
      { diff: "", note: "" },
      { diff: "", note: "" },
    ],
  ],
])("[P30] %s", (_, changes, text, expected) => {
  expect(changeTexts(changes, text)).toEqual(expected);
});
