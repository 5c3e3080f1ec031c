/**
 * Does a search cost more in a store that holds years? The same questions to stores of 0.1, 1 and 10 GB of text: literals with the same
 * few hits in each, in none, in very many; regular expressions; one conversation, one workspace; the first search after a start with
 * cold files; memory; and patterns that no index can help, which must get what was found in time. Beside ripgrep over the same
 * bytes as files, and SQLite's FTS5 with trigrams.
 *
 * By itself it makes two small stores and takes less than a minute. The whole: SEARCH_GROWTH_GB=0.1,1,10 with SEARCH_GROWTH_FOLDER, where the
 * stores are kept for the next time.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { StoreScript } from "@blockyard/kernel/store-contract";
import { openSqliteStore } from "../packages/server/src/stores/sqlite/sqlite.ts";
import { serverFlags } from "../scripts/setup.mjs";
import {
  type Bench,
  elapsedMs,
  type Figure,
  measured,
  median,
  quantile,
  type Report,
  type TableRow,
} from "./bench.ts";
import { vocabulary } from "./search/corpus.ts";
import { FTS5, Fts5, indexBytes } from "./search/fts5.ts";
import type { MeasuredStore } from "./search/measured-store.ts";
import { type MadeStore, sessionStore } from "./search/session-store.ts";
import { blocksOf, KNOWN_NAMES } from "./search/sessions.ts";

const SIZES_GB = (process.env["SEARCH_GROWTH_GB"] ?? "0.024,0.048").split(",").map(Number);
const KEPT = process.env["SEARCH_GROWTH_FOLDER"];
/** Files for ripgrep are written up to this size: its time grows with the bytes, and one size tells. */
const FILES_GB = 1;
const FTS5_BYTES = 4_000_000;
const PAIRS = 7;
const COMMITS = 200;

export const bench: Bench = {
  name: "searchgrowth",
  question: "What does a search cost in a large store, relative to a small one and to ripgrep?",
  targets: {
    firstAnswerRatio: { max: 3 },
    firstAnswerMs: { max: 300 },
    coldMs: { max: 1_500 },
    scopedMs: { max: 50 },
    memoryMb: { max: 300 },
    ratioToRipgrep: { max: 1 },
    bytesPerTextByte: { max: 1.4 },
    writerP99Ratio: { max: 2 },
    hardAnswered: { min: 1 },
  },
  async run(report) {
    const root = KEPT ?? mkdtempSync(join(tmpdir(), "blockyard-bench-searchgrowth-"));
    try {
      return await measure(report, root);
    } finally {
      if (KEPT === undefined) rmSync(root, { recursive: true, force: true });
    }
  },
};

async function measure(report: Report, root: string): Promise<Record<string, Figure>> {
  const rows: TableRow[] = [];
  const all: { readonly made: MadeStore; readonly times: MeasuredStore }[] = [];
  let ripgrep: readonly number[] = [];
  const filesGb = Math.max(...SIZES_GB.filter((gb) => gb <= FILES_GB));
  for (const gb of SIZES_GB) {
    const files = join(root, `${gb}-files`);
    const made = await sessionStore(join(root, String(gb)), gb * 1e9, gb === filesGb ? files : undefined);
    const times = measureAlone(made);
    all.push({ made, times });
    rows.push(rowOf(gb, made, times));
    if (existsSync(files)) ripgrep = timesOfRipgrep(report, files, times);
  }
  report.table(rows);
  const [small, large] = [all[0], all.at(-1)] as [(typeof all)[0], (typeof all)[0]];
  return {
    // The quicker ones: what else the machine does makes single searches slower, not what is stored.
    firstAnswerRatio: large.times.quickMs / small.times.quickMs,
    firstAnswerMs: large.times.firstAnswerMs,
    slowestMs: large.times.slowestMs,
    coldMs: large.times.coldMs,
    scopedMs: Math.max(large.times.conversationMs, large.times.workspaceMs),
    regexMs: large.times.regexMs,
    memoryMb: large.times.memoryMb,
    hardAnswered: Math.min(...all.map(({ times }) => times.hardAnswered)),
    bytesPerTextByte: bytesOf(large.made.path) / large.made.textBytes,
    ...(ripgrep.length > 0 ? { ratioToRipgrep: measured(ripgrep) } : {}),
    ...(await compareWithFts5(report, root)),
    writerP99Ratio: measured(await writerRatios(small.made.path, join(root, "writer.db"))),
  };
}

