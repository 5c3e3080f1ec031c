/** The page of benchmarks says what the results say, and nothing else. */
import { expect, it } from "vitest";
import { pageOf } from "./benchmarks-page.ts";
import { keptBenches } from "./kept-page.ts";
import type { SavedResult } from "./result.ts";

const result: SavedResult = {
  name: "append",
  question: "How fast?",
  figures: { share: 0.612, lost: 2, extra: 12_345.6 },
  targets: { share: { min: 0.5 }, lost: { max: 0 }, never: { max: 1 } },
  pass: false,
  spreads: { share: { median: 0.612, low: 0.6, high: 0.65, count: 9 } },
  parts: [
    { note: "  with a | in it" },
    { table: [{ what: "ours", ms: 1.5 }] },
    { plot: { name: "cost", title: "Cost", x: { label: "x" }, y: { label: "y" }, series: [] } },
  ],
  seconds: 12.3,
  date: "2026-11-15",
  runningPrograms: 0.4,
  machine: {
    cores: 2,
    processor: "P",
    memoryGb: 8,
    kernel: "Linux 6",
    node: "24",
    sqlite: "3",
    chromium: "1",
  },
  packages: { yjs: "13.6.33" },
};

it("shows each figure with its spread, its target and whether it was kept", () => {
  const page = pageOf([result]);
  expect(page).toContain("| share | 0.612 | 0.6 to 0.65 of 9 | ≥ 0.5 | ok |");
  expect(page).toContain("| lost | 2 |  | ≤ 0 | MISSED |");
  expect(page).toContain("| never | not measured |  | ≤ 1 | MISSED |");
  expect(page).toContain("| extra | 12,346 |  |  |  |");
  expect(page).toContain("| [append](#append) | How fast? | 3 | MISSED: lost, never |");
});

it("shows what the bench told on the way, and the machine once", () => {
  const page = pageOf([result, { ...result, name: "edit" }]);
  expect(page).toContain("with a \\| in it");
  expect(page).toContain("| what | ms |\n|---|--:|\n| ours | 1.5 |");
  expect(page).toContain("![Cost](benchmarks/append-cost.svg)");
  expect(page.match(/yjs 13\.6\.33/g)).toHaveLength(1);
});

it("warns when the machine had other work", () => {
  expect(pageOf([result])).not.toContain("was busy");
  expect(pageOf([result, { ...result, runningPrograms: 5 }])).toContain("up to 2.5 other programs per core");
});

it("keeps what it says of benches that have no result here, with their machine", () => {
  const both = pageOf([result, { ...result, name: "search", machine: { ...result.machine, cores: 8 } }]);
  const [, search] = keptBenches(both);
  expect(pageOf([result], search ? [search] : [])).toBe(both);
  expect(keptBenches(pageOf([], keptBenches(both)))).toEqual(keptBenches(both));
});
