/**
 * The search thread. It reads the database through a connection of its own and answers one request at a time; in between it keeps
 * the search index up (indexer.ts), a few milliseconds at a time. A pattern that takes too long is stopped in here; the thread
 * counts on being ended from outside all the same, and keeps nothing that could not be made again. Started by pool.ts.
 */

import { workerData } from "node:worker_threads";
import type { SearchAnswer } from "@blockyard/kernel";
import { isProblem, limits, newestBlockFirst, type Problem } from "@blockyard/kernel/plain";
import { type MatchAnswer, matchWithin, searchBlocks } from "@blockyard/kernel/search";
import type { Request } from "../../../search/message.ts";
import { RecentTexts } from "../../../search/recent-texts.ts";
import { say, serveRequests } from "../../../search/search-thread.ts";
import { SegmentDamage } from "../../../search/segment/segment-damage.ts";
import { busyClock, stoppable } from "../../../search/stoppable.ts";
import type { ThreadGate } from "../../../system/thread-gate.ts";
import { INDEX_SLICE_MS } from "../limits.ts";
import { StoreReader } from "../reader.ts";
import { Indexer } from "./indexer.ts";
import { DatabaseSource } from "./source.ts";

const { path, gate } = workerData as { readonly path?: string; readonly gate: ThreadGate["shared"] };
let reader: StoreReader | undefined;
let indexer: Indexer | undefined;
let work: Generator<void> | undefined;
const recent = new RecentTexts(limits.searchTextChars);

serveRequests(gate, async (request) => {
  if (request.type === "index") await update(request);
  else say({ type: "answer", answer: request.type === "search" ? await search(request) : match(request) });
  if (work === undefined && indexer?.isBehind === true) {
    work = indexer.work();
    setImmediate(goOn);
  }
});

async function search(request: Request & { type: "search" }): Promise<SearchAnswer | Problem> {
  const from = open();
  return await from.snapshot(async () => {
    const current = refreshed(from, request);
    say({ type: "begun" });
    const source = () => new DatabaseSource(from, current, recent, request.memtable);
    try {
      return byAge(await searchBlocks(source(), request.query, busyClock, stoppable));
    } catch (error) {
      if (!(error instanceof SegmentDamage)) throw error;
      startAgain(current, error);
      return byAge(await searchBlocks(source(), request.query, busyClock, stoppable));
    }
  });
}

/** Unindexed blocks were searched last, whatever their age. */
function byAge(answer: SearchAnswer | Problem): SearchAnswer | Problem {
  if (isProblem(answer)) return answer;
  return { ...answer, hits: answer.hits.toSorted((a, b) => newestBlockFirst(a.block, b.block)) };
}

async function update(request: Request & { type: "index" }): Promise<void> {
  const from = open();
  await from.snapshot(async () => {
    refreshed(from, request);
  });
}

function open(): StoreReader {
  reader ??= new StoreReader(path as string);
  return reader;
}

/** The index with the request's data. A new thread knows nothing, whatever has changed. */
function refreshed(from: StoreReader, request: Request & { type: "search" | "index" }): Indexer {
  const known = indexer;
  indexer ??= new Indexer(from, path as string);
  indexer.note(known === undefined ? undefined : request.changed, request.flushedBefore);
  if (request.hasRemoved) indexer.noteRemoved();
  return indexer;
}

/** Works on the index for a while, then yields to others. */
function goOn(): void {
  const current = indexer;
  if (work === undefined || current === undefined || reader === undefined) return;
  const endMs = performance.now() + INDEX_SLICE_MS;
  try {
    const isDone = reader.read(() => {
      while (performance.now() < endMs) if (work?.next().done === true) return true;
      return false;
    });
    if (isDone) work = undefined;
    else setImmediate(goOn);
  } catch (error) {
    work = undefined;
    if (error instanceof SegmentDamage) startAgain(current, error);
    // Searching continues with what is indexed. The next change, or the next search, retries.
    else say({ type: "note", message: `the search index is not updated: ${(error as Error).stack}` });
  }
}

function startAgain(current: Indexer, error: SegmentDamage): void {
  say({ type: "note", message: `rebuilding the search index: ${error.message}` });
  work = undefined;
  current.clear();
}

function match({ text, query, deadlineMs }: Request & { type: "match" }): MatchAnswer | Problem {
  say({ type: "begun" });
  return matchWithin(text, query, deadlineMs, busyClock, stoppable);
}
