/** What is closed until somebody opens it. */
import { expect, it } from "vitest";
import { amountOf, isAskedFor, isClosedFirst, isLong } from "./long-text.ts";

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

it.each([
  [{ lines: 10, chars: 400 }, false],
  [{ lines: 11, chars: 400 }, true],
  [{ lines: 11, chars: 400, isAskedFor: true }, false],
  [{ lines: 5_000, chars: 400_000, isAskedFor: true }, false],
  [{ lines: 17, chars: 600, changed: 3 }, false],
  [{ lines: 90, chars: 5_000, changed: 30 }, false],
  [{ lines: 40, chars: 900, changed: 31 }, true],
  [{ lines: 2, chars: 50_000, changed: 2 }, true],
])("[V25] %j is closed at first: %s", (extent, isClosed) => {
  expect(isClosedFirst(extent)).toBe(isClosed);
});

it.each([
  [{ notice: "rerun" }, undefined, true],
  [{}, { approval: { state: "allowed", answeredBy: "ann" } }, true],
  [{}, { approval: { state: "allowed" } }, false],
  [{}, { approval: { state: "denied", answeredBy: "ann" } }, false],
  [{}, {}, false],
])("[V25] a person asked for %j of %j: %s", (result, call, isAsked) => {
  expect(isAskedFor(result, call)).toBe(isAsked);
});
