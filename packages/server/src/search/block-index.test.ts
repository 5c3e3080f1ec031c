/** What the search thread caches: the index of blocks, and the texts it has read. */
import { compilePattern, filterOf, isProblem, type SearchQuery, trigramsOf } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { BlockIndex, type Outline } from "./block-index.ts";
import { RecentTexts } from "./recent-texts.ts";

const base: SearchQuery = {
  pattern: "needle",
  literal: true,
  ignoreCase: false,
  contextLines: 0,
  maxMatchesPerBlock: 1,
  maxBlocks: 1,
  deadlineMs: 1,
};

function outline(row: number, text: string | undefined, more: Partial<Outline> = {}): Outline {
  return {
    row,
    conversation: "c",
    born: row,
    createdAt: row,
    kind: "text",
    path: null,
    version: 1,
    filter: text === undefined ? undefined : filterOf(text),
    ...more,
  };
}

/** Rows of the candidates, in order. */
function rows(index: BlockIndex, query: Partial<SearchQuery> = {}): number[] {
  const whole = { ...base, ...query };
  const pattern = compilePattern(whole);
  if (isProblem(pattern)) throw new Error(pattern.message);
  return [...index.candidates(whole, trigramsOf(pattern.demand))].map((entry) => entry.row);
}

describe("[Q15] [Q16] [Q17] [Q32] the index", () => {
  it("returns possible matches, newest first, in whatever order they came", () => {
    const index = new BlockIndex();
    for (const row of [3, 1, 4, 2]) index.put(outline(row, row === 2 ? "straw" : "a needle"));
    index.put(outline(5, undefined));
    expect(rows(index)).toEqual([5, 4, 3, 1]);
    expect(rows(index, { pattern: "straw" })).toEqual([5, 2]);
    expect(rows(index, { pattern: "st" })).toEqual([5, 4, 3, 2, 1]);
  });

  it("orders by time, then by conversation and birth", () => {
    const index = new BlockIndex();
    index.put(outline(1, undefined, { createdAt: 9, conversation: "b", born: 1 }));
    index.put(outline(2, undefined, { createdAt: 9, conversation: "a", born: 7 }));
    index.put(outline(3, undefined, { createdAt: 9, conversation: "a", born: 8 }));
    index.put(outline(4, undefined, { createdAt: 2, conversation: "z", born: 1 }));
    expect(rows(index)).toEqual([1, 3, 2, 4]);
    expect(rows(index, { conversation: "a" })).toEqual([3, 2]);
    expect(rows(index, { after: { createdAt: 9, conversation: "a", born: 8 } })).toEqual([2, 4]);
  });

  it("knows current kinds and paths", () => {
    const index = new BlockIndex();
    index.put(outline(1, undefined, { kind: "file", path: "src/a.ts" }));
    index.put(outline(2, undefined));
    expect(rows(index, { kinds: ["file"] })).toEqual([1]);
    expect(rows(index, { pathPrefix: "src/" })).toEqual([1]);
    index.put(outline(1, undefined, { kind: "file", path: "lib/a.ts", version: 2 }));
    expect(rows(index, { pathPrefix: "src/" })).toEqual([]);
  });
});

describe("[Q12] filters in the index", () => {
  it("are those of the current version", () => {
    const index = new BlockIndex();
    index.put(outline(1, "straw"));
    expect(rows(index)).toEqual([]);
    index.put(outline(1, undefined, { version: 2 }));
    expect(rows(index)).toEqual([1]);
    index.put(outline(1, "a needle", { version: 3 }));
    expect(rows(index)).toEqual([1]);
    index.put(outline(1, "straw", { version: 4 }));
    expect(rows(index)).toEqual([]);
  });

  it("built here stay until the version changes", () => {
    const index = new BlockIndex();
    index.put(outline(1, undefined));
    index.putFilter(index.entry(1)!, filterOf("straw"));
    index.put(outline(1, undefined));
    expect(rows(index)).toEqual([]);
    index.put(outline(1, undefined, { version: 2 }));
    expect(rows(index)).toEqual([1]);
  });

  it("survive growing and closing of gaps", () => {
    const index = new BlockIndex();
    const text = (row: number) => Array.from({ length: 900 }, (_, i) => `${row}-${i * 7919}`).join(" ");
    for (let round = 1; round <= 3; round++) {
      for (let row = 1; row <= 120; row++)
        index.put(outline(row, `${text(row)} word${row % 10}x`, { version: round }));
    }
    for (let digit = 0; digit < 10; digit++) {
      const found = rows(index, { pattern: `word${digit}x` });
      for (let row = 1; row <= 120; row++) if (row % 10 === digit) expect(found).toContain(row);
      expect(found.length).toBeLessThan(60);
    }
    expect(index.size).toBe(120);
  });

  it("have a memory limit; a block without one is searched", () => {
    const index = new BlockIndex(64 * 1024);
    const text = Array.from({ length: 2_000 }, (_, i) => `straw${i * 7919}`).join(" ");
    for (let row = 1; row <= 200; row++) index.put(outline(row, text));
    expect(index.filterBytes).toBeLessThanOrEqual(64 * 1024);
    const found = rows(index);
    expect(found.length).toBeGreaterThan(100);
    expect(found.length).toBeLessThan(200);
  });
});

it("[Q14] at their bound filters are not copied for each further block", () => {
  const index = new BlockIndex(64 * 1024);
  const text = Array.from({ length: 2_000 }, (_, i) => `straw${i * 7919}`).join(" ");
  for (let row = 1; row <= 100; row++) index.put(outline(row, text));
  const kept = index.filterBytes;
  let copied = 0;
  const set = Uint8Array.prototype.set;
  Uint8Array.prototype.set = function (source, offset) {
    copied += source.length;
    set.call(this, source, offset);
  };
  try {
    for (let row = 101; row <= 400; row++) index.put(outline(row, text));
  } finally {
    Uint8Array.prototype.set = set;
  }
  expect(copied).toBeLessThan(2 * kept);
});

describe("recent texts", () => {
  it("[Q22] are given for their version only", () => {
    const recent = new RecentTexts(100);
    recent.put(1, 1, "one");
    expect([recent.get(1, 1), recent.get(1, 2), recent.get(2, 1)]).toEqual(["one", undefined, undefined]);
    recent.put(1, 2, "two");
    expect([recent.get(1, 1), recent.get(1, 2), recent.chars]).toEqual([undefined, "two", 3]);
  });

  it("are evicted in the order of their use, and large ones are not cached", () => {
    const recent = new RecentTexts(80);
    for (let row = 1; row <= 8; row++) recent.put(row, 1, "x".repeat(10));
    recent.get(1, 1);
    recent.put(9, 1, "x".repeat(10));
    expect([recent.get(1, 1)?.length, recent.get(2, 1), recent.chars]).toEqual([10, undefined, 80]);
    recent.put(10, 1, "x".repeat(11));
    expect([recent.get(10, 1), recent.chars]).toEqual([undefined, 80]);
  });
});
