/** Search over blocks: which are searched, in which order, and when it ends. */
import { describe, expect, it } from "vitest";
import { type Block, blockOf } from "../model/block.ts";
import type { Kind } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import type { SearchAnswer, SearchPlace, SearchQuery } from "../ports/store.ts";
import { fitsSearch, inlineMatcher, type SearchSource, searchBlocks } from "./search.ts";
import { filterOf, mayContain, trigramsOf } from "./trigram.ts";

interface Kept {
  readonly text: string;
  readonly kind?: Kind;
  readonly conversation?: string;
  readonly path?: string;
  readonly isRunning?: boolean;
}

/** Blocks in the order of their creation. `asked` lists the texts that were read. */
function sourceOf(kept: readonly Kept[], asked: string[] = []): SearchSource {
  const blocks = kept.map((each, born) => ({ ...each, block: keptBlock(each, born + 1) }));
  const find = (id: string) => blocks.find(({ block }) => block.id === id);
  return {
    *candidates(query, demand) {
      const trigrams = trigramsOf(demand);
      for (const { block, text, isRunning } of blocks.toReversed()) {
        if (!fitsSearch(block, query)) continue;
        if (isRunning || mayContain(filterOf(text), trigrams)) yield block.id;
      }
    },
    block: (id) => find(id)?.block,
    text: async (id) => {
      asked.push(id);
      return find(id)?.text ?? "";
    },
  };
}

function keptBlock(
  { kind = "text", conversation = "c", path, isRunning = false }: Kept,
  born: number,
): Block {
  return blockOf({
    id: `${conversation}/a/${born}`,
    conversation,
    agent: "a",
    kind,
    role: "model",
    status: isRunning ? "running" : "done",
    parent: null,
    side: false,
    version: 1,
    seq: born,
    born,
    createdAt: 0,
    updatedAt: 0,
    chars: 0,
    newlines: 0,
    pruned: false,
    promoted: false,
    metadata: path === undefined ? {} : { path },
  });
}

const base: SearchQuery = {
  pattern: "needle",
  literal: false,
  ignoreCase: false,
  contextLines: 0,
  maxMatchesPerBlock: 10,
  maxBlocks: 10,
  deadlineMs: 100,
};

async function search(
  source: SearchSource,
  query: Partial<SearchQuery>,
  clock = () => 0,
): Promise<SearchAnswer> {
  const answer = await searchBlocks(source, { ...base, ...query }, clock);
  if (isProblem(answer)) throw new Error(answer.message);
  return answer;
}

const ids = (answer: SearchAnswer) => answer.hits.map((hit) => hit.block.born).join(" ");

it("[Q16] hits come newest first", async () => {
  const source = sourceOf([{ text: "a needle" }, { text: "nothing" }, { text: "needle\nneedle" }]);
  const answer = await search(source, {});
  expect(ids(answer)).toBe("3 1");
  expect(answer.more).toBe(false);
  expect(answer.hits[0]?.matches).toMatchObject([{ line: 0 }, { line: 1, start: 0, end: 6 }]);
});

it("[Q13] blocks that cannot match are not read", async () => {
  const asked: string[] = [];
  const source = sourceOf(
    [{ text: "a haystack of straw" }, { text: "the needle" }, { text: "other words" }],
    asked,
  );
  expect(ids(await search(source, {}))).toBe("2");
  expect(asked).toEqual(["c/a/2"]);
});

it("[Q15] a block without a filter is always searched", async () => {
  const asked: string[] = [];
  const source = sourceOf(
    [
      { text: "zzz", isRunning: true },
      { text: "needle", isRunning: true },
    ],
    asked,
  );
  expect(ids(await search(source, {}))).toBe("2");
  expect(asked).toHaveLength(2);
});

describe("[Q17] where to look", () => {
  const source = sourceOf([
    { text: "needle", kind: "text", conversation: "x" },
    { text: "needle", kind: "file", path: "src/a.ts" },
    { text: "needle", kind: "file", path: "docs/a.md" },
    { text: "needle", kind: "code", conversation: "x" },
  ]);
  it.each([
    [{}, "4 3 2 1"],
    [{ conversation: "x" }, "4 1"],
    [{ conversation: "nowhere" }, ""],
    [{ kinds: ["file"] as Kind[] }, "3 2"],
    [{ kinds: [] }, ""],
    [{ pathPrefix: "src/" }, "2"],
    [{ kinds: ["file", "text"] as Kind[], conversation: "x" }, "1"],
    [{ pattern: "absent" }, ""],
  ])("%j: %s", async (query, expected) => {
    expect(ids(await search(source, query))).toBe(expected);
  });
});

