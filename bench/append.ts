/**
 * How close to the device do streamed appends come, and does a large block cost more?
 *
 * The floor is SQLite alone: the same pieces inserted as rows, as many to a transaction as there are streams, each
 * transaction durable (WAL, synchronous=FULL) before the next begins. Ours goes through everything: every stream
 * appends a piece through the kernel and waits until it is durable. The two alternate, so that a noisy device is noisy
 * for both.
 *
 * `shareOfFloorIngest` is the same for the path that adapters use (`/v1/ingest`, agents, API loops, imports): block
 * events pushed into the kernel's Ingest, waiting for each piece to be durable.
 *
 * The cost of a large block is that of one append into 10 MB compared with one into 10 KB: into a plain block, and into
 * a promoted one, whose text is a CRDT document; in memory, where nothing hides the kernel's own cost, and on SQLite.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  type BlockId,
  type Env,
  Ingest,
  isProblem,
  Kernel,
  MemoryStore,
  type Problem,
  type Store,
} from "@blockyard/kernel";
import { openSqliteStore } from "../packages/server/src/stores/sqlite/sqlite.ts";
import { nodeEnv } from "../packages/server/src/system/env.ts";
import { alternate, type Bench, type Comparison, elapsedMs, type Report } from "./bench.ts";
import { seeded, tokens } from "./corpus/prose.ts";

const SEED = 20264;
/**
 * The number of streams, and of pieces that each writes in one measurement: 11 KB, a long answer. Short streams are
 * shown beside them: there the one-time work for a block and its conversation weighs more.
 */
const LOADS = [
  { streams: 1, pieces: 200 },
  { streams: 10, pieces: 200 },
  { streams: 100, pieces: 200 },
  { streams: 100, pieces: 60, name: "100Short" },
];
/** The target applies to these. */
const STREAMS = [1, 10, 100];
const KEY = "block";
const PAIRS = 31;
/** Pairs before the measured ones: a server runs for days, so its start does not matter. */
const WARM_UP_PAIRS = 6;
const SMALL_CHARS = 10 * 1024;
const BIG_CHARS = 10 * 1024 * 1024;
/** In one measurement: in memory an append is too short to be measured in small numbers. */
const MEMORY_APPENDS = 600;
const SQLITE_APPENDS = 40;
const BLOCK_PAIRS = 7;

