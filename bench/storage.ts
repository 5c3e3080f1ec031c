/**
 * How large does a streamed conversation become on disk? A million tokens go through ingest, kernel and SQLite store as
 * a provider would send them, many streams at once, flushed by the kernel's rule. Beside it, the same flushes as
 * updates of the CRDT libraries, one document per block, and the same tokens as one JSON event each, all in SQLite
 * tables of their own without any index of words.
 */
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import * as Automerge from "@automerge/automerge";
import { type BlockEvent, Ingest, isProblem, Kernel, limits } from "@blockyard/kernel";
import { LoroDoc } from "loro-crdt";
import * as Y from "yjs";
import { nodeEnv } from "../packages/server/src/env.ts";
import { openSqliteStore } from "../packages/server/src/store/sqlite.ts";
import type { Bench } from "./bench.ts";
import { seeded, tokens } from "./corpus/prose.ts";

const SEED = 20261;
const BLOCKS = 2_000;
const TOKENS_PER_BLOCK = 500;
const STREAMS = 40;
/** The others are slower, and their bytes per byte do not depend on the number of blocks. */
const COMPARED_BLOCKS = 250;

export const bench: Bench = {
  name: "storage",
  question: "How many bytes does the database need for each byte of streamed text, search filters included?",
  targets: { bytesPerTextByte: { max: 1.25 } },
  async run(report) {
    const directory = mkdtempSync(join(tmpdir(), "blockyard-bench-"));
    try {
      const blocks = makeBlocks();
      const ours = await measureOurs(join(directory, "ours.db"), blocks);
      const compared = blocks.slice(0, COMPARED_BLOCKS);
      const others = OTHERS.map(({ name, write }) =>
        measureOther(join(directory, `${name}.db`), name, write, compared),
      );
      const flushes = blocks.reduce((sum, block) => sum + flushesOf(block).length, 0);
      report.note(
        `${BLOCKS} blocks, ${BLOCKS * TOKENS_PER_BLOCK} tokens, ${ours.textBytes} bytes of text, ${flushes} flushes; ` +
          `the others: the first ${COMPARED_BLOCKS} blocks; seed ${SEED}`,
      );
      report.table([
        {
          what: "ours, closed",
          "bytes/text byte": ratio(ours.bytesPerTextByte),
          seconds: ratio(ours.seconds),
        },
        {
          what: "ours, open, with its log",
          "bytes/text byte": ratio(ours.openBytesPerTextByte),
          seconds: "",
        },
        ...ours.parts.map(([what, share]) => ({
          what: `  of it ${what}`,
          "bytes/text byte": ratio(share),
          seconds: "",
        })),
        ...others.map(({ name, bytesPerTextByte, seconds }) => ({
          what: name,
          "bytes/text byte": ratio(bytesPerTextByte),
          seconds: ratio(seconds),
        })),
      ]);
      return {
        bytesPerTextByte: ours.bytesPerTextByte,
        openBytesPerTextByte: ours.openBytesPerTextByte,
        ...Object.fromEntries(
          others.map((other) => [`${other.name}BytesPerTextByte`, other.bytesPerTextByte]),
        ),
      };
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

function makeBlocks(): string[][] {
  const source = seeded(SEED);
  return Array.from({ length: BLOCKS }, () => {
    const answer = tokens(source);
    return Array.from({ length: TOKENS_PER_BLOCK }, () => answer.next().value as string);
  });
}

/** One flush: a newline, or more than `appendFlushChars`; what is left at the end. */
function flushesOf(block: readonly string[]): string[] {
  const flushes: string[] = [];
  let text = "";
  for (const token of block) {
    text += token;
    if (!token.includes("\n") && text.length <= limits.appendFlushChars) continue;
    flushes.push(text);
    text = "";
  }
  if (text !== "") flushes.push(text);
  return flushes;
}

interface Ours {
  readonly textBytes: number;
  readonly bytesPerTextByte: number;
  readonly openBytesPerTextByte: number;
  readonly seconds: number;
  readonly parts: readonly (readonly [string, number])[];
}

async function measureOurs(path: string, blocks: readonly string[][]): Promise<Ours> {
  const startMs = performance.now();
  const store = await openSqliteStore(path);
  const kernel = new Kernel(nodeEnv, store);
  const perStream = Math.ceil(blocks.length / STREAMS);
  const streams = Array.from({ length: STREAMS }, (_, i) => blocks.slice(i * perStream, (i + 1) * perStream));
  await Promise.all(streams.map((stream, i) => streamInto(kernel, stream, i)));
  await kernel.close();
  const openBytes = sizeOf(path) + sizeOf(`${path}-wal`);
  await store.close();
  const seconds = (performance.now() - startMs) / 1_000;
  const textBytes = bytesOf(blocks);
  await checkTexts(path, blocks);
  return {
    textBytes,
    bytesPerTextByte: sizeOf(path) / textBytes,
    openBytesPerTextByte: openBytes / textBytes,
    seconds,
    parts: partsOf(path).map(([name, bytes]) => [name, bytes / textBytes] as const),
  };
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

/** A small database that lost something would be no feat. */
async function checkTexts(path: string, blocks: readonly string[][]): Promise<void> {
  const store = await openSqliteStore(path);
  const wanted = new Set(blocks.map((block) => block.join("")));
  for (const { id } of await store.blocks({ order: "first", limit: BLOCKS * 2 }))
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

interface Other {
  readonly name: string;
  readonly write: (block: readonly string[], insert: (update: Uint8Array | string) => void) => void;
}

const OTHERS: readonly Other[] = [
  {
    name: "yjs",
    write(block, insert) {
      const doc = new Y.Doc();
      const text = doc.getText("t");
      doc.on("update", (update: Uint8Array) => insert(update));
      for (const flush of flushesOf(block)) text.insert(text.length, flush);
      doc.destroy();
    },
  },
  {
    name: "loro",
    write(block, insert) {
      const doc = new LoroDoc();
      const text = doc.getText("t");
      let version = doc.version();
      for (const flush of flushesOf(block)) {
        text.insert(text.length, flush);
        doc.commit();
        insert(doc.export({ mode: "update", from: version }));
        version = doc.version();
      }
      doc.free();
    },
  },
  {
    name: "automerge",
    write(block, insert) {
      let doc = Automerge.from({ text: "" });
      for (const flush of flushesOf(block)) {
        doc = Automerge.change(doc, (draft) =>
          Automerge.splice(draft, ["text"], draft.text.length, 0, flush),
        );
        insert(Automerge.getLastLocalChange(doc) as Uint8Array);
      }
      Automerge.free(doc);
    },
  },
  {
    name: "jsonEvents",
    write(block, insert) {
      for (const [index, text] of block.entries()) {
        insert(JSON.stringify({ type: "content_block_delta", index, delta: { type: "text_delta", text } }));
      }
    },
  },
];

function measureOther(path: string, name: string, write: Other["write"], blocks: readonly string[][]) {
  const startMs = performance.now();
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE TABLE op (block INTEGER NOT NULL, n INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (block, n)) WITHOUT ROWID`);
  const statement = db.prepare("INSERT INTO op VALUES (?, ?, ?)");
  for (const [i, block] of blocks.entries()) {
    let n = 0;
    db.exec("BEGIN");
    write(block, (update) => statement.run(i, n++, update));
    db.exec("COMMIT");
  }
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  return {
    name,
    bytesPerTextByte: sizeOf(path) / bytesOf(blocks),
    seconds: (performance.now() - startMs) / 1_000,
  };
}

function bytesOf(blocks: readonly string[][]): number {
  return blocks.reduce((sum, block) => sum + Buffer.byteLength(block.join("")), 0);
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}

function ratio(value: number): string {
  return value.toFixed(3);
}
