/** What a screen reader reads of Markdown. */
import { expect, test } from "vitest";
import { spokenText } from "./spoken-text.ts";

test.each([
  ["Blue.", "Blue."],
  [
    "Fixed: `total` took it **twice**, see [the *file*](/src/cart.js).",
    "Fixed: total took it twice, see the file.",
  ],
  ["## Report\n\nFine.\n\n- one line\n- *two*\n  1. deep\n", "Report Fine. one line two deep"],
  ["| file | change |\n|---|---|\n| `a.js` | **one** line |\n", "file, change; a.js, one line"],
  ["```js\nlet a = 1;\n```\n---\n> said", "let a = 1; said"],
  ["cut in **the mid", "cut in the mid"],
  ["a \\* b < c & d", "a * b < c & d"],
])("[V170] %j is read as %j", (markdown, expected) => {
  expect(spokenText(markdown)).toBe(expected);
});
