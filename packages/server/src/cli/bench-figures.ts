/** What `blockyard bench` measures: durable appends, the way of a line to a viewer, search. Each beside the least that it could cost. */

import { join } from "node:path";
import { isProblem, Kernel, type Problem } from "@blockyard/kernel";
import { serve } from "../app/serve.ts";
import { makeConfig } from "../config/config.ts";
import { Floor } from "../stores/sqlite/floor.ts";
import { hasDatabase } from "../stores/sqlite/restored.ts";
import { openSqliteStore } from "../stores/sqlite/sqlite.ts";
import { nodeEnv } from "../system/env.ts";
import { lineTimes, throughNothing, throughServer } from "./bench-feed.ts";
import { known } from "./block-source.ts";
import { CommandError } from "./command.ts";
import { openClient } from "./command-client.ts";

const PAIRS = 5;
const STREAMS = 10;
const PIECES_PER_STREAM = 30;
const PIECE = `${"a piece of the length that a flush has ".padEnd(54, ".")}\n`;
const LINES = 60;
const SEARCHES = 5;

/** One figure, with the theoretical minimum beside it if there is one. */
export interface Figure {
  readonly check: string;
  readonly value: number;
  readonly unit: string;
  /** The comparison, and its own figure. */
  readonly beside?: string;
  readonly floor?: number;
  /** The median of the pairs' ratios. */
  readonly ratio?: number;
}

/** One after the other, in a folder of their own; `home` has the data to search. */
export async function* figures(folder: string, home: string): AsyncGenerator<Figure> {
  yield* await appends(folder);
  yield* await feed(folder);
  yield* await searches(home);
}

async function appends(folder: string): Promise<readonly Figure[]> {
  const store = await openSqliteStore(join(folder, "appends.db"));
  const kernel = new Kernel(nodeEnv, store);
  const floor = new Floor(join(folder, "floor.db"));
  const pieces = Array.from({ length: STREAMS * PIECES_PER_STREAM }, () => PIECE);
  const bare = () => perSecond(pieces.length, async () => floor.write(pieces, STREAMS));
  const ours = () =>
    perSecond(pieces.length, () => Promise.all(Array.from({ length: STREAMS }, () => stream(kernel))));
  await ours();
  const { a, b, ratio } = await pairs(ours, bare);
  await kernel.close();
  await store.close();
  floor.close();
  const check = `durable appends, ${STREAMS} streams`;
  return [{ check, value: a, unit: "per s", beside: "SQLite alone", floor: b, ratio }];
}

/** One block, to which pieces are appended, each durable before the next. */
async function stream(kernel: Kernel): Promise<void> {
  const conversation = must(await kernel.createConversation("bench", "bench"));
  const block = await kernel.write(conversation, {
    agent: "bench",
    plan: (draft) => draft.create({ kind: "text", role: "model", status: "running", text: "" }),
  });
  const { id } = must(block);
  for (let i = 0; i < PIECES_PER_STREAM; i++) {
    must(await kernel.append(id, "bench", PIECE));
    must(await kernel.drain(id, "bench"));
  }
}

async function feed(folder: string): Promise<readonly Figure[]> {
  const config = makeConfig({ env: {}, home: join(folder, "home"), root: folder, port: 0 });
  const running = await serve(config, () => undefined);
  const ours: number[][] = [];
  const bare: number[][] = [];
  try {
    await lineTimes(throughServer(running), LINES);
    for (let pair = 0; pair < PAIRS; pair++) {
      ours.push(await lineTimes(throughServer(running), LINES));
      bare.push(await lineTimes(throughNothing, LINES));
    }
  } finally {
    await running.stop();
  }
  return [0.5, 0.99].map((share) => {
    const [a, b] = [ours, bare].map((runs) => runs.map((run) => quantile(run, share))) as [
      number[],
      number[],
    ];
    return {
      check: `latency of a line to a viewer, p${share * 100}`,
      value: quantile(a, 0.5),
      unit: "ms",
      beside: "bare WebSocket, nothing stored",
      floor: quantile(b, 0.5),
      ratio: quantile(
        a.map((each, i) => each / (b[i] as number)),
        0.5,
      ),
    };
  });
}

/** Over the user's data; without any, nothing to report. */
async function searches(home: string): Promise<readonly Figure[]> {
  if (!hasDatabase(join(home, "blockyard.db"))) return [];
  const client = await openClient({ home });
  try {
    const find = async (query: string) =>
      known(await client.call("kernel.search", { query, literal: true, kinds: "all", max_blocks: 20 }));
    const time = async (query: (i: number) => string) => {
      const took: number[] = [];
      for (let i = 0; i < SEARCHES; i++) {
        const startMs = performance.now();
        await find(query(i));
        took.push(performance.now() - startMs);
      }
      return quantile(took, 0.5);
    };
    await find("warming up");
    return [
      { check: "search for a common word, 20 blocks", value: await time(() => "the"), unit: "ms" },
      {
        check: "search with no match",
        value: await time((i) => `nowhere-${i}-to-be-found`),
        unit: "ms",
      },
    ];
  } finally {
    await client.close();
  }
}

async function perSecond(count: number, work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return (count * 1_000) / (performance.now() - startMs);
}

/** Both in turn, each first every other time: the medians, and the median of the ratios. */
async function pairs(a: () => Promise<number>, b: () => Promise<number>) {
  const rows: [number, number][] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const isFirst = pair % 2 === 0;
    const first = await (isFirst ? a : b)();
    const second = await (isFirst ? b : a)();
    rows.push(isFirst ? [first, second] : [second, first]);
  }
  const middle = (of: (row: [number, number]) => number) => quantile(rows.map(of), 0.5);
  return { a: middle((row) => row[0]), b: middle((row) => row[1]), ratio: middle((row) => row[0] / row[1]) };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.round((sorted.length - 1) * share)] as number;
}

function must<T>(answer: T | Problem): T {
  if (isProblem(answer)) throw new CommandError(answer.message);
  return answer;
}
