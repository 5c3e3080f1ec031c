/** Segments of the search index: the blocks they name, compared with reading every text. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compilePattern, foldCase, isProblem, type SearchQuery } from "@blockyard/kernel";
import { afterAll, describe, expect, it } from "vitest";
import { decodePostings, intersect, PostingWriter, unite } from "./postings.ts";
import { type IndexedBlock, SegmentBuilder } from "./segment-builder.ts";
import { SegmentDamage } from "./segment-damage.ts";
import { mergeSegments } from "./segment-merge.ts";
import { SegmentReader } from "./segment-reader.ts";
import { encodeKey, piecesOf, visitTokens } from "./tokens.ts";

const directory = mkdtempSync(join(tmpdir(), "blockyard-segment-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let files = 0;

/** Consumes it to the end. */
function ended<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

function built(
  texts: readonly string[],
  change: (i: number) => Partial<IndexedBlock> = () => ({}),
): SegmentReader {
  const builder = new SegmentBuilder();
  texts.forEach((text, i) => {
    const block = {
      row: i + 1,
      version: 1,
      conversation: 1,
      born: i,
      createdAt: i,
      name: "c",
      kind: "text",
      path: null,
    };
    ended(builder.add({ ...block, ...change(i) } as IndexedBlock, text));
  });
  const path = join(directory, `${++files}.seg`);
  return new SegmentReader(path, ended(builder.write(path, [[1, 7]])));
}

function rows(
  segment: SegmentReader,
  pattern: string,
  literal = true,
  query: Partial<SearchQuery> = {},
): number[] {
  const compiled = compilePattern({ pattern, literal, ignoreCase: false });
  if (isProblem(compiled)) throw new Error(compiled.message);
  const ranks = segment.ranks(
    compiled.demand,
    query as SearchQuery,
    query.conversation === undefined ? undefined : 2,
  );
  const all = Array.from({ length: segment.directory.documents }, (_, rank) => rank);
  return [...(ranks ?? all)].map((rank) => segment.document(rank).row);
}

const TEXTS = [
  "const lease = leaseTable.rotate(42);",
  "The release of the LEASE",
  "Überlauf im Puffer; naïve σειρά",
  "検索インデックスの構築 と 全文",
  "😀 needle 😀😃",
  `data:${"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0".repeat(8)} end`,
  "a\tb\nc  if (x) {}\r\n",
  "",
];

describe("[Q12] a segment never passes over a text that holds the string", () => {
  it.each([
    ["lease", [1, 2]],
    ["leaseTable", [1]],
    ["leaseTable.rotate(", [1]],
    ["the lease", [1, 2]], // so few blocks are read rather than narrowed down further
    ["überlauf", [3]],
    ["インデックス", [4]],
    ["needle 😀😃", [5]],
    ["U1RVVldY", [6]],
    [`R0hJSktMTU5PUFFSU1RVVldYWVo0QUJDREVGR0hJSktMTU5PUFFS`, [6]],
    ["if (x)", [7]],
    ["nowhere", []],
  ] as const)("%s", (literal, expected) => {
    expect(rows(built(TEXTS), literal)).toEqual(expected);
  });

  it("also if it cannot tell", () => {
    const segment = built(TEXTS);
    for (const literal of ["x", "if", " ", "検索", "😀"])
      expect(rows(segment, literal)).toHaveLength(TEXTS.length);
    expect(rows(segment, "(lease|puffer)\\b", false)).toEqual([1, 2, 3]);
    expect(rows(segment, "l.*e|puffer", false)).toHaveLength(TEXTS.length);
  });

  it("cuts strings as it cuts texts", () => {
    const text = foldCase("if (leaseTable.rotate(検索インデ) !== Überlauf) {}");
    const keys = new Set<string>();
    visitTokens(text, 0, text.length, (bytes, length) =>
      keys.add(Buffer.from(bytes.subarray(0, length)).toString("latin1")),
    );
    for (const { text: piece, isGrams, isStart, isEnd } of piecesOf(text))
      if (!isGrams && isStart && isEnd) expect(keys).toContain(encodeKey(piece));
    expect(keys).toContain(encodeKey("überlauf"));
  });
});

it("[Q17] a segment knows the conversation, the kind and the path of its blocks", () => {
  const segment = built(["needle", "needle", "needle", "needle"], (i) => ({
    conversation: i < 2 ? 1 : 2,
    kind: i % 2 === 0 ? "text" : "file",
    path: i % 2 === 0 ? null : `/srv/${i}/a.ts`,
  }));
  expect(rows(segment, "needle", true, { conversation: "c2" })).toEqual([3, 4]);
  expect(rows(segment, "needle", true, { kinds: ["file"] })).toEqual([2, 4]);
  expect(rows(segment, "needle", true, { pathPrefix: "/srv/3" })).toEqual([4]);
  expect(rows(segment, "x", true, { pathPrefix: "/srv/3", conversation: "c2" })).toEqual([4]);
});