export const bench: Bench = {
  name: "append",
  question: "What share of bare SQLite's rate do durable appends reach, and what does a 10 MB block cost?",
  targets: { shareOfFloor: { min: 0.5 }, shareOfFloorIngest: { min: 0.5 }, bigBlockRatio: { max: 2 } },
  async run(report) {
    const directory = mkdtempSync(join(tmpdir(), "blockyard-bench-"));
    try {
      const shares = await compareWithFloor(directory, report, ROADS.append);
      const ingest = await compareWithFloor(directory, report, ROADS.ingest);
      const ratios = await compareSizes(directory, report);
      return {
        shareOfFloor: Math.min(...STREAMS.map((streams) => shares[`shareOfFloor${streams}`] as number)),
        shareOfFloorIngest: Math.min(
          ...STREAMS.map((streams) => ingest[`shareOfFloorIngest${streams}`] as number),
        ),
        bigBlockRatio: Math.max(...Object.values(ratios)),
        ...shares,
        ...ingest,
        ...ratios,
      };
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
};

// ---------------------------------------------------------------------------------------------------------------------
// The floor

/** How pieces get into blocks. */
interface Road {
  readonly figure: string;
  readonly what: string;
  /** A block of its own in a conversation of its own, and a function that appends a piece and waits until it is durable. */
  open(kernel: Kernel): Promise<(piece: string) => Promise<void>>;
}

const ROADS = {
  append: {
    figure: "shareOfFloor",
    what: "Appends, as block.append makes them:",
    async open(kernel) {
      const block = await openBlock(kernel, "");
      return (piece) => append(kernel, block, piece);
    },
  },
  ingest: {
    figure: "shareOfFloorIngest",
    what: "The same pieces as an adapter's events, through Ingest:",
    async open(kernel) {
      const conversation = must(await kernel.createConversation("bench", "streams"));
      const ingest = new Ingest(kernel, { conversation, agent: "bench" });
      must(await ingest.open());
      must(await ingest.push([{ type: "block-start", key: KEY, kind: "text", role: "model", metadata: {} }]));
      must(await ingest.drain());
      return async (text) => {
        must(await ingest.push([{ type: "block-append", key: KEY, text }]));
        must(await ingest.drain());
      };
    },
  },
} satisfies Record<string, Road>;

async function compareWithFloor(
  directory: string,
  report: Report,
  road: Road,
): Promise<Record<string, number>> {
  const store = await openSqliteStore(join(directory, `${road.figure}.db`));
  const floor = openFloor(join(directory, `${road.figure}-floor.db`));
  const kernel = new Kernel(nodeEnv, store);
  const pieces = makePieces(Math.max(...LOADS.map((load) => load.streams * load.pieces)));
  const shares: Record<string, number> = {};
  const rows: Record<string, string | number>[] = [];
  for (const { streams, pieces: perStream, name = `${streams}` } of LOADS) {
    const some = pieces.slice(0, streams * perStream);
    const ours = () => ourRate(kernel, road, some, streams);
    const bare = () => floorRate(floor, some, streams);
    await alternate(WARM_UP_PAIRS, ours, bare);
    const compared = await alternate(PAIRS, ours, bare);
    shares[`${road.figure}${name}`] = compared.ratio;
    rows.push({
      streams,
      "pieces each": perStream,
      "ours per s": Math.round(compared.medianA),
      "floor per s": Math.round(compared.medianB),
      share: Number(compared.ratio.toFixed(2)),
      spread: Number(compared.spread.toFixed(2)),
    });
  }
  report.note(road.what);
  report.table(rows);
  await kernel.close();
  await store.close();
  floor.close();
  return shares;
}

/** Pieces as a stream flushes them: a line, or somewhat more than fifty characters. */
function makePieces(count: number): string[] {
  const source = tokens(seeded(SEED));
  return Array.from({ length: count }, () => {
    let text = "";
    while (text.length < 50) text += (source.next().value as string).replaceAll("\n", " ");
    return `${text}\n`;
  });
}

/** Durable pieces a second, each stream in a block and a conversation of its own. */
async function ourRate(
  kernel: Kernel,
  road: Road,
  pieces: readonly string[],
  streams: number,
): Promise<number> {
  const puts = await Promise.all(Array.from({ length: streams }, () => road.open(kernel)));
  const perStream = pieces.length / streams;
  const ms = await elapsedMs(() =>
    Promise.all(
      puts.map(async (put, i) => {
        for (let at = i * perStream; at < (i + 1) * perStream; at++) await put(pieces[at] as string);
      }),
    ),
  );
  return (pieces.length * 1_000) / ms;
}

async function append(kernel: Kernel, block: BlockId, piece: string): Promise<void> {
  must(await kernel.append(block, "bench", piece));
  must(await kernel.drain(block, "bench"));
}

function openFloor(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
  db.exec("CREATE TABLE piece (id INTEGER PRIMARY KEY, block INTEGER NOT NULL, text TEXT NOT NULL)");
  return db;
}

function floorRate(db: DatabaseSync, pieces: readonly string[], batch: number): Promise<number> {
  const insert = db.prepare("INSERT INTO piece (block, text) VALUES (?, ?)");
  return elapsedMs(() => {
    for (let from = 0; from < pieces.length; from += batch) {
      db.exec("BEGIN IMMEDIATE");
      for (let i = from; i < from + batch && i < pieces.length; i++)
        insert.run(i - from, pieces[i] as string);
      db.exec("COMMIT");
    }
  }).then((ms) => (pieces.length * 1_000) / ms);
}

// ---------------------------------------------------------------------------------------------------------------------
// Large blocks

async function compareSizes(directory: string, report: Report): Promise<Record<string, number>> {
  // Group commits are gathered at once: a pause between appends would hide what they cost.
  const eager: Env = { ...nodeEnv, soon: (run) => queueMicrotask(run) };
  const store = await openSqliteStore(join(directory, "sizes.db"));
  const compared = {
    plainMemoryRatio: await compareSize(eager, new MemoryStore("bench"), false, MEMORY_APPENDS),
    promotedMemoryRatio: await compareSize(eager, new MemoryStore("bench"), true, MEMORY_APPENDS),
    plainSqliteRatio: await compareSize(nodeEnv, store, false, SQLITE_APPENDS),
    promotedSqliteRatio: await compareSize(nodeEnv, store, true, SQLITE_APPENDS),
  };
  await store.close();
  report.table(
    Object.entries(compared).map(([what, { medianA, medianB, ratio, spread }]) => ({
      what,
      "10 MB µs": Math.round(medianA * 1_000),
      "10 KB µs": Math.round(medianB * 1_000),
      ratio: Number(ratio.toFixed(2)),
      spread: Number(spread.toFixed(2)),
    })),
  );
  return Object.fromEntries(Object.entries(compared).map(([what, { ratio }]) => [what, ratio]));
}

/** Milliseconds of one append into the large block, and into the small one. */
async function compareSize(
  env: Env,
  store: Store,
  isPromoted: boolean,
  appends: number,
): Promise<Comparison> {
  const kernel = new Kernel(env, store);
  const text = makePieces(BIG_CHARS / 50)
    .join("")
    .slice(0, BIG_CHARS);
  const big = await openBlock(kernel, text, isPromoted);
  const small = await openBlock(kernel, text.slice(0, SMALL_CHARS), isPromoted);
  const piece = `${"a piece of the length that a flush has ".padEnd(50, ".")}\n`;
  const measure = (block: BlockId) => async () => {
    const ms = await elapsedMs(async () => {
      for (let i = 0; i < appends; i++) await append(kernel, block, piece);
    });
    return ms / appends;
  };
  await measure(big)();
  await measure(small)();
  const compared = await alternate(BLOCK_PAIRS, measure(big), measure(small));
  await kernel.close();
  return compared;
}

async function openBlock(kernel: Kernel, text: string, isPromoted = false): Promise<BlockId> {
  const conversation = must(await kernel.createConversation("bench", "streams"));
  const block = await kernel.write(conversation, {
    agent: "bench",
    plan: (draft) => draft.create({ kind: "text", role: "model", status: "running", text }),
  });
  const { id } = must(block);
  if (isPromoted) must(await kernel.writeBlock(id, { agent: "bench", plan: (draft) => draft.promote(id) }));
  return id;
}

function must<T>(answer: T | Problem): T {
  if (isProblem(answer)) throw new Error(answer.message);
  return answer;
}