describe("[Q18] how long to search", () => {
  const many = Array.from({ length: 250 }, () => ({ text: "a needle, a needle" }));

  it.each([
    [{ maxBlocks: 3 }, 3, true],
    [{ maxBlocks: 250 }, limits.searchBlocks, true],
    [{ maxBlocks: 0 }, 0, true],
  ])("%j", async (query, hits, more) => {
    const answer = await search(sourceOf(many), query);
    expect([answer.hits.length, answer.more]).toEqual([hits, more]);
  });

  it("tells of more only if something was left", async () => {
    expect((await search(sourceOf(many.slice(0, 3)), { maxBlocks: 3 })).more).toBe(false);
    expect((await search(sourceOf(many.slice(0, 3)), { maxBlocks: 2 })).more).toBe(true);
  });

  it("returns what was found when the time was up", async () => {
    let now = 0;
    const answer = await search(sourceOf(many), { deadlineMs: 20 }, () => now++);
    expect(answer.more).toBe(true);
    expect(answer.hits.length).toBeGreaterThan(0);
    expect(answer.hits.length).toBeLessThan(20);
  });

  it("matches of one block are limited apart", async () => {
    const answer = await search(sourceOf(many.slice(0, 1)), { maxMatchesPerBlock: 1 });
    expect(answer).toMatchObject({ more: false, hits: [{ more: true, matches: [{ start: 2 }] }] });
  });
});

describe("[Q32] pages", () => {
  const some = Array.from({ length: 17 }, (_, i) => ({ text: i % 4 === 3 ? "straw" : "a needle" }));
  const expected = "17 15 14 13 11 10 9 7 6 5 3 2 1";

  /** All pages, as long as there is a next one. */
  async function pages(
    source: SearchSource,
    query: Partial<SearchQuery>,
    clock = () => 0,
  ): Promise<string[]> {
    const found: string[] = [];
    let after: SearchPlace | undefined;
    do {
      const answer = await search(source, { ...query, ...(after === undefined ? {} : { after }) }, clock);
      found.push(ids(answer));
      expect(answer.next !== undefined).toBe(answer.more);
      after = answer.next;
    } while (after !== undefined);
    return found;
  }

  it.each([1, 3, 5])("of %i blocks have every hit once, in order", async (maxBlocks) => {
    const found = await pages(sourceOf(some), { maxBlocks });
    expect(found.join(" ")).toBe(expected);
    expect(found.length).toBe(Math.ceil(13 / maxBlocks));
  });

  it("continue where the time was up, even if nothing was found", async () => {
    let now = 0;
    const asked: string[] = [];
    const found = await pages(sourceOf(some, asked), { pattern: "n.{3}le", deadlineMs: 9 }, () => now++);
    expect(found.length).toBeGreaterThan(2);
    expect(found.filter(Boolean).join(" ")).toBe(expected);
    expect(new Set(asked).size).toBe(asked.length);
  });

  it("have no next one after blocks without a known age", async () => {
    const source = { ...sourceOf(some), isUnordered: (id: string) => id === "c/a/14" };
    expect(await search(source, { maxBlocks: 3 })).toMatchObject({ more: true });
    expect((await search(source, { maxBlocks: 3 })).next).toBeUndefined();
    expect((await search(source, { maxBlocks: 2 })).next).toEqual({
      createdAt: 0,
      conversation: "c",
      born: 15,
    });
  });
});

describe("[Q1] a refused pattern", () => {
  it("is the answer of a search and of a matcher", async () => {
    const refused = { problem: "pattern" };
    expect(await searchBlocks(sourceOf([]), { ...base, pattern: "(" }, () => 0)).toMatchObject(refused);
    const query = { pattern: "(", literal: false, ignoreCase: false, contextLines: 0, maxMatches: 1 };
    expect(await inlineMatcher(() => 0)("text", query, 10)).toMatchObject(refused);
  });
});

describe("[Q11] a matcher", () => {
  const query = { pattern: "e", literal: true, ignoreCase: false, contextLines: 0, maxMatches: 2 };
  it("finds as many as requested", async () => {
    expect(await inlineMatcher(() => 0)("e e e", query, 10)).toMatchObject({ more: true, matches: [{}, {}] });
    expect(await inlineMatcher(() => 0)("e e", query, 10)).toMatchObject({ more: false, matches: [{}, {}] });
  });
  it("and no longer than it may", async () => {
    let now = 0;
    expect(await inlineMatcher(() => now++)("e e e", query, 1)).toMatchObject({ more: true, matches: [{}] });
  });
});
