/** What the load notices: a judge that cannot say no is useless. */
import { expect, it } from "vitest";
import { Lateness, lineOf, Seen, TAIL } from "./line.ts";

const piece = (number: number) => lineOf(3, number, 1, 60);
const sawn = (seen: Seen) => [seen.count(3), seen.lost, seen.doubled, seen.reordered];

it.each([
  ["everything", [0, 1, 2], [3, 0, 0, 0]],
  ["nothing", [], [0, 0, 0, 0]],
  ["one lost", [0, 2], [3, 1, 0, 0]],
  ["one doubled", [0, 1, 1, 2], [3, 0, 1, 0]],
  ["two in the wrong order", [0, 2, 1, 3], [4, 0, 0, 1]],
  ["a late one that comes twice", [0, 2, 1, 1], [3, 0, 1, 1]],
])("[R1] sees %s", (_title, numbers, expected) => {
  const seen = new Seen(new Lateness());
  for (const number of numbers) seen.lines(piece(number), 2);
  expect(sawn(seen)).toEqual(expected);
  const together = new Seen(new Lateness());
  together.lines(numbers.map(piece).join(""), 2);
  expect(sawn(together)).toEqual(expected);
});

it("[R1] a block that is sent anew must contain everything", () => {
  const seen = new Seen(new Lateness());
  seen.lines(piece(0), 2);
  seen.whole([0, 1, 2].map(piece).join(""), 2);
  expect(sawn(seen)).toEqual([3, 0, 0, 0]);
  const holey = new Seen(new Lateness());
  holey.whole([0, 2].map(piece).join(""), 2);
  expect(holey.lost).toBeGreaterThan(0);
});

it("[R2] lateness is kept to three figures", () => {
  const lateness = new Lateness();
  expect(lateness.quantileMs(0.5)).toBeNaN();
  for (let ms = 1; ms <= 100; ms++) lateness.add(ms);
  expect(lateness.count).toBe(100);
  expect(lateness.quantileMs(0.5)).toBeCloseTo(50, 0);
  expect(lateness.quantileMs(0.99)).toBeCloseTo(99, 0);
  lateness.forget();
  expect(lateness.count).toBe(0);
});

it("[R3] a tail is a piece that ends without a newline", () => {
  const seen = new Seen(new Lateness());
  seen.lines(lineOf(3, 0, 1, 30, TAIL) + lineOf(3, 1, 1, 30, TAIL), 2);
  expect(sawn(seen)).toEqual([2, 0, 0, 0]);
  expect(lineOf(3, 0, 1, 30, TAIL)).toHaveLength(30);
});
