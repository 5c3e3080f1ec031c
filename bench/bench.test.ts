/** The arithmetic of benches, on numbers small enough to check by hand; and that `npm run bench` finds its benches. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { alternate, type Bench, judge, keeps, measured, median, quantile, worst } from "./bench.ts";

describe("quantile", () => {
  it.each([
    [[3, 1, 2], 0.5, 2],
    [[1, 2, 3, 4], 0.5, 2.5],
    [[10], 0.99, 10],
    [[0, 10], 0.25, 2.5],
    [[5, 1, 9], 0, 1],
    [[5, 1, 9], 1, 9],
  ])("of %j at %d is %d", (values, share, expected) => {
    expect(quantile(values, share)).toBe(expected);
  });

  it("refuses no values", () => {
    expect(() => median([])).toThrow(RangeError);
  });
});

describe("targets", () => {
  it.each([
    [5, { max: 5 }, true],
    [5.1, { max: 5 }, false],
    [5, { min: 5, max: 6 }, true],
    [4, { min: 5 }, false],
    [undefined, { max: 5 }, false],
    [Number.NaN, { max: 5 }, false],
  ])("figure %s against %j: %s", (figure, target, expected) => {
    expect(keeps(figure, target)).toBe(expected);
  });

  it("fail a bench that did not measure what it promised", () => {
    const bench: Bench = { name: "x", question: "?", targets: { openMs: { max: 1 } }, run: async () => ({}) };
    expect(judge(bench, {}).pass).toBe(false);
    expect(judge(bench, { openMs: 1 }).pass).toBe(true);
  });
});

describe("alternate", () => {
  it("takes turns in going first, and compares within pairs", async () => {
    const order: string[] = [];
    // The machine gets slower with every pair; the ratio does not care.
    const slow = { a: 0, b: 0 };
    const result = await alternate(
      4,
      () => {
        order.push("a");
        return 2 * 10 ** slow.a++;
      },
      () => {
        order.push("b");
        return 10 ** slow.b++;
      },
    );
    expect(order.join("")).toBe("abbaabba");
    expect(result.ratio).toBe(2);
    expect(result.spread).toBe(0);
    expect(result.medianA).toBe(110);
  });
});

describe("measured", () => {
  it("keeps the median and the middle half", () => {
    expect(measured([5, 1, 2, 3, 4])).toEqual({ median: 3, low: 2, high: 4, count: 5 });
  });

  it("judges by the median; of several figures by the worst", () => {
    const bench: Bench = { name: "x", question: "?", targets: { r: { max: 3 } }, run: async () => ({}) };
    const good = measured([1, 3, 9]);
    const bad = measured([4, 4, 4]);
    expect(judge(bench, { r: good })).toMatchObject({ figures: { r: 3 }, pass: true });
    expect(judge(bench, { r: worst([good, bad]) }).pass).toBe(false);
    expect(worst([good, bad], false)).toBe(good);
  });
});

it("lists its benches: any other file beside them would stop all of them", () => {
  const run = fileURLToPath(new URL("./run.ts", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [run, "--list"], { encoding: "utf8" });
  expect(stderr).not.toContain("must export a bench");
  expect(status).toBe(0);
  expect(stdout).toMatch(/^append +What share/m);
});
