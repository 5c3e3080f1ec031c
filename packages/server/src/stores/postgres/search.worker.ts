/**
 * The search thread of a PostgreSQL database. It has a connection of its own and answers one request at a time; the thread
 * on SQLite (search/search.worker.ts) does the same with a file. Started by search/pool.ts.
 */

import { workerData } from "node:worker_threads";
import type { SearchAnswer } from "@blockyard/kernel";
import { limits, type Problem } from "@blockyard/kernel/plain";
import { searchBlocks } from "@blockyard/kernel/search";
import { DatabaseAddress } from "../../config/database-address.ts";
import type { Request } from "../../search/message.ts";
import { RecentTexts } from "../../search/recent-texts.ts";
import { say, serveRequests } from "../../search/search-thread.ts";
import { busyClock, stoppable } from "../../search/stoppable.ts";
import type { ThreadGate } from "../../system/thread-gate.ts";
import { Connections } from "./connections.ts";
import { READ_ON_MS, READ_OUTLINES_MS } from "./limits.ts";
import { Outlines } from "./outlines.ts";
import { PostgresSource } from "./source.ts";

const { path: url, gate } = workerData as { readonly path: string; readonly gate: ThreadGate["shared"] };
const connections = new Connections(new DatabaseAddress(url), "blockyard-search", { max: 1 });
const outlines = new Outlines();
const recent = new RecentTexts(limits.searchTextChars);
let isReading = false;

serveRequests(gate, async (request) => {
  if (request.type !== "search") throw new Error("this thread only searches");
  say({ type: "answer", answer: await search(request) });
  if (!isReading) void readOn();
});

/** Everything that one search sees is from one moment. */
async function search({ query }: Request & { type: "search" }): Promise<SearchAnswer | Problem> {
  return connections.again("search", async (connection) => {
    await connection.script("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    await outlines.refresh(connection, READ_OUTLINES_MS);
    say({ type: "begun" });
    const answer = await searchBlocks(
      new PostgresSource(connection, outlines, recent),
      query,
      busyClock,
      stoppable,
    );
    await connection.script("COMMIT");
    return answer;
  });
}

/** Reads the blocks that are still missing, a few at a time: a search that comes meanwhile goes in between. */
async function readOn(): Promise<void> {
  isReading = true;
  try {
    while (outlines.progress !== undefined)
      await connections.once(async (connection) => {
        await connection.script("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        await outlines.refresh(connection, READ_ON_MS);
        await connection.script("COMMIT");
      });
  } catch {
    // A database that does not answer: the next search goes on.
  } finally {
    isReading = false;
  }
}
