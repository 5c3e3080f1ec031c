/**
 * Fifty agents write, twenty viewers see all of it, over real WebSockets: how much later than through a relay that does
 * nothing, and is anything lost or doubled? And what does a viewer cost that never reads?
 *
 * Nothing is told before the device has it, and the relay keeps nothing: so what the device alone takes to sync a page stands
 * beside the latest deliveries (`syncP99Ms`, measured between the pairs).
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Bench, median, quantile, type Report } from "./bench.ts";
import { Driver, FULL, type Pair } from "./fanout/driver.ts";

const PAIRS = 5;
const SECONDS = 3.5;
/** Ten megabytes a second, so that a buffer without bounds would show. */
const FLOOD = { agents: 25, viewers: 0, flushesPerSecond: 10, lineChars: 40_000, seconds: 5 } as const;
const STALLED = 2;
const STALLED_PAIRS = 3;
const SYNCS = 1_000;
const SYNC_EVERY_MS = 2;
const PAGE = Buffer.alloc(4_096, 1);

export const bench: Bench = {
  name: "fanout",
  question:
    "How much later than through a bare relay do 20 viewers see the writes of 50 agents, and does everything arrive?",
  targets: {
    p50ExtraMs: { max: 15 },
    p99Ratio: { max: 4 },
    lost: { max: 0 },
    doubled: { max: 0 },
    reordered: { max: 0 },
    stalledMb: { max: 32 },
  },
  run,
};

async function run(report: Report): Promise<Record<string, number>> {
  const driver = await Driver.open();
  try {
    const syncs: number[] = [];
    const pairs = await driver.pairs(PAIRS, { ...FULL, seconds: SECONDS }, SECONDS, async () => {
      syncs.push(await syncP99(driver.home));
    });
    tell(report, pairs, syncs);
    const sum = (of: (pair: Pair) => number) => pairs.reduce((total, pair) => total + of(pair), 0);
    return {
      p50ExtraMs: median(pairs.map(({ blockyard, bare }) => blockyard.p50Ms - bare.p50Ms)),
      p99Ratio: median(pairs.map(({ blockyard, bare }) => blockyard.p99Ms / bare.p99Ms)),
      p99Ms: median(pairs.map(({ blockyard }) => blockyard.p99Ms)),
      syncP99Ms: median(syncs),
      lost: sum(({ blockyard, bare }) => blockyard.lost + bare.lost),
      doubled: sum(({ blockyard, bare }) => blockyard.doubled + bare.doubled),
      reordered: sum(({ blockyard, bare }) => blockyard.reordered + bare.reordered),
      stalledMb: await growth(driver, report),
    };
  } finally {
    await driver.close();
  }
}

/** What the device takes for a page that must be there, as often as a server with this load has one. */
async function syncP99(folder: string): Promise<number> {
  const file = openSync(join(folder, "synced"), "w");
  const took: number[] = [];
  try {
    for (let sync = 0; sync < SYNCS; sync++, await sleep(SYNC_EVERY_MS)) {
      const began = performance.now();
      writeSync(file, PAGE);
      fdatasyncSync(file);
      took.push(performance.now() - began);
    }
  } finally {
    closeSync(file);
  }
  return quantile(took, 0.99);
}

function tell(report: Report, pairs: readonly Pair[], syncs: readonly number[]): void {
  report.table(
    pairs.map(({ blockyard, bare }, index) => ({
      pair: index + 1,
      "p50 ms": round(blockyard.p50Ms),
      "relay p50 ms": round(bare.p50Ms),
      "p99 ms": round(blockyard.p99Ms),
      "relay p99 ms": round(bare.p99Ms),
      "device sync p99 ms": round(syncs[index] ?? 0),
      delivered: blockyard.delivered,
      lost: blockyard.lost,
      doubled: blockyard.doubled,
    })),
  );
}

/** How much more memory the server holds at most for each viewer that never reads, against the same load without them. */
async function growth(driver: Driver, report: Report): Promise<number> {
  const flood = (stalled: number) => driver.peakMb(driver.play({ ...FLOOD, ...driver.blockyard, stalled }));
  await flood(0);
  const more: number[] = [];
  for (let pair = 0; pair < STALLED_PAIRS; pair++) {
    const orders = pair % 2 === 0 ? [0, STALLED] : [STALLED, 0];
    const peaks = new Map<number, number>();
    for (const stalled of orders) peaks.set(stalled, (await flood(stalled)).peakMb);
    const [without, beside] = [peaks.get(0)!, peaks.get(STALLED)!];
    more.push((beside - without) / STALLED);
    report.note(
      `  at most ${round(without)} MB; ${round(beside)} MB with ${STALLED} viewers that never read`,
    );
  }
  return Math.max(0, median(more));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
