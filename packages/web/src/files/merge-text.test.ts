/** The merge of two changed texts, before anybody has decided. */
import { expect, it } from "vitest";
import { BETWEEN, DISK, hasMarks, MINE, proposeMerge } from "./merge-text.ts";

function check(base: string | undefined, mine: string, disk: string, expected: string): void {
  expect(proposeMerge(base, mine, disk)).toBe(expected);
}

it("[V11] takes what only one side has changed", () => {
  check("a\nb\nc\nd", "A\nb\nc\nd", "a\nb\nc\nD", "A\nb\nc\nD");
  check("a\nb\nc", "a\nb\nc\nnew", "a\nb\nc", "a\nb\nc\nnew");
  check("a\nb", "a\nb", "a\nb", "a\nb");
});

it("[V11] keeps both if both have changed, or if the base is unknown", () => {
  check("a\nb\nc", "a\nmine\nc", "a\ndisk\nc", ["a", MINE, "mine", BETWEEN, "disk", DISK, "c"].join("\n"));
  check(undefined, "a\nx", "a\ny", ["a", MINE, "x", BETWEEN, "y", DISK].join("\n"));
  check("a\nb\nc", "a\nc", "a\nB\nc", ["a", MINE, BETWEEN, "B", DISK, "c"].join("\n"));
});

it("knows whether something is left to decide", () => {
  expect(hasMarks(proposeMerge("a", "b", "c"))).toBe(true);
  expect(hasMarks("a\n=======\nb")).toBe(false);
});

it("[V11] is fast with large files: with equal lines, and with none", () => {
  const lines = (word: string) => Array.from({ length: 200_000 }, (_, i) => `${word} ${i}`).join("\n");
  const [mine, disk] = [lines("mine"), lines("disk")];
  check(mine, mine, `${mine}\nnew`, `${mine}\nnew`);
  check("a", mine, disk, [MINE, mine, BETWEEN, disk, DISK].join("\n"));
  check(mine, mine, disk, disk);
});
