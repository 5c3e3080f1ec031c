/** Which targets are met; how fast a value rises. */
import { expect, it } from "vitest";
import { isKept, slope, tableOf } from "./trial.ts";

it.each([
  [3, { max: 4 }, true],
  [5, { max: 4 }, false],
  [Number.NaN, { max: 4 }, false],
  [5_000, { min: 5_000 }, true],
  [5, undefined, true],
])("[R1] %d with target %j is kept: %s", (value, target, expected) => {
  expect(isKept({ rule: "R1", figure: "x", value, ...(target ? { target } : {}) })).toBe(expected);
});

it("[R5] memory that rises by two a minute has slope two, whatever it jumps by", () => {
  const minutes = [0, 1, 2, 3, 4, 5];
  expect(slope(minutes, [10, 12, 14, 16, 18, 20])).toBeCloseTo(2);
  expect(slope(minutes, [10, 9, 11, 10, 9, 11])).toBeLessThan(0.3);
});

it("[R1] a table says what was missed", () => {
  const rows = [
    { rule: "R1", figure: "lost", value: 0, target: { max: 0 } },
    { rule: "R2", figure: "p99 against the relay's", value: 4.5, target: { max: 4 } },
    { rule: "R2", figure: "relay p50 ms", value: 0.61 },
  ];
  expect(
    tableOf(rows)
      .split("\n")
      .map((line) => line.trim().split(/\s{2,}/)),
  ).toEqual([
    ["figure", "value", "target"],
    ["R1", "lost", "0", "<= 0", "ok"],
    ["R2", "p99 against the relay's", "4.5", "<= 4", "MISSED"],
    ["R2", "relay p50 ms", "0.61"],
  ]);
});
