/**
 * Streams texts into a database of ours the whole way, as a provider's adapter would: ingest, kernel, SQLite store; and says
 * what it came to. What it stored is read back: a small database that lost something would be no feat.
 */
import { DatabaseSync } from "node:sqlite";
import { setTimeout, setImmediate as turn } from "node:timers/promises";
import { type BlockEvent, Ingest, isProblem, Kernel } from "@blockyard/kernel";
import { openSqliteStore, type SqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { nodeEnv } from "../../packages/server/src/system/env.ts";
import { indexBytes } from "../search/fts5.ts";
import { bytesOf, sizeOf } from "./blocks.ts";

const STREAMS = 40;

export interface Ours {
  readonly textBytes: number;
  readonly bytesPerTextByte: number;
  readonly openBytesPerTextByte: number;
  readonly seconds: number;
  readonly parts: readonly (readonly [string, number])[];
}

export async function measureOurs(path: string, blocks: readonly string[][]): Promise<Ours> {
  const startMs = performance.now();
  const store = await openSqliteStore(path);
  const kernel = new Kernel(nodeEnv, store);
  const perStream = Math.ceil(blocks.length / STREAMS);
  const streams = Array.from({ length: STREAMS }, (_, i) => blocks.slice(i * perStream, (i + 1) * perStream));
  await Promise.all(streams.map((stream, i) => streamInto(kernel, stream, i)));
  await kernel.close();
  await indexed(store);
  const openBytes = sizeOf(path) + sizeOf(`${path}-wal`) + indexBytes(path);
  await store.close();
  const seconds = (performance.now() - startMs) / 1_000;
  const textBytes = bytesOf(blocks);
  await checkTexts(path, blocks);
  return {
    textBytes,
    bytesPerTextByte: (sizeOf(path) + indexBytes(path)) / textBytes,
    openBytesPerTextByte: openBytes / textBytes,
    seconds,
    parts: [...partsOf(path), ["search index", indexBytes(path)] as const].map(
      ([name, bytes]) => [name, bytes / textBytes] as const,
    ),
  };
}

/** Lets the search index catch up: otherwise its size would not be counted. */
async function indexed(store: SqliteStore): Promise<void> {
  const query = { pattern: "nowhere", literal: true, ignoreCase: false, contextLines: 0 };
  const bounds = { maxMatchesPerBlock: 1, maxBlocks: 1, deadlineMs: 250 };
  for (;;) {
    const answer = await store.search({ ...query, ...bounds });
    if (!isProblem(answer) && answer.indexing === undefined) return;
    await setTimeout(50);
  }
}

/** One conversation: turns of ten blocks, a token at a time, as a provider's adapter emits them. */
async function streamInto(kernel: Kernel, blocks: readonly string[][], n: number): Promise<void> {
  const conversation = await kernel.createConversation("person", `Conversation ${n}`);
  if (isProblem(conversation)) throw new Error(conversation.message);
  const ingest = new Ingest(kernel, { conversation, agent: "claude" });
  await ingest.open();
  const push = async (...events: BlockEvent[]) => {
    const refused = await ingest.push(events);
    if (refused) throw new Error(refused.message);
  };
  for (const [i, block] of blocks.entries()) {
    const turnId = `turn_${n}_${Math.floor(i / 10)}`;
    const key = `block-${i}`;
    if (i % 10 === 0)
      await push({ type: "turn-start", turn: turnId, provider: "claude", model: "claude-sonnet-5" });
    const metadata = { messageId: `msg_01${n}x${i}`, index: i % 10 };
    await push({ type: "block-start", key, kind: "text", role: "model", metadata });
    for (const token of block) {
      await push({ type: "block-append", key, text: token });
      await turn();
    }
    await push({ type: "block-end", key, status: "done" });
    if (i % 10 === 9) await push({ type: "turn-end", turn: turnId, status: "done", durationMs: 5_000 });
  }
  const failed = await ingest.finish();
  if (failed) throw new Error(failed.message);
}

async function checkTexts(path: string, blocks: readonly string[][]): Promise<void> {
  const store = await openSqliteStore(path);
  const wanted = new Set(blocks.map((block) => block.join("")));
  for (const { id } of await store.blocks({ order: "first", limit: blocks.length * 2 }))
    wanted.delete(await store.text(id));
  await store.close();
  if (wanted.size > 0) throw new Error(`${wanted.size} texts did not come back`);
}

function partsOf(path: string): [string, number][] {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = db
      .prepare("SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY bytes DESC")
      .all();
    return rows.slice(0, 8).map((row) => [String(row["name"]), Number(row["bytes"])]);
  } catch {
    return []; // this SQLite was built without dbstat
  } finally {
    db.close();
  }
}
