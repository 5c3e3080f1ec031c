/**
 * The same texts as others keep them: each flush as an update of a CRDT library, one document per block, or each token as one
 * JSON event; in a SQLite table of their own, without any index of words.
 */
import { DatabaseSync } from "node:sqlite";
import * as Automerge from "@automerge/automerge";
import { LoroDoc } from "loro-crdt";
import * as Y from "yjs";
import { bytesOf, flushesOf, sizeOf } from "./blocks.ts";

export interface Other {
  readonly name: string;
  readonly write: (block: readonly string[], insert: (update: Uint8Array | string) => void) => void;
}

export const OTHERS: readonly Other[] = [
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
