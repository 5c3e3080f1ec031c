/** What is closed until somebody opens it. */
import { expect, it } from "vitest";
import { amountOf, isLong } from "./long-text.ts";

it.each([
  [1, 80, false, "1 line"],
  [10, 4_000, false, "10 lines"],
  [11, 50, true, "11 lines"],
  [1, 5_000_000, true, "1 line of 5,000,000 characters"],
  [3, 4_001, true, "3 lines of 4,001 characters"],
  [150_000, 9_000_000, true, "150,000 lines"],
])("[V25] %d lines of %d characters: long %s, %j", (lines, chars, long, words) => {
  expect([isLong(lines, chars), amountOf(lines, chars)]).toEqual([long, words]);
});
