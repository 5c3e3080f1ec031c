/** How long a text is, and what is shown of a long one. */
import { expect, it } from "vitest";
import type { AnyMetadata } from "../model/metadata.ts";
import { amountOf, excerptOf, isAskedFor, isFailedResult, isLong, leftWords } from "./long-text.ts";

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

it.each<[AnyMetadata, AnyMetadata | undefined, boolean]>([
  [{ notice: "rerun" }, undefined, true],
  [{}, { approval: { id: "a", state: "allowed", answeredBy: "ann" } }, true],
  [{}, { approval: { id: "a", state: "allowed" } }, false],
  [{}, { approval: { id: "a", state: "denied", answeredBy: "ann" } }, false],
  [{}, {}, false],
])("[V25] a person asked for %j of %j: %s", (result, call, isAsked) => {
  expect(isAskedFor(result, call)).toBe(isAsked);
});

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `${i + 1}`);

it.each([
  [numbered(11), undefined, "1 2 3 4", "… 4 more lines", "9 10 11"],
  [numbered(8), undefined, "1 2 3 4", "… 1 more line", "6 7 8"],
  [numbered(7), undefined, "1 2 3 4 5 6 7", "", ""],
  [numbered(5_000), undefined, "1 2 3 4", "… 4,993 more lines", "4998 4999 5000"],
  [numbered(11), 8, "", "… 3 more lines", "4 5 6 7 8 9 10 11"],
  [numbered(8), 8, "1 2 3 4 5 6 7 8", "", ""],
  [["x".repeat(5_000)], undefined, `${"x".repeat(240)}…`, "", ""],
])("[V40] of %j, tail %s, the ends are shown", (lines, tailOnly, head, left, tail) => {
  const ends = excerptOf(lines, tailOnly);
  expect([ends.head.join(" "), leftWords(ends), ends.tail.join(" ")]).toEqual([head, left, tail]);
});

it.each([
  ["done", {}, false],
  ["done", { exitCode: 0 }, false],
  ["done", { exitCode: null }, false],
  ["done", { exitCode: 1 }, true],
  ["done", { isError: true }, true],
  ["error", {}, true],
  ["running", {}, false],
] as const)("[V40] %s with %j is a failure: %s", (status, metadata, isFailed) => {
  expect(isFailedResult({ status, metadata })).toBe(isFailed);
});
