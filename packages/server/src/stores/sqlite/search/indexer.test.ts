/** The search index of a database: that it has everything, however its making was ended, and finds what reading everything finds. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  isProblem,
  type SearchAnswer,
  type SearchPlace,
  type SearchQuery,
  searchBlocks,
} from "@blockyard/kernel";
import { StoreScript } from "@blockyard/kernel/store-contract";
import { afterAll, describe, expect, it } from "vitest";
import { RecentTexts } from "../../../search/recent-texts.ts";
import { StoreReader } from "../reader.ts";
import { openSqliteStore } from "../sqlite.ts";
import { indexPath } from "./index-folder.ts";
import { Indexer } from "./indexer.ts";
import { DatabaseSource } from "./source.ts";

const directory = mkdtempSync(join(tmpdir(), "blockyard-indexer-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const ALL = Number.MAX_SAFE_INTEGER;
const CONVERSATIONS = 6;
const BLOCKS = 150;

/** A database that is closed, with more blocks than are scanned one by one. */
async function database(name: string): Promise<string> {
  const path = join(directory, `${name}.db`);
  const store = await openSqliteStore(path);
  for (let c = 0; c < CONVERSATIONS; c++) {
    const script = new StoreScript(`c${c}`);
    script.now += c * 1_000;
    for (let i = 0; i < BLOCKS; i++)
      script.create({
        text: `block ${i} of ${c}, ${i % 10 === 0 ? "needle" : "straw"} id${c}x${i}`,
        status: "done",
      });
    await script.commit(store);
  }
  await store.close();
  return path;
}

const query: SearchQuery = {
  pattern: "needle",
  literal: true,
  ignoreCase: false,
  contextLines: 0,
  maxMatchesPerBlock: 1,
  maxBlocks: 200,
  deadlineMs: 250,
};

async function search(
  reader: StoreReader,
  indexer: Indexer,
  asked: Partial<SearchQuery> = {},
  clock = () => 0,
) {
  const source = new DatabaseSource(reader, indexer, new RecentTexts(1_000_000), []);
  const answer = await reader.snapshot(() => searchBlocks(source, { ...query, ...asked }, clock));
  if (isProblem(answer)) throw new Error(answer.message);
  return answer;
}

function opened(path: string): { readonly reader: StoreReader; readonly indexer: Indexer } {
  const reader = new StoreReader(path);
  const indexer = new Indexer(reader, path);
  indexer.note(undefined, ALL);
  return { reader, indexer };
}

/** Steps of work; gives whether it was all. */
function work(indexer: Indexer, steps = Number.POSITIVE_INFINITY): boolean {
  const all = indexer.work();
  for (let i = 0; i < steps; i++) if (all.next().done === true) return true;
  return false;
}

const ids = ({ hits }: SearchAnswer) => hits.map(({ block }) => block.id);
const expected = Array.from({ length: CONVERSATIONS * 15 }, (_, i) => {
  const conversation = CONVERSATIONS - 1 - Math.floor(i / 15);
  return `c${conversation}/model/${141 - (i % 15) * 10}`;
});

