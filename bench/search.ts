/**
 * Is a search over 100 MB of blocks faster than ripgrep over the same bytes in files? Both with warm caches, in
 * alternating pairs; ripgrep with its default settings (-F -n), output to a pipe, found in the Debian package.
 *
 * The blocks are committed through the store's port in large commits, as an import would: loading them through the
 * kernel would measure the kernel.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Block,
  blockId,
  type Commit,
  isProblem,
  newConversation,
  type Op,
  type SearchQuery,
  type Store,
} from "@blockyard/kernel";
import { openSqliteStore } from "../packages/server/src/store/sqlite.ts";
import { alternate, type Bench, elapsedMs, median, type Report } from "./bench.ts";

const TEXT_BYTES = Number(process.env["SEARCH_BENCH_MB"] ?? 100) * 1_000_000;
const BLOCKS_PER_CONVERSATION = 200;
const PAIRS = 7;

/** Planted in a few blocks: what a person looks for and knows the name of. */
const PLANTED = "retryBudgetExhausted";
const PLANTED_EVERY = 4_000;

export const bench: Bench = {
  name: "search",
  question:
    "How long does searching 100 MB of blocks for a literal take, in ripgrep's time over the same files?",
  targets: { ratioToRipgrep: { max: 1 } },
  async run(report) {
    const ripgrep = findRipgrep(report);
    const root = mkdtempSync(join(tmpdir(), "blockyard-bench-search-"));
    const store = await openSqliteStore(join(root, "blocks.db"));
    try {
      return await measure(report, ripgrep, store, root);
    } finally {
      await store.close();
      rmSync(root, { recursive: true, force: true });
    }
  },
};

