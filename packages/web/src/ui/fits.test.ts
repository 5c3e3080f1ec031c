/** Finding by a few letters: what matches, and what comes first. */
import { expect, test } from "vitest";
import { best } from "./fits.ts";

const same = (name: string) => name;

test("a file whose name was typed comes before those that only have the letters", () => {
  const files = [
    "fixtures/api-midstream-error.txt",
    "readme/old.txt",
    "docs/my-readme.md",
    "docs/unreadme.md",
  ];
  expect(best([...files, "README.md"], same, "readme")).toEqual([
    "README.md",
    "docs/my-readme.md",
    "docs/unreadme.md",
    "readme/old.txt",
    "fixtures/api-midstream-error.txt",
  ]);
});

test("a command that has the word comes before those that only have its letters", () => {
  const commands = ["Prune the block, or put it back", "Run the block's command again", "Return"];
  expect(best(commands, same, "run").slice(0, 2)).toEqual([
    "Run the block's command again",
    "Prune the block, or put it back",
  ]);
});

test.each([
  ["", ["b", "a"]],
  ["  ", ["b", "a"]],
  ["A", ["a"]],
  ["c", []],
])("%j of b and a gives %j, as they were given", (query, found) => {
  expect(best(["b", "a"], same, query)).toEqual(found);
});

test("words with a space between them are found in their order, across folders too", () => {
  expect(best(["src/cli/search.ts", "src/search/cli.ts"], same, "cli se")).toEqual(["src/cli/search.ts"]);
});
