/** Messages about an undone edit. */
import { expect, it } from "vitest";
import { difference } from "./my-edits.ts";

it.each([
  ["one two three", "one three", "removed “two ”"],
  ["one three", "one two three", "put back “two ”"],
  ["let a = 1;", "let b = 1;", "“a” is “b” again"],
  ["same", "same", "nothing changed"],
  ["aaa", "aa", "removed “a”"],
  ["", "x".repeat(100), `put back “${"x".repeat(60)}…”`],
])("[V34] %j to %j", (before, after, said) => {
  expect(difference(before, after)).toBe(said);
});
