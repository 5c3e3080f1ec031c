/** What a text costs before anything of it is lexed. */
import { describe, expect, it } from "vitest";
import { MarkdownBudget, TOO_HARD } from "./markdown-bound.ts";

const isTooHard = (text: string): boolean => {
  try {
    new MarkdownBudget(text).spend(0);
    return false;
  } catch (error) {
    expect(error).toBe(TOO_HARD);
    return true;
  }
};

describe("[AC80] code that nothing closes", () => {
  it.each([
    ["runs that an escape shortens", "``\\", 60_000, true],
    ["longer runs", "```\\", 60_000, true],
    ["runs with words", "``a\\", 60_000, true],
    ["code", "`a` ", 60_000, false],
    ["code with runs of another length", "``a ` b`` ", 60_000, false],
    ["an open run in each of many paragraphs", "it`s\n\n", 60_000, false],
    ["escaped runs", "\\`a ", 60_000, false],
    ["a short text", "``\\", 3_000, false],
  ])("%s", (_, fragment, chars, isHard) => {
    expect(isTooHard(fragment.repeat(chars / fragment.length))).toBe(isHard);
  });

  it("costs the rest of its paragraph, for each run of a length that does not come again", () => {
    const lengths = (most: number) => Array.from({ length: most }, (_, n) => "`".repeat(n + 1)).join("a");
    expect(isTooHard(lengths(100))).toBe(false);
    expect(isTooHard(lengths(600))).toBe(true);
  });
});