async function measure(
  report: Report,
  ripgrep: string | undefined,
  store: Store,
  root: string,
): Promise<Record<string, number>> {
  const files = join(root, "files");
  const words = vocabulary();
  const loadMs = await elapsedMs(() => load(store, files, words));
  report.note(`${TEXT_BYTES / 1e6} MB in blocks and in files: written in ${(loadMs / 1000).toFixed(1)} s`);
  const rare = words.at(-100) as string;
  const common = words[40] as string;
  const queries: Readonly<Record<string, SearchQuery>> = {
    planted: query(PLANTED, 200),
    rareWord: query(rare, 200),
    absent: query("thisWordIsNowhere", 200),
    commonTwentyBlocks: query(common, 20),
  };
  const first = await elapsedMs(() => store.search(queries["planted"] as SearchQuery));
  const figures: Record<string, number> = { firstSearchMs: first };
  if (ripgrep === undefined) return figures;
  const rows: Record<string, string | number>[] = [];
  for (const [name, each] of Object.entries(queries)) {
    await compareHits(report, ripgrep, store, files, name, each);
    const { medianA, medianB, ratio, spread } = await alternate(
      PAIRS,
      () => elapsedMs(() => store.search(each)),
      () => elapsedMs(() => grep(ripgrep, files, each.pattern)),
    );
    rows.push({ query: name, blocksMs: medianA, ripgrepMs: medianB, ratio, spread });
    figures[`${name}Ratio`] = ratio;
  }
  report.table(rows);
  figures["databaseBytesPerTextByte"] = statSync(join(root, "blocks.db")).size / TEXT_BYTES;
  figures["medianRatio"] = median(rows.map((row) => row["ratio"] as number));
  figures["ratioToRipgrep"] = Math.max(...rows.map((row) => row["ratio"] as number));
  return figures;
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

/** A search that finds less than ripgrep is not faster, it is wrong. */
async function compareHits(
  report: Report,
  ripgrep: string,
  store: Store,
  files: string,
  name: string,
  each: SearchQuery,
): Promise<void> {
  const answer = await store.search(each);
  if (isProblem(answer)) throw new Error(`${name}: ${answer.message}`);
  const found = new Set(answer.hits.map((hit) => hit.block.id));
  const lines = grep(ripgrep, files, each.pattern).split("\n").slice(0, -1);
  const paths = new Set(lines.map((line) => line.slice(files.length + 1, line.indexOf(":"))));
  report.note(
    `${name} "${each.pattern}": ${found.size} blocks, ripgrep ${paths.size} files, ${lines.length} lines`,
  );
  const wanted = Math.min(each.maxBlocks, paths.size);
  if (found.size !== wanted) throw new Error(`${name}: ${found.size} blocks found, not ${wanted}`);
  if (answer.more !== paths.size > each.maxBlocks) throw new Error(`${name}: more is ${answer.more}`);
  for (const id of found) {
    if (!paths.has(id.replaceAll("/", "_"))) throw new Error(`${name}: ${id} is no hit for ripgrep`);
  }
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

/** Writes every text twice: as a block, and as a file of the same bytes. */
async function load(store: Store, files: string, words: readonly string[]): Promise<void> {
  mkdirSync(files);
  const random = randomSource(11);
  let written = 0;
  let count = 0;
  for (let number = 0; written < TEXT_BYTES; number++) {
    const texts: string[] = [];
    for (let i = 0; i < BLOCKS_PER_CONVERSATION && written < TEXT_BYTES; i++) {
      const text = textOf(random, words, count++ % PLANTED_EVERY === PLANTED_EVERY / 2);
      written += text.length;
      texts.push(text);
    }
    const commit = commitOf(`bench-${number}`, texts, number * BLOCKS_PER_CONVERSATION);
    commit.blocks.forEach((block, i) => {
      writeFileSync(join(files, block.id.replaceAll("/", "_")), texts[i] as string);
    });
    await store.commit(commit);
  }
}

/** Blocks of 0.5 to 20 KB, five on average: a sentence on most lines, some code, some logs. */
function textOf(random: () => number, words: readonly string[], isPlanted: boolean): string {
  const chars = [500, 1_500, 3_000, 5_000, 7_000, 20_000, 2_000, 1_000][Math.floor(random() * 8)] as number;
  const lines: string[] = [];
  let length = 0;
  while (length < chars) {
    const line = lineOf(random, words);
    lines.push(line);
    length += line.length + 1;
  }
  if (isPlanted) lines[lines.length >> 1] = `  throw new StreamError("${PLANTED}", { cause });`;
  return lines.join("\n");
}

function lineOf(random: () => number, words: readonly string[]): string {
  // Zipf's law: the n-th word about 1/n as often as the first.
  const word = () => words[Math.floor(words.length ** random()) - 1] as string;
  const count = 4 + Math.floor(random() * 12);
  const some = Array.from({ length: count }, word);
  const kind = random();
  if (kind < 0.6) return `${some.join(" ")}.`;
  if (kind < 0.85) return `  const ${some[0]} = ${some[1]}.${some[2]}(${some.slice(3, 6).join(", ")});`;
  return `[${Math.floor(random() * 1e9)}] ${some[0]}: ${some.slice(1, 8).join("=")}`;
}

/** Words of two to four syllables, the short ones first, as in languages. */
function vocabulary(): string[] {
  const random = randomSource(7);
  const onsets = [
    "b",
    "c",
    "d",
    "f",
    "g",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "t",
    "st",
    "tr",
    "ch",
    "pl",
    "v",
    "qu",
    "w",
    "",
  ];
  const rests = [
    "a",
    "e",
    "i",
    "o",
    "u",
    "er",
    "in",
    "on",
    "at",
    "est",
    "ing",
    "ion",
    "al",
    "ess",
    "ight",
    "ck",
    "ea",
  ];
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] as string;
  const words = new Set<string>();
  while (words.size < 30_000) {
    const syllables = 2 + Math.floor(words.size / 12_000);
    words.add(Array.from({ length: syllables }, () => pick(onsets) + pick(rests)).join(""));
  }
  return [...words];
}

function commitOf(conversation: string, texts: readonly string[], createdAt: number): Commit {
  const ops: Op[] = [];
  const blocks: Block[] = [];
  texts.forEach((text, i) => {
    const seq = i + 1;
    const id = blockId(conversation, "bench", seq);
    const head = { seq, version: 1, agent: "bench" };
    ops.push({
      ...head,
      conversation,
      seqFrom: seq,
      block: id,
      versionFrom: 1,
      unit: seq,
      at: createdAt + i,
      body: {
        type: "create",
        kind: "text",
        role: "model",
        parent: null,
        side: false,
        status: "done",
        text,
        metadata: {},
      },
    });
    blocks.push({
      ...head,
      id,
      conversation,
      kind: "text",
      role: "model",
      status: "done",
      parent: null,
      side: false,
      born: seq,
      createdAt: createdAt + i,
      updatedAt: createdAt + i,
      chars: text.length,
      newlines: text.split("\n").length - 1,
      pruned: false,
      promoted: false,
      metadata: {},
    });
  });
  const record = { ...newConversation(conversation, "bench", createdAt), seq: ops.length };
  return { conversation, expectedSeq: 0, ops, blocks, record, turns: [], answers: [] };
}

function randomSource(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
