/**
 * Is a search over 100 MB of blocks faster than ripgrep over the same bytes in files? Both with warm caches, in
 * alternating pairs; ripgrep with its default settings (-F -n), output to a pipe, found in the Debian package.
 *
 * The blocks are committed through the store's port in large commits, as an import would: loading them through the
 * kernel would measure the kernel.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProblem, type SearchAnswer, type SearchQuery, type Store } from "@blockyard/kernel";
import { StoreScript } from "@blockyard/kernel/store-contract";
import { openSqliteStore } from "../packages/server/src/store/sqlite.ts";
import { alternate, type Bench, elapsedMs, median, type Report } from "./bench.ts";

const TEXT_BYTES = Number(process.env["SEARCH_BENCH_MB"] ?? 100) * 1_000_000;
const BLOCKS_PER_CONVERSATION = 200;
const PAIRS = 7;

/** Planted in a few blocks each: what a person looks for and knows the name of. */
const PLANTED = [
  "retryBudgetExhausted",
  "ECONNRESET_UPSTREAM",
  "parseLeaseHeader",
  "0x7ffe3c21",
  "flushBeforeFork",
  "kitchen sink",
  "Überlauf",
];
const PLANTED_EVERY = 500;

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
  // Another literal in every pair: nothing is found again because it was just looked for.
  const literals: Readonly<Record<string, { readonly of: readonly string[]; readonly maxBlocks: number }>> = {
    planted: { of: PLANTED, maxBlocks: 200 },
    rareWord: { of: some(words, (i) => words.length - 100 - 500 * i), maxBlocks: 200 },
    absent: { of: some(words, (i) => 9_000 + i).map((word) => `${word}Nowhere`), maxBlocks: 200 },
    commonInTwentyBlocks: { of: some(words, (i) => 30 + 7 * i), maxBlocks: 20 },
  };
  const figures: Record<string, number> = {
    firstSearchMs: await elapsedMs(() => store.search(query("warming up", 1))),
  };
  if (ripgrep === undefined) return figures;
  grep(ripgrep, files, "warming up");
  const rows: Record<string, string | number>[] = [];
  for (const [name, { of, maxBlocks }] of Object.entries(literals)) {
    const [ours, theirs] = [of.values(), of.values()];
    const answers: SearchAnswer[] = [];
    const outputs: string[] = [];
    const { medianA, medianB, ratio, spread } = await alternate(
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
    figures[`${name}Ratio`] = ratio;
  }
  report.table(rows);
  figures["ratioToRipgrep"] = Math.max(...rows.map((row) => row["ratio"] as number));
  return figures;
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

/** Writes every text twice: as a block, and as a file of the same bytes. */
async function load(store: Store, files: string, words: readonly string[]): Promise<void> {
  mkdirSync(files);
  const random = randomSource(11);
  let written = 0;
  let count = 0;
  for (let number = 0; written < TEXT_BYTES; number++) {
    const texts: string[] = [];
    for (let i = 0; i < BLOCKS_PER_CONVERSATION && written < TEXT_BYTES; i++) {
      const planted =
        count++ % PLANTED_EVERY === 0 ? PLANTED[((count / PLANTED_EVERY) % PLANTED.length) | 0] : undefined;
      const text = textOf(random, words, planted);
      written += Buffer.byteLength(text);
      texts.push(text);
    }
    const script = new StoreScript(`bench-${number}`);
    script.now += number * BLOCKS_PER_CONVERSATION;
    for (const text of texts) {
      const block = script.create({ text, status: "done" });
      writeFileSync(join(files, block.replaceAll("/", "_")), text);
    }
    await script.commit(store);
  }
}

/** Blocks of 0.5 to 20 KB, five on average: a sentence on most lines, some code, some logs. */
function textOf(random: () => number, words: readonly string[], planted: string | undefined): string {
  const chars = [500, 1_500, 3_000, 5_000, 7_000, 20_000, 2_000, 1_000][Math.floor(random() * 8)] as number;
  const lines: string[] = [];
  let length = 0;
  while (length < chars) {
    const line = lineOf(random, words);
    lines.push(line);
    length += line.length + 1;
  }
  if (planted !== undefined) lines[lines.length >> 1] = `  throw new StreamError("${planted}", { cause });`;
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

/**
 * Thirty thousand words of one to four syllables, the short ones first, as in languages. There are about as many different
 * strings of three letters in it as in English prose and code.
 */
function vocabulary(): string[] {
  const random = randomSource(7);
  const onsets =
    `b bl br c ch cl cr d dr f fl fr g gl gr h j k l m n p ph pl pr qu r s sc sh sl sp st str t th tr v w x y
    z`.split(/\s+/);
  const middles = "a e i o u ai au ea ee ie io oa oo ou ue y".split(" ");
  const endings =
    `b ck ct d f ft g gh k l ld ll lt m mp n nd ng nk nt p pt r rd rk rm rn rt s sh sk ss st t th tt v x z
    _`.split(/\s+/);
  // The first of a list is the most frequent one.
  const pick = (list: readonly string[]) => list[Math.floor(random() ** 1.5 * list.length)] as string;
  const words = new Set<string>();
  while (words.size < 30_000) {
    const syllables = 1 + Math.floor(words.size / 3_000) ** 0.5;
    let word = "";
    for (let i = 1; i <= syllables; i++)
      word += pick(onsets) + pick(middles) + (random() < 0.6 ? pick(endings) : "");
    words.add(word);
  }
  return [...words];
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