function measureAlone({ path, sessions }: MadeStore): MeasuredStore {
  const program = new URL("./search/measured-store.ts", import.meta.url).pathname;
  const args = [...serverFlags, program, path, String(sessions)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as MeasuredStore;
}

function rowOf(gb: number, { path, textBytes, blocks }: MadeStore, times: MeasuredStore): TableRow {
  return {
    GB: gb,
    blocks,
    "known, ms": times.knownMs,
    "absent, ms": times.absentMs,
    "common, ms": times.commonMs,
    "95 % of literals, ms": times.slowestMs,
    "regex, ms": times.regexMs,
    "conversation, ms": times.conversationMs,
    "workspace, ms": times.workspaceMs,
    "cold, ms": times.coldMs,
    "memory, MB": times.memoryMb,
    "index/text": indexBytes(path) / textBytes,
    "all/text": bytesOf(path) / textBytes,
  };
}

/** Our median for a known name in ripgrep's time for it, once for each name. */
function timesOfRipgrep(report: Report, files: string, { knownMs }: MeasuredStore): readonly number[] {
  const grep = (pattern: string) =>
    spawnSync("rg", ["-F", "-n", pattern, files], { maxBuffer: 1024 ** 3 }).status;
  if (grep("warming up") === null) {
    report.note("ripgrep is missing: nothing to compare with, so its target is not kept");
    return [];
  }
  const times = KNOWN_NAMES.slice(0, PAIRS).map((name) => {
    const startMs = performance.now();
    grep(name);
    return performance.now() - startMs;
  });
  report.note(`ripgrep over the same bytes in files: ${median(times).toFixed(0)} ms for a known name`);
  return times.map((ms) => knownMs / ms);
}

async function compareWithFts5(report: Report, root: string): Promise<Record<string, Figure>> {
  const words = vocabulary();
  const texts: string[] = [];
  for (let session = 0, bytes = 0; bytes < FTS5_BYTES; session++) {
    for (const { text } of blocksOf(words, session, session)) {
      texts.push(text);
      bytes += text.length;
    }
  }
  const textBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const path = join(root, "fts5.db");
  rmSync(path, { force: true });
  const table = new Fts5(path, FTS5[0].tokenize);
  const buildMs = await elapsedMs(() => table.fill(texts));
  const times: number[] = [];
  for (const name of KNOWN_NAMES) times.push(await elapsedMs(() => table.find(name, 50)));
  report.note(
    `SQLite's FTS5 with trigrams on ${(textBytes / 1e6).toFixed(0)} MB: index ${(table.indexBytes() / textBytes).toFixed(2)} of the text, ` +
      `${(buildMs / (textBytes / 1e6)).toFixed(0)} ms to build for each MB, ${median(times).toFixed(1)} ms for a known name`,
  );
  const fts5BytesPerTextByte = table.indexBytes() / textBytes;
  table.close();
  rmSync(path, { force: true });
  return { fts5BytesPerTextByte };
}

/** What a writer's 99th percentile becomes while the index of the same store is being made. */
async function writerRatios(store: string, path: string): Promise<number[]> {
  removeStore(path);
  cpSync(store, path);
  const ratios: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    rmSync(`${path}.search`, { recursive: true, force: true });
    const opened = await openSqliteStore(path);
    // What is written is settled from some point on; both are to have that in them.
    for (const part of ["first", "second"]) await writerP99(opened, `${part}-${Date.now()}-${pair}`);
    const alone = await writerP99(opened, `alone-${Date.now()}-${pair}`);
    const query = { pattern: "nowhere", literal: true, ignoreCase: false, contextLines: 0 };
    await opened.search({ ...query, maxMatchesPerBlock: 1, maxBlocks: 1, deadlineMs: 250 });
    ratios.push((await writerP99(opened, `beside-${Date.now()}-${pair}`)) / alone);
    await opened.close();
  }
  removeStore(path);
  return ratios;
}

async function writerP99(store: Awaited<ReturnType<typeof openSqliteStore>>, name: string): Promise<number> {
  const script = new StoreScript(name);
  const times: number[] = [];
  for (let i = 0; i < COMMITS; i++) {
    script.create({ text: `${"a line of a block that somebody writes\n".repeat(50)}${i}`, status: "done" });
    times.push(await elapsedMs(() => script.commit(store)));
    await turn();
  }
  return quantile(times, 0.99);
}

function bytesOf(path: string): number {
  return statSync(path).size + indexBytes(path);
}

function removeStore(path: string): void {
  for (const end of ["", "-wal", "-shm", ".lock", ".sums", ".search"])
    rmSync(`${path}${end}`, { recursive: true, force: true });
}
