/**
 * The same texts as others keep them: each flush as an update of a CRDT library, one document per block, or each token as one
 * JSON event; in a SQLite table of their own, without any index of words.
 */
import { DatabaseSync } from "node:sqlite";
import * as Y from "yjs";
import { loadPeer } from "../peer.ts";
import { bytesOf, flushesOf, sizeOf } from "./blocks.ts";
import type { Other } from "./other.ts";

/** Yjs, the libraries of others.peer.ts, and plain events. */
export async function others(): Promise<readonly Other[]> {
  type Peer = { others: readonly Other[] };
  const peer = await loadPeer<Peer>(new URL("./others.peer.ts", import.meta.url));
  return [YJS, ...peer.others, JSON_EVENTS];
}

const YJS: Other = {
  name: "yjs",
  write(block, insert) {
    const doc = new Y.Doc();
    const text = doc.getText("t");
    doc.on("update", (update: Uint8Array) => insert(update));
    for (const flush of flushesOf(block)) text.insert(text.length, flush);
    doc.destroy();
  },
};

const JSON_EVENTS: Other = {
  name: "jsonEvents",
  write(block, insert) {
    for (const [index, text] of block.entries()) {
      insert(JSON.stringify({ type: "content_block_delta", index, delta: { type: "text_delta", text } }));
    }
  },
};

export interface OtherStored {
  readonly name: string;
  readonly bytesPerTextByte: number;
  readonly seconds: number;
}

export function measureOther(path: string, { name, write }: Other, blocks: readonly string[][]): OtherStored {
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
