/**
 * The search thread. It reads the database through a connection of its own and answers one request at a time. A pattern
 * that takes too long is stopped in here; the thread counts on being ended from outside all the same, and keeps
 * nothing that could not be loaded again. Started by pool.ts.
 */

import { parentPort, workerData } from "node:worker_threads";
import {
  filterOf,
  limits,
  type MatchAnswer,
  matchWithin,
  type Problem,
  type SearchAnswer,
  searchBlocks,
} from "@blockyard/kernel";
import { StoreReader } from "../store/reader.ts";
import { BlockIndex } from "./block-index.ts";
import type { Reply, Request } from "./message.ts";
import { RecentTexts } from "./recent-texts.ts";
import { DatabaseSource, type Giants } from "./source.ts";
import { busyClock, stoppable, warmUp } from "./stoppable.ts";
import { yieldToWriters } from "./yield.ts";

const { path } = workerData as { readonly path: string | undefined };
let reader: StoreReader | undefined;
let index: BlockIndex | undefined;
const recent = new RecentTexts(limits.searchTextChars);
const giants: Giants = new Set();

yieldToWriters();
warmUp();
parentPort?.on("message", (request: Request) => {
  void respond(request);
});

async function respond(request: Request): Promise<void> {
  try {
    const answer = request.type === "search" ? await search(request) : match(request);
    say({ type: "answer", answer });
    if (giants.size > 0) setTimeout(filterGiant, 0);
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
      new DatabaseSource(from, blocks, recent, request.young, giants),
      request.query,
      busyClock,
      stoppable,
    );
  });
}

/**
 * Makes the filter that a giant lacks, when the search that met it has been answered: then it is read again only where it
 * may hold what is asked for. One at a time, so that the next search need not wait for all.
 */
async function filterGiant(): Promise<void> {
  const [entry] = giants;
  if (entry === undefined || reader === undefined) return;
  giants.delete(entry);
  const from = reader;
  try {
    await from.snapshot(async () => {
      const stored = from.block(entry.row);
      if (stored === undefined || entry.from !== -1 || entry.version !== stored.record.version) return;
      index?.putFilter(entry, filterOf(from.text(stored)));
    });
  } catch {
    // It is met again by the next search.
  }
  if (giants.size > 0) setTimeout(filterGiant, 0);
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
  giants.clear();
  const loaded = new BlockIndex();
  for (const outline of from.outlines()) loaded.put(outline);
  index = loaded;
  return loaded;
}

function match({ text, query, deadlineMs }: Request & { type: "match" }): MatchAnswer | Problem {
  say({ type: "begun" });
  return matchWithin(text, query, deadlineMs, busyClock, stoppable);
}

function say(reply: Reply): void {
  parentPort?.postMessage(reply);
}
