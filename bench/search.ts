/**
 * Is a search over 100 MB of blocks faster than ripgrep over the same bytes in files? Both with warm caches, in
 * alternating pairs; ripgrep with its default settings (-F -n), output to a pipe, found in the Debian package.
 *
 * Then SQLite's own full-text search, by trigrams and by words: time, and what the index takes.
 *
 * The blocks are committed through the store's port in large commits, as an import would: loading them through the
 * kernel would measure the kernel.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isProblem, type SearchAnswer, type SearchQuery, type Store } from "@blockyard/kernel";
import { StoreScript } from "@blockyard/kernel/store-contract";
import { openSqliteStore } from "../packages/server/src/stores/sqlite/sqlite.ts";
import {
  alternate,
  type Bench,
  elapsedMs,
  type Figure,
  type Measured,
  median,
  type Report,
  type TableRow,
  worst,
} from "./bench.ts";
import { PLANTED, textsOf, vocabulary } from "./search/corpus.ts";
import { FTS5, Fts5, indexBytes } from "./search/fts5.ts";

const TEXT_BYTES = Number(process.env["SEARCH_BENCH_MB"] ?? 100) * 1_000_000;
const BLOCKS_PER_CONVERSATION = 200;
const PAIRS = 7;
const FTS5_BYTES = 20_000_000;

export const bench: Bench = {
  name: "search",
  question:
    "How long does searching 100 MB of blocks for a literal take, relative to ripgrep on the same files?",
  targets: { ratioToRipgrep: { max: 1 } },
  async run(report) {
    const ripgrep = findRipgrep(report);
    const root = mkdtempSync(join(tmpdir(), "blockyard-bench-search-"));
    const store = await openSqliteStore(join(root, "blocks.db"));
    try {
      const figures = await measure(report, ripgrep, store, root).finally(() => store.close());
      return { ...figures, ...(await compareWithFts5(report, root)) };
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  },
};

/** SQLite's own full-text search, alone in its database, on less text: building its index takes a while. */
async function compareWithFts5(report: Report, root: string): Promise<Record<string, Figure>> {
  const words = vocabulary();
  const texts = [...textsOf(words, FTS5_BYTES)];
  const textBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const path = join(root, "compared.db");
  const store = await openSqliteStore(path);
  const loadMs = await elapsedMs(async () => {
    await load(store, texts);
    await indexed(store);
  });
  const index = indexBytes(path);
  const literals = [...PLANTED, ...some(words, (i) => words.length - 100 - 500 * i)];
  const rows: TableRow[] = [
    {
      index: "Blockyard's segments",
      "index bytes/text byte": index / textBytes,
      "building, s": loadMs / 1_000,
    },
  ];
  const figures: Record<string, Figure> = {};
  await search(store, query("warming up", 1));
  for (const { name, figure, tokenize, isExact } of FTS5) {
    const table = new Fts5(join(root, `${name}.db`), tokenize);
    const buildMs = await elapsedMs(() => table.fill(texts));
    let missing = 0;
    const [ours, theirs] = [literals.values(), literals.values()];
    const found: number[] = [];
    const pairs = await alternate(
      literals.length,
      () =>
        elapsedMs(async () =>
          found.push((await search(store, query(ours.next().value as string, 200))).hits.length),
        ),
      () =>
        elapsedMs(() => {
          missing -= table.find(theirs.next().value as string, 200).length;
        }),
    );
    missing += found.reduce((sum, count) => sum + count, 0);
    if (isExact && missing !== 0) throw new Error(`${name} found ${-missing} blocks more than ours`);
    rows.push({
      index: name,
      "index bytes/text byte": table.indexBytes() / textBytes,
      "building, s": buildMs / 1_000,
      "a search, ms": pairs.medianB,
      "ours, ms": pairs.medianA,
      "blocks that it misses": missing,
    });
    figures[figure] = pairs.figure;
    figures[`${figure.replace("ratioTo", "indexVs")}`] = index / table.indexBytes();
    table.close();
  }
  report.note(
    `SQLite's FTS5 alone, ${FTS5_BYTES / 1e6} MB: planted names and rare words, ${literals.length} pairs. Ours also stores the log and the texts; ` +
      "its index is the folder of segments. FTS5 words find a literal only if it begins and ends at word boundaries.",
  );
  report.table(
    rows.map((row) => ({
      ...row,
      "a search, ms": row["a search, ms"] ?? "",
      "ours, ms": row["ours, ms"] ?? "",
      "blocks that it misses": row["blocks that it misses"] ?? "",
    })),
  );
  await store.close();
  return figures;
}