describe("[Q26] merged segments", () => {
  it("name what the ones before them named, by age, each block as its newest version", () => {
    const old = built(["thread one", "needle two", "needle three"], (i) => ({ createdAt: i * 10 }));
    const newer = built(["button two", "needle four"], (i) => ({
      row: i === 0 ? 2 : 4,
      version: 2,
      createdAt: i === 0 ? 10 : 15,
      born: i === 0 ? 1 : 9,
    }));
    const path = join(directory, `${++files}.seg`);
    const merged = new SegmentReader(path, ended(mergeSegments([old, newer], path, () => "c")));
    expect(merged.directory).toMatchObject({ documents: 4, oldest: 0, newest: 20, cursors: [[1, 7]] });
    expect(rows(merged, "needle")).toEqual([4, 3]);
    expect(rows(merged, "button")).toEqual([2]);
    expect(rows(merged, "thread")).toEqual([1]);
  });

  it("are as good as one built from everything", () => {
    const words = Array.from({ length: 400 }, (_, i) => `w${(i * 7919) % 1_000}x${i % 7}`);
    const texts = Array.from({ length: 300 }, (_, i) =>
      words.filter((_, w) => (w * 31 + i * 17) % 40 === 0).join(" "),
    );
    const part = (from: number) =>
      built(texts.slice(from, from + 100), (i) => ({
        row: from + i + 1,
        createdAt: ((from + i) * 7) % 50,
        born: from + i,
      }));
    const path = join(directory, `${++files}.seg`);
    const parts = [part(0), part(100), part(200)];
    const merged = new SegmentReader(path, ended(mergeSegments(parts, path, () => "c")));
    const whole = built(texts, (i) => ({ createdAt: (i * 7) % 50, born: i }));
    for (const word of words.slice(0, 60)) {
      expect(rows(merged, word)).toEqual(rows(whole, word));
      expect(rows(merged, word.slice(1, 5)).sort()).toEqual(
        texts.flatMap((text, i) => (text.includes(word.slice(1, 5)) ? [i + 1] : [])).sort(),
      );
    }
  });
});

it("[Q33] a segment is written in many short steps", () => {
  const words = Array.from({ length: 6_000 }, (_, i) => `${(i * 7_919).toString(36)}${i % 9}`);
  const texts = Array.from({ length: 3_000 }, (_, i) => `${words[i * 2]} ${words[i * 2 + 1]}`);
  const stepsOf = (work: Generator<void, number>): { steps: number; bytes: number } => {
    for (let steps = 1; ; steps++) {
      const step = work.next();
      if (step.done === true) return { steps, bytes: step.value };
    }
  };
  const builder = new SegmentBuilder();
  texts.forEach((text, i) => {
    const block = { row: i, version: 1, conversation: 1, born: i, createdAt: i, name: "c" } as const;
    ended(builder.add({ ...block, kind: "text", path: null }, text));
  });
  const path = join(directory, `${++files}.seg`);
  const written = stepsOf(builder.write(path, []));
  // A step for each kilobyte of keys, each first letter, each page of blocks, some of the grams.
  expect(written.steps).toBeGreaterThan(6 + 36 + 6 + 4);
  const segment = new SegmentReader(path, written.bytes);
  const merged = stepsOf(mergeSegments([segment], join(directory, `${++files}.seg`), () => "c"));
  expect(merged.steps).toBeGreaterThan(6_000 / 256 + 6 + 4);
  expect(merged.bytes).toBe(written.bytes);
});

it("[Q27] a byte that has changed is noticed", () => {
  const segment = built(TEXTS);
  const path = join(directory, `${files}.seg`);
  const bytes = readFileSync(path);
  for (let at = 8; at < bytes.length; at += 3) {
    const damaged = Buffer.from(bytes);
    (damaged[at] as number) ^= 0x10;
    writeFileSync(path, damaged);
    let found: unknown;
    try {
      const reader = new SegmentReader(path, bytes.length);
      found = [
        rows(reader, "lease"),
        rows(reader, "überlauf"),
        rows(reader, "U1RVVldY"),
        rows(reader, "if (x)"),
      ];
      reader.close();
    } catch (error) {
      expect(error).toBeInstanceOf(SegmentDamage);
      continue;
    }
    // The byte is in a part that nobody reads.
    expect(found).toEqual([[1, 2], [3], [6], [7]]);
  }
  segment.close();
});

it("[Q12] lists of numbers come back, as gaps and as bits", () => {
  for (const numbers of [[], [0], [5, 6, 1_000_000], Array.from({ length: 500 }, (_, i) => i + (i >> 3))]) {
    const writer = new PostingWriter();
    for (const number of numbers) writer.add(number);
    const { mode, body } = writer.encoded();
    expect([...decodePostings(Uint8Array.of(mode, ...body), numbers.length)]).toEqual(numbers);
  }
  const [a, b] = [Uint32Array.of(1, 3, 5, 9, 200), Uint32Array.of(3, 4, 9, 10, 11, 12, 200, 300)];
  expect([...intersect(a, b)]).toEqual([3, 9, 200]);
  expect([...unite([a, b])]).toEqual([1, 3, 4, 5, 9, 10, 11, 12, 200, 300]);
});
