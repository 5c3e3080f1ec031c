/** Pages of a segment in memory. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { PageList, type Part } from "./page-list.ts";

const PAGES = 50_000;

/** As a directory has them when it is read. */
function directory(): { readonly parts: Part[]; readonly keys: string[] } {
  const entries = Array.from({ length: PAGES }, (_, i) => [[i * 2_300, 2_048 + (i % 300)], keyOf(i)]);
  const [parts, keys] = [entries.map(([part]) => part), entries.map(([, key]) => key)];
  return JSON.parse(JSON.stringify({ parts, keys }));
}

function keyOf(page: number): string {
  return `key${String(page).padStart(6, "0")}\u00e9`;
}

it("[Q31] keeps a page in a few bytes", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  // Other tests' garbage is collected in several rounds, which must not happen in between.
  const used = (before = Number.POSITIVE_INFINITY): number => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    const now = heapUsed + arrayBuffers;
    return now < before - PAGES ? used(now) : now;
  };
  const perPage = <T>(make: () => T): number => {
    const before = used();
    const kept = make();
    const bytes = (used() - before) / PAGES;
    expect(kept).toBeDefined();
    return bytes;
  };
  const compact = perPage(() => {
    const { parts, keys } = directory();
    return new PageList(parts, keys);
  });
  const asRead = perPage(directory);
  expect(compact).toBeLessThan(40);
  expect(asRead / compact).toBeGreaterThan(2);
});

it("[Q12] finds the page of a key", () => {
  const { parts, keys } = directory();
  const pages = new PageList(parts, keys);
  expect(pages.length).toBe(PAGES);
  for (const page of [0, 1, 777, PAGES - 1]) {
    expect(pages.firstKey(page)).toBe(keyOf(page));
    expect(pages.part(page)).toEqual(parts[page]);
    expect(pages.pageOf(keyOf(page))).toBe(page);
    expect(pages.pageOf(`${keyOf(page)}x`)).toBe(page);
    expect(pages.pageOf(`key${String(page).padStart(6, "0")}`)).toBe(page - 1);
  }
  expect(pages.part(PAGES)).toBeUndefined();
  expect(pages.pageOf("\u00ff")).toBe(PAGES - 1);
  expect(pages.pageOf("")).toBe(-1);
});