describe("[Q25] the index has everything, however its making was ended", () => {
  it("before, after any step of the work, and after all of it", async () => {
    const path = await database("ended");
    for (const steps of [0, 1, 100, 500, 899, 901, 905, Number.POSITIVE_INFINITY]) {
      const { reader, indexer } = opened(path);
      const sorted = (answer: SearchAnswer) => ids(answer).sort();
      expect(sorted(await search(reader, indexer)), `${steps} steps`).toEqual(expected.toSorted());
      const isDone = work(indexer, steps);
      const answer = await search(reader, indexer);
      expect(sorted(answer), `after ${steps} steps`).toEqual(expected.toSorted());
      expect(answer.indexing === undefined).toBe(isDone);
      if (isDone) expect(ids(answer)).toEqual(expected);
      reader.close();
    }
    const { reader, indexer } = opened(path);
    expect([indexer.backlog, indexer.fresh.size, indexer.isBehind]).toEqual([[], 0, false]);
    expect(indexer.folder.documents).toBe(CONVERSATIONS * BLOCKS);
    reader.close();
  });

  it("also text written after it, and unfinished blocks", async () => {
    const path = await database("later");
    const first = opened(path);
    work(first.indexer);
    first.reader.close();
    const store = await openSqliteStore(path);
    const script = new StoreScript("later");
    const open = script.create({ text: "a needle that grows", status: "running" });
    const done = script.create({ text: "another needle", status: "done" });
    await script.commit(store);
    await store.close();
    const { reader, indexer } = opened(path);
    expect(ids(await search(reader, indexer, { conversation: "later" }))).toEqual([done, open]);
    expect([...indexer.fresh.values()].map(({ name }) => name)).toEqual(["later", "later"]);
    reader.close();
  });

  it("a cursor waits for what the tables lack", async () => {
    const path = await database("cursor");
    const reader = new StoreReader(path);
    const indexer = new Indexer(reader, path);
    // As far as the index knows, nothing is certain to be in the tables.
    indexer.note(undefined, 0);
    work(indexer);
    expect(indexer.folder.cursors.size).toBe(0);
    expect(indexer.folder.documents).toBe(CONVERSATIONS * BLOCKS);
    reader.close();
    const again = opened(path);
    expect(again.indexer.isBehind).toBe(true);
    expect(ids(await search(again.reader, again.indexer))).toEqual(expected);
    again.reader.close();
  });
});

it("[Q28] while it is being built, an answer has what was found in time, and states the index's progress", async () => {
  const { reader, indexer } = opened(await database("partial"));
  let nowMs = 0;
  const answer = await search(reader, indexer, {}, () => nowMs++);
  expect(answer.more).toBe(true);
  expect(answer.hits.length).toBeGreaterThan(0);
  expect(answer.hits.length).toBeLessThan(expected.length);
  expect(answer.indexing).toMatchObject({ total: CONVERSATIONS });
  work(indexer);
  expect(await search(reader, indexer, { maxBlocks: 3 }, () => nowMs++)).toMatchObject({ more: true });
  expect(ids(await search(reader, indexer, { maxBlocks: 3 }))).toEqual(expected.slice(0, 3));
  reader.close();
});

it("[Q28] an answer also states it if much was written and is not indexed yet", async () => {
  const path = await database("written");
  const { reader, indexer } = opened(path);
  work(indexer);
  const store = await openSqliteStore(path);
  const script = new StoreScript("written");
  for (let i = 0; i < 3_000; i++) script.create({ text: `straw ${i}`, status: "done" });
  await script.commit(store);
  await store.close();
  const row = reader.conversationRow("written") as number;
  const rows = reader.outlinesAfter(row, 0, 3_000).map((outline) => outline.row);
  expect(rows).toHaveLength(3_000);
  const writtenRows = (count: number) => {
    indexer.note(rows.slice(0, count), ALL);
    return search(reader, indexer);
  };
  expect((await writtenRows(200)).indexing).toBeUndefined();
  expect((await writtenRows(3_000)).indexing).toEqual({ indexed: CONVERSATIONS, total: CONVERSATIONS + 1 });
  work(indexer);
  expect((await search(reader, indexer)).indexing).toBeUndefined();
  reader.close();
});

describe("[Q32] pages", () => {
  /** All hits, page by page. */
  async function pages(reader: StoreReader, indexer: Indexer, maxBlocks: number): Promise<string[]> {
    const found: string[] = [];
    for (let after: SearchPlace | undefined; ; ) {
      const answer = await search(reader, indexer, { maxBlocks, ...(after === undefined ? {} : { after }) });
      found.push(...ids(answer));
      after = answer.next;
      if (after === undefined) return found;
    }
  }

  it.each([1, 7, 45])("of %i blocks have every hit once, in order", async (count) => {
    const path = await database(`pages-${count}`);
    const { reader, indexer } = opened(path);
    work(indexer);
    expect(await pages(reader, indexer, count)).toEqual(expected);
    reader.close();
  });

  it("also over several segments", async () => {
    const path = await database("pages-between");
    const first = opened(path);
    work(first.indexer);
    first.reader.close();
    const store = await openSqliteStore(path);
    const script = new StoreScript("between");
    script.now += 10_000;
    for (let i = 0; i < 300; i++) script.create({ text: `needle ${i}`, status: "done" });
    await script.commit(store);
    await store.close();
    const { reader, indexer } = opened(path);
    work(indexer);
    const all = ids(await search(reader, indexer, { maxBlocks: 200 }));
    const found = await pages(reader, indexer, 20);
    expect(found.slice(0, 200)).toEqual(all);
    expect(found).toHaveLength(300 + expected.length);
    expect(new Set(found).size).toBe(found.length);
    expect(indexer.folder.segments.length).toBeGreaterThan(1);
    reader.close();
  });

  it("give no block twice while the index is being made", async () => {
    const path = await database("pages-indexing");
    const first = opened(path);
    work(first.indexer);
    first.reader.close();
    // As after a crash: the index has blocks that it does not know to have.
    const { reader, indexer } = opened(path);
    indexer.backlog = reader
      .conversationStates()
      .map((state) => ({ ...state, seq: state.seq + 1, after: state.seq - 50 }));
    const found = await pages(reader, indexer, 20);
    expect(new Set(found).size).toBe(found.length);
    expect(found.toSorted()).toEqual(expected.toSorted());
    reader.close();
  });
});

