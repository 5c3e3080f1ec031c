/**
 * The strip under everything that happens to a list: rows come at both ends and in between, leave, and turn out to be
 * higher or lower than estimated.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { around, type Keyed, Strip } from "./strip.ts";

const GUESS_PX = 50;
const rowsOf = (from: number, to: number): Keyed[] =>
  Array.from({ length: to - from }, (_, i) => ({ key: `row ${from + i}` }));

function stripOf(rows: readonly Keyed[], top: number, height: number): Strip<Keyed> {
  const strip = new Strip<Keyed>(0, () => GUESS_PX);
  strip.take(rows);
  strip.look(top, height);
  return strip;
}

function drawnAll(strip: Strip<Keyed>, px: (key: string) => number, beyond = 100): void {
  const range = strip.range(beyond);
  strip.measure(
    strip.rows.slice(range.from, range.to).map(({ key }) => [key, px(key)] as const),
    range,
  );
}

describe("positions of rows", () => {
  it("one below the other, by measurements and estimates", () => {
    const strip = stripOf(rowsOf(0, 4), 0, 100);
    strip.measure([["row 1", 80]], strip.range(0));
    expect([0, 1, 2, 3].map((i) => strip.topOf(i))).toEqual([0, 50, 130, 180]);
    expect(strip.end).toBe(230);
  });

  it("draws the rows of the window and a margin beyond it", () => {
    const strip = stripOf(rowsOf(0, 100), 1_000, 200);
    expect(strip.range(0)).toEqual({ from: 20, to: 25 });
    expect(strip.range(100)).toEqual({ from: 18, to: 27 });
    expect(stripOf([], 0, 100).range(50)).toEqual({ from: 0, to: 0 });
  });
});

describe("what stays", () => {
  const check = (change: (strip: Strip<Keyed>) => void, stays: string) => {
    const strip = stripOf(rowsOf(100, 200), 1_000, 200);
    drawnAll(strip, () => 60);
    const indexOf = () => strip.rows.findIndex(({ key }) => key === stays);
    const before = strip.topOf(indexOf());
    change(strip);
    expect(strip.topOf(indexOf())).toBe(before);
  };

  it.each<[string, (strip: Strip<Keyed>) => void]>([
    ["rows in front", (strip) => strip.take(rowsOf(0, 200))],
    ["rows behind", (strip) => strip.take(rowsOf(100, 300))],
    ["rows at both ends", (strip) => strip.take(rowsOf(40, 300))],
    ["fewer rows in front", (strip) => strip.take(rowsOf(110, 200))],
    ["rows above that are higher", (strip) => strip.measure([["row 105", 500]], { from: 0, to: 9 })],
    ["rows below that are lower", (strip) => strip.measure([["row 150", 5]], { from: 0, to: 9 })],
  ])("[V1] the row that the user looks at: %s", (_name, change) => {
    check(change, "row 119");
    check(change, "row 120");
  });

  it("[V1] if the first row in the window leaves, the next one stays", () => {
    const strip = stripOf(rowsOf(0, 100), 1_000, 200);
    drawnAll(strip, () => 50);
    const before = strip.topOf(21);
    strip.take([...rowsOf(0, 5), ...rowsOf(21, 100)]);
    expect(strip.topOf(5)).toBe(before);
  });

  it("[V1] a new row at the top does not push the existing ones", () => {
    const strip = stripOf(rowsOf(0, 100), 1_000, 200);
    drawnAll(strip, () => 50, 0);
    strip.look(980, 200);
    const before = strip.topOf(20);
    strip.measure([["row 19", 200]], strip.range(0));
    expect(strip.topOf(20)).toBe(before);
    expect(strip.topOf(19)).toBe(before - 200);
  });

  it("[V1] a row that fills the window and becomes short is not left above it", () => {
    const strip = stripOf(rowsOf(0, 4), 0, 200);
    strip.measure([["row 1", 500]], strip.range(0));
    strip.look(300, 200);
    strip.measure([["row 1", 60]], strip.range(0));
    expect(strip.topOf(1)).toBe(300);
  });

  it("[V1] a row that becomes short above the window moves nothing below it", () => {
    const strip = stripOf(rowsOf(0, 4), 0, 200);
    strip.measure([["row 1", 500]], strip.range(0));
    strip.look(450, 200);
    const before = strip.topOf(2);
    strip.measure([["row 1", 60]], strip.range(0));
    expect(strip.topOf(2)).toBe(before);
  });

  it("[V1] a row that was navigated to stays, whatever the heights of those around it", () => {
    const strip = stripOf(rowsOf(0, 100), 1_000, 200);
    strip.pin(22);
    drawnAll(strip, (key) => 10 + key.length * 30);
    expect(strip.topOf(22)).toBe(1_100);
  });

  it("[V1] whatever happens, in any order, a drawn row on the screen keeps its place", () => {
    const step = fc.oneof(
      fc.record({ type: fc.constant("front" as const), count: fc.integer({ min: 1, max: 60 }) }),
      fc.record({ type: fc.constant("behind" as const), count: fc.integer({ min: 1, max: 60 }) }),
      fc.record({ type: fc.constant("without" as const), count: fc.integer({ min: 0, max: 30 }) }),
      fc.record({ type: fc.constant("grow" as const), count: fc.integer({ min: 0, max: 200 }) }),
      fc.record({ type: fc.constant("scroll" as const), count: fc.integer({ min: -900, max: 900 }) }),
    );
    let stayed = 0;
    const run = (steps: readonly { type: string; count: number }[]) => {
      let [from, to] = [1_000, 1_080];
      const strip = stripOf(rowsOf(from, to), 600, 300);
      const px = (key: string) => ((Number(key.slice(4)) * 7_919) % 180) + 1;
      drawnAll(strip, px);
      for (const { type, count } of steps) {
        if (type === "scroll") {
          strip.look(Math.min(strip.end, Math.max(strip.start, strip.window.top + count)), 300);
          drawnAll(strip, px);
          continue;
        }
        const { from: first, to: last } = strip.range(0);
        const seen = strip.rows
          .slice(first, last)
          .map(({ key }, i) => ({ key, top: strip.topOf(first + i) }));
        if (type === "front") from -= count;
        if (type === "behind") to += count;
        if (type === "without") from = Math.min(from + count, to - 40);
        if (type === "grow") strip.measure([[`row ${to - 1}`, 300 + count]], strip.range(100));
        else strip.take(rowsOf(from, to));
        const places = strip.rows.map(({ key }, i) => ({ key, top: strip.topOf(i) }));
        const kept = seen.filter(({ key }) => strip.rows.some((row) => row.key === key));
        for (const { key, top } of kept)
          expect(places.find((place) => place.key === key)?.top).toBeCloseTo(top, 6);
        stayed += kept.length;
        drawnAll(strip, (key) => (key === `row ${to - 1}` && type === "grow" ? 300 + count : px(key)));
      }
    };
    fc.assert(fc.property(fc.array(step, { maxLength: 30 }), run), { numRuns: 150, seed: 7 });
    expect(stayed).toBeGreaterThan(1_000);
  });
});

describe("[V1] a list of another width", () => {
  const half = (strip: Strip<Keyed>) => {
    const range = strip.range(100);
    const sizes = strip.rows.slice(range.from, range.to).map(({ key }, i) => [key, 30 + i] as const);
    strip.measure(sizes, range, true);
  };

  it("keeps the first row that begins in the window, though the one before it has other lines", () => {
    const strip = stripOf(rowsOf(0, 100), 1_010, 200);
    drawnAll(strip, () => 60);
    const { from } = strip.range(0);
    const before = strip.topOf(from + 1);
    half(strip);
    expect(strip.topOf(from + 1)).toBe(before);
  });

  it("keeps about the same part of a row that fills the window", () => {
    const strip = stripOf(rowsOf(0, 3), 0, 200);
    strip.measure(
      [
        ["row 0", 50],
        ["row 1", 2_050],
        ["row 2", 50],
      ],
      { from: 0, to: 3 },
    );
    strip.look(1_075, 200);
    strip.measure([["row 1", 4_100]], { from: 0, to: 3 }, true);
    expect(1_075 - strip.topOf(1)).toBe(2_050);
  });

  it("keeps the row that was navigated to", () => {
    const strip = stripOf(rowsOf(0, 100), 1_010, 200);
    drawnAll(strip, () => 60);
    const { from } = strip.range(0);
    strip.pin(from + 2);
    const before = strip.topOf(from + 2);
    half(strip);
    expect(strip.topOf(from + 2)).toBe(before);
  });
});

describe("the rows around a range", () => {
  it.each([
    ["as many on both sides", { from: 40, to: 60 }, 100, 40, { from: 30, to: 70 }],
    ["what one side does not need for the other", { from: 5, to: 10 }, 100, 40, { from: 0, to: 40 }],
    ["the same at the end", { from: 90, to: 95 }, 100, 40, { from: 60, to: 100 }],
    ["all that there are", { from: 1, to: 2 }, 9, 40, { from: 0, to: 9 }],
    ["no fewer than the range", { from: 20, to: 80 }, 100, 40, { from: 20, to: 80 }],
  ])("are %s", (_, range, length, most, expected) => {
    expect(around(range, length, most)).toEqual(expected);
  });
});
