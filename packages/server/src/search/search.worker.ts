/**
 * The search thread. It reads the database through a connection of its own and answers one request at a time. A pattern
 * that takes too long is stopped in here; the thread counts on being ended from outside all the same, and keeps
 * nothing that could not be loaded again. Started by pool.ts.
 */

import { constants, getPriority, setPriority } from "node:os";
import { Script } from "node:vm";
import { parentPort, workerData } from "node:worker_threads";
import {
  type Clock,
  type Guard,
  limits,
  type MatchAnswer,
  matchWithin,
  type Problem,
  type SearchAnswer,
  searchBlocks,
} from "@blockyard/kernel";
import { StoreReader } from "../store/reader.ts";
import { BlockIndex } from "./block-index.ts";
import { type Reply, type Request, starved } from "./message.ts";
import { RecentTexts } from "./recent-texts.ts";
import { DatabaseSource } from "./source.ts";

/** Asking for the time takes a microsecond: not for every match. */
const LOOK_MS = 1;
let lookedMs = 0;
let busyMs = 0;
/** Time that the thread has had a processor: on a busy machine, a pattern is not slow because its thread has to wait. */
const clock: Clock = () => {
  const nowMs = performance.now();
  if (nowMs - lookedMs < LOOK_MS) return busyMs;
  lookedMs = nowMs;
  const { user, system } = process.threadCpuUsage();
  busyMs = (user + system) / 1_000;
  return busyMs;
};
const { path } = workerData as { readonly path: string | undefined };
let reader: StoreReader | undefined;
let index: BlockIndex | undefined;
/** How much lower its priority is: on a busy core it has about a quarter of the time. */
const YIELDS = 5;
const recent = new RecentTexts(limits.searchTextChars);

// Whoever writes comes first where there are not enough cores. Linux knows priorities of threads; elsewhere this would be
// the whole program's.
if (process.platform === "linux") {
  setPriority(0, Math.min(getPriority(0) + YIELDS, constants.priority.PRIORITY_LOW));
}

parentPort?.on("message", (request: Request) => {
  void respond(request);
});

async function respond(request: Request): Promise<void> {
  try {
    const answer = request.type === "search" ? await search(request) : match(request);
    say({ type: "answer", answer });
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    say({ type: "failed", message, stack });
  }
}

async function search(request: Request & { type: "search" }): Promise<SearchAnswer | Problem> {
  reader ??= new StoreReader(path as string);
  const from = reader;
  return await from.snapshot(async () => {
    const blocks = refreshed(from, request.changed);
    say({ type: "begun" });
    return await searchBlocks(
      new DatabaseSource(from, blocks, recent, request.young),
      request.query,
      clock,
      guard,
    );
  });
}

/** The index as of this snapshot. A thread that is new knows nothing, whatever has changed. */
function refreshed(from: StoreReader, changed: readonly number[] | undefined): BlockIndex {
  if (index !== undefined && changed !== undefined) {
    for (const row of changed) {
      const outline = from.outline(row);
      if (outline !== undefined) index.put(outline);
    }
    return index;
  }
  const loaded = new BlockIndex();
  for (const outline of from.outlines()) loaded.put(outline);
  index = loaded;
  return loaded;
}

function match({ text, query, deadlineMs }: Request & { type: "match" }): MatchAnswer | Problem {
  say({ type: "begun" });
  return matchWithin(text, query, deadlineMs, clock, guard);
}

function say(reply: Reply): void {
  parentPort?.postMessage(reply);
}

/**
 * The only way to stop a running function from its own thread: a script with a time limit. What runs under it touches
 * nothing but the text and the pattern at hand, so that nothing is left half done.
 */
const held: { work: () => object; result: object | undefined } = { work: () => held, result: undefined };
const script = new Script("globalThis.runHeldWork()");
Object.defineProperty(globalThis, "runHeldWork", {
  value: () => {
    held.result = held.work();
  },
});

const guard: Guard = <T extends object>(work: () => T, leftMs: number) => {
  const startMs = clock();
  const done = within(work, leftMs);
  const usedMs = clock() - startMs;
  // A script's limit is one of the clock. Where the thread had hardly a processor, the work is done again, with more.
  if (done !== undefined || usedMs > leftMs * starved.share) return done;
  return within(work, Math.min((leftMs - usedMs) / starved.share ** 2, starved.ms));
};

function within<T extends object>(work: () => T, limitMs: number): T | undefined {
  held.work = work;
  held.result = undefined;
  try {
    script.runInThisContext({ timeout: Math.ceil(limitMs) });
    return held.result as T | undefined;
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return undefined;
    throw error;
  }
}

// The first match of all loads and compiles what every one needs. No pattern has to pay for that with its time.
matchWithin(
  "a",
  { pattern: "a+|b", literal: false, ignoreCase: true, contextLines: 0, maxMatches: 1 },
  starved.ms,
  clock,
  guard,
);
