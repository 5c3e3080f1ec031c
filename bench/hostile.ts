/**
 * What do patterns that hurt cost others? Two hundred of them (test/hostile-patterns.ts), each on a block of 1 KB and on
 * one of 1 MB, searched through the store, while somebody writes to another conversation [R36]. The writer's commits
 * are compared with those that it makes while nobody searches, in turns.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProblem, limits, type SearchQuery, type Store } from "@blockyard/kernel";
import { StoreScript } from "@blockyard/kernel/store-contract";
import { openSqliteStore } from "../packages/server/src/stores/sqlite/sqlite.ts";
import { type HostilePattern, hostilePatterns, hostileText } from "../test/hostile-patterns.ts";
import { type Bench, elapsedMs, measured, quantile } from "./bench.ts";

const SIZES = { "1 KB": 1_024, "1 MB": 1_048_576 } as const;
const TURNS = 8;
const IDLE_MS = 1_500;
const PAUSE_MS = 4;

export const bench: Bench = {
  name: "hostile",
  question: "Are hostile patterns answered or refused in time, and do writers notice?",
  targets: { worstMs: { max: 500 }, unanswered: { max: 0 }, writerP99Ratio: { max: 2 } },
  async run(report) {
    const root = mkdtempSync(join(tmpdir(), "blockyard-bench-hostile-"));
    const store = await openSqliteStore(join(root, "blocks.db"));
    try {
      await load(store);
      await search(store, "1 KB", "warming up");
      const rows: Row[] = [];
      const idleMs: number[] = [];
      const busyMs: number[] = [];
      const ratios: number[] = [];
      for (let turn = 0; turn < TURNS; turn++) {
        const part = hostilePatterns.filter((_, i) => i % TURNS === turn);
        const writeAlone = () => writeWhile(store, `idle-${turn}`, pause(IDLE_MS));
        const writeBeside = () => writeWhile(store, `busy-${turn}`, searchAll(store, part, rows));
        const isAloneFirst = turn % 2 === 0;
        const first = await (isAloneFirst ? writeAlone : writeBeside)();
        const second = await (isAloneFirst ? writeBeside : writeAlone)();
        const [idle, busy] = isAloneFirst ? [first, second] : [second, first];
        idleMs.push(...idle);
        busyMs.push(...busy);
        ratios.push(quantile(busy, 0.99) / quantile(idle, 0.99));
      }
      report.table(summary(rows));
      report.note(`writer: ${idleMs.length} commits alone, ${busyMs.length} during searches`);
      return {
        searches: rows.length,
        worstMs: Math.max(...rows.map((row) => row.ms)),
        timeouts: rows.filter((row) => row.outcome === "timeout").length,
        refused: rows.filter((row) => row.outcome === "pattern").length,
        unanswered: rows.filter((row) => !["hits", "timeout", "pattern"].includes(row.outcome)).length,
        writerIdleP99Ms: quantile(idleMs, 0.99),
        writerP99Ms: quantile(busyMs, 0.99),
        // Within a turn, so that whatever else the machine does counts for both.
        writerP99Ratio: measured(ratios),
      };
    } finally {
      await store.close();
      rmSync(root, { recursive: true, force: true });
    }
  },
};

type Size = keyof typeof SIZES;

interface Row {
  readonly family: string;
  readonly size: Size;
  readonly outcome: string;
  readonly ms: number;
}

async function load(store: Store): Promise<void> {
  for (const [size, chars] of Object.entries(SIZES)) {
    const script = new StoreScript(nameOf(size as Size));
    script.create({ text: hostileText(chars), status: "done" });
    await script.commit(store);
  }
}

async function searchAll(store: Store, patterns: readonly HostilePattern[], rows: Row[]): Promise<void> {
  for (const { family, pattern } of patterns) {
    for (const size of Object.keys(SIZES) as Size[]) {
      let outcome = "";
      const ms = await elapsedMs(async () => {
        outcome = await search(store, size, pattern);
      });
      rows.push({ family, size, outcome, ms });
    }
  }
}

async function search(store: Store, size: Size, pattern: string): Promise<string> {
  const query: SearchQuery = {
    pattern,
    literal: false,
    ignoreCase: false,
    conversation: nameOf(size),
    contextLines: 2,
    maxMatchesPerBlock: 20,
    maxBlocks: 20,
    deadlineMs: limits.searchDeadlineMs,
  };
  const answer = await store.search(query);
  return isProblem(answer) ? answer.problem : "hits";
}

/** Commits a line every few milliseconds until the work is done. How long each commit took. */
async function writeWhile(store: Store, conversation: string, work: Promise<void>): Promise<number[]> {
  const script = new StoreScript(conversation);
  const block = script.create();
  const unit = 2;
  const took: number[] = [];
  let done = false;
  void work.finally(() => {
    done = true;
  });
  while (!done) {
    script.append(block, "a line that some agent writes, of usual length, more or less\n", unit);
    took.push(await elapsedMs(() => script.commit(store)));
    await pause(PAUSE_MS);
  }
  await work;
  return took;
}

function summary(rows: readonly Row[]): Record<string, string | number>[] {
  const groups = Map.groupBy(rows, ({ family, size }) => `${family}, ${size}`);
  return [...groups].map(([name, each]) => ({
    patterns: name,
    answered: each.filter((row) => row.outcome === "hits").length,
    timeouts: each.filter((row) => row.outcome === "timeout").length,
    refused: each.filter((row) => row.outcome === "pattern").length,
    medianMs: quantile(
      each.map((row) => row.ms),
      0.5,
    ),
    worstMs: Math.max(...each.map((row) => row.ms)),
  }));
}

function nameOf(size: Size): string {
  return size.toLowerCase().replace(" ", "-");
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