it("[Q29] finding the first page costs its hits: other blocks are not read", async () => {
  const { reader, indexer } = opened(await database("cost"));
  work(indexer);
  let read = 0;
  const source = new DatabaseSource(reader, indexer, new RecentTexts(1_000_000), []);
  const text = source.text.bind(source);
  source.text = (candidate) => {
    read++;
    return text(candidate);
  };
  const found = async (asked: Partial<SearchQuery>) => {
    read = 0;
    const answer = await searchBlocks(source, { ...query, ...asked }, () => 0);
    return [isProblem(answer) ? answer : answer.hits.length, read];
  };
  expect(await found({ pattern: "id3x77" })).toEqual([1, 1]);
  expect(await found({ pattern: "absentword" })).toEqual([0, 0]);
  expect(await found({ maxBlocks: 5 })).toEqual([5, 5]);
  expect(await found({ pattern: "id3x7\\d\\b", literal: false })).toEqual([10, 11]); // and id3x7
  expect(await found({ conversation: "c2" })).toEqual([15, 15]);
  reader.close();
});

describe("[Q27] an index that differs from what was written is rebuilt", () => {
  it.each(["segments.json", "1.seg"])("%s", async (name) => {
    const path = await database(`damaged-${name}`);
    const first = opened(path);
    work(first.indexer);
    first.reader.close();
    const file = join(indexPath(path), readdirSync(indexPath(path)).find((each) => each === name) as string);
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, bytes.length - 9));
    const { reader, indexer } = opened(path);
    expect(indexer.folder.segments).toEqual([]);
    work(indexer);
    expect(ids(await search(reader, indexer))).toEqual(expected);
    reader.close();
  });

  it("one of a database that was restored", async () => {
    const path = await database("restored");
    const first = opened(path);
    work(first.indexer);
    first.reader.close();
    const store = await openSqliteStore(path);
    await store.newEpoch();
    await store.close();
    const { reader, indexer } = opened(path);
    expect(indexer.folder.segments).toEqual([]);
    reader.close();
  });
});

it("[Q30] a block that is edited again and again is not indexed each time", async () => {
  const path = await database("edited");
  const store = await openSqliteStore(path);
  const script = new StoreScript("edited");
  const block = script.create({ text: "first", status: "done" });
  await script.commit(store);
  await store.close();
  const { reader, indexer } = opened(path);
  work(indexer);
  const conversation = reader.conversationRow("edited") as number;
  const [outline] = reader.outlinesAfter(conversation, 0, 1);
  if (outline === undefined) throw new Error("the block is missing");
  const segments = indexer.folder.segments.length;
  let version = outline.version;
  // The tables after an edit; large enough for a segment of its own.
  reader.outline = () => ({ ...outline, version, chars: 8_000_000 });
  for (let edit = 0; edit < 20; edit++) {
    version++;
    indexer.note([outline.row], ALL);
    if (edit > 0) work(indexer);
  }
  expect(indexer.folder.segments.length).toBe(segments);
  expect(indexer.fresh.get(outline.row)).toMatchObject({ version, changes: 20 });
  expect(ids(await search(reader, indexer, { pattern: "first" }))).toEqual([block]);
  reader.close();
});