async function measure(
  report: Report,
  ripgrep: string | undefined,
  store: Store,
  root: string,
): Promise<Record<string, Figure>> {
  const files = join(root, "files");
  const words = vocabulary();
  const loadMs = await elapsedMs(() => load(store, textsOf(words, TEXT_BYTES), files));
  report.note(`${TEXT_BYTES / 1e6} MB in blocks and in files: written in ${(loadMs / 1000).toFixed(1)} s`);
  // Another literal in every pair: nothing is found again because it was just looked for.
  const literals: Readonly<Record<string, { readonly of: readonly string[]; readonly maxBlocks: number }>> = {
    planted: { of: PLANTED, maxBlocks: 200 },
    rareWord: { of: some(words, (i) => words.length - 100 - 500 * i), maxBlocks: 200 },
    absent: { of: some(words, (i) => 9_000 + i).map((word) => `${word}Nowhere`), maxBlocks: 200 },
    commonInTwentyBlocks: { of: some(words, (i) => 30 + 7 * i), maxBlocks: 20 },
  };
  const figures: Record<string, Figure> = {
    firstSearchMs: await elapsedMs(() => store.search(query("warming up", 1))),
  };
  await indexed(store);
  if (ripgrep === undefined) return figures;
  grep(ripgrep, files, "warming up");
  const rows: Record<string, string | number>[] = [];
  const compared: Measured[] = [];
  for (const [name, { of, maxBlocks }] of Object.entries(literals)) {
    const [ours, theirs] = [of.values(), of.values()];
    const answers: SearchAnswer[] = [];
    const outputs: string[] = [];
    const { medianA, medianB, ratio, spread, figure } = await alternate(
      PAIRS,
      () =>
        elapsedMs(async () =>
          answers.push(await search(store, query(ours.next().value as string, maxBlocks))),
        ),
      () => elapsedMs(() => outputs.push(grep(ripgrep, files, theirs.next().value as string))),
    );
    const found = answers.map((answer, i) =>
      compareHits(files, of[i] as string, maxBlocks, answer, outputs[i] as string),
    );
    rows.push({ literal: name, blocks: median(found), blocksMs: medianA, ripgrepMs: medianB, ratio, spread });
    figures[`${name}Ratio`] = figure;
    compared.push(figure);
  }
  report.table(rows);
  figures["ratioToRipgrep"] = worst(compared);
  return figures;
}

/** Until the search index has everything: it is made behind the writes. */
async function indexed(store: Store): Promise<void> {
  while ((await search(store, query("nowhere at all", 1))).indexing !== undefined) await setTimeout(50);
}

function some(words: readonly string[], at: (i: number) => number): string[] {
  return Array.from({ length: PAIRS }, (_, i) => words[at(i)] as string);
}

async function search(store: Store, each: SearchQuery): Promise<SearchAnswer> {
  const answer = await store.search(each);
  if (isProblem(answer)) throw new Error(`${each.pattern}: ${answer.message}`);
  return answer;
}

function query(pattern: string, maxBlocks: number): SearchQuery {
  return {
    pattern,
    literal: true,
    ignoreCase: false,
    contextLines: 0,
    maxMatchesPerBlock: 20,
    maxBlocks,
    deadlineMs: 250,
  };
}

/** A search that finds less than ripgrep is not faster, it is wrong. Gives how many blocks ripgrep found it in. */
function compareHits(
  files: string,
  literal: string,
  maxBlocks: number,
  answer: SearchAnswer,
  output: string,
): number {
  const found = new Set(answer.hits.map((hit) => hit.block.id.replaceAll("/", "_")));
  const lines = output.split("\n").slice(0, -1);
  const paths = new Set(lines.map((line) => line.slice(files.length + 1, line.indexOf(":"))));
  const wanted = Math.min(maxBlocks, paths.size);
  if (found.size !== wanted) throw new Error(`${literal}: ${found.size} blocks found, not ${wanted}`);
  if (answer.more !== paths.size > maxBlocks) throw new Error(`${literal}: more is ${answer.more}`);
  for (const id of found) if (!paths.has(id)) throw new Error(`${literal}: ${id} is no hit for ripgrep`);
  return paths.size;
}

function grep(ripgrep: string, files: string, pattern: string): string {
  const { stdout, status, stderr } = spawnSync(ripgrep, ["-F", "-n", pattern, files], {
    maxBuffer: 1024 ** 3,
    encoding: "utf8",
  });
  // 1: nothing found
  if (status !== 0 && status !== 1) throw new Error(`ripgrep failed: ${stderr.slice(0, 500)}`);
  return stdout;
}

function findRipgrep(report: Report): string | undefined {
  const works = () => spawnSync("rg", ["--version"], { encoding: "utf8" }).stdout?.split("\n")[0];
  let version = works();
  if (version === undefined && process.getuid?.() === 0) {
    report.note("ripgrep is missing: installing the Debian package");
    spawnSync("apt-get", ["install", "-y", "-q", "ripgrep"], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
    version = works();
  }
  if (version === undefined) {
    report.note(
      "ripgrep is missing and could not be installed: nothing to compare with, so the target is not kept",
    );
    return undefined;
  }
  report.note(version);
  return "rg";
}

/** Writes every text twice: as a block, and as a file of the same bytes where there is a folder for them. */
async function load(store: Store, texts: Iterable<string>, files?: string): Promise<void> {
  if (files !== undefined) mkdirSync(files);
  let number = 0;
  let script = new StoreScript("bench-0");
  let blocks = 0;
  for (const text of texts) {
    const block = script.create({ text, status: "done" });
    if (files !== undefined) writeFileSync(join(files, block.replaceAll("/", "_")), text);
    if (++blocks % BLOCKS_PER_CONVERSATION > 0) continue;
    await script.commit(store);
    script = new StoreScript(`bench-${++number}`);
    script.now += number * BLOCKS_PER_CONVERSATION;
  }
  if (blocks % BLOCKS_PER_CONVERSATION > 0) await script.commit(store);
}
