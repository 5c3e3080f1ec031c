/** What removing a conversation leaves in the files of a database: nothing of it, and the rest unchanged. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { limits, type SearchQuery } from "@blockyard/kernel";
import { StoreScript } from "@blockyard/kernel/store-contract";
import { afterAll, describe, expect, it } from "vitest";
import { indexPath } from "./search/index-folder.ts";
import { openSqliteStore, type SqliteStore } from "./sqlite.ts";

const directory = mkdtempSync(join(tmpdir(), "blockyard-deletions-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Megabytes are written and scanned, on a machine that may be busy. */
const SLOW_MS = 120_000;

/** Words that nothing else has, as a model would write them: they compress, but not to nothing. */
function prose(words: number): string {
  return Array.from({ length: words }, () => randomBytes(4).toString("hex")).join(" ");
}

/** A conversation with texts of every size, streamed and edited. */
async function fill(store: SqliteStore, id: string, blocks: number): Promise<StoreScript> {
  const script = new StoreScript(id);
  for (let i = 0; i < blocks; i++) {
    const block = script.create({ text: prose(3), status: "running", metadata: { note: prose(i % 60) } });
    for (let piece = 0; piece < 3; piece++) {
      script.append(block, prose(i % 7 === 0 ? 900 : 20), 2);
      if (i % 20 === 0) await script.commit(store);
    }
    script.status(block, "done");
    if (i % 50 === 0) await store.appendRaw({ conversation: id, run: `r${i % 3}` }, Buffer.from(prose(400)));
  }
  script.turn({
    id: "t",
    provider: "p",
    agent: "a",
    status: "done",
    startedAt: 1,
    native: { said: prose(50) },
  });
  script.answer("k", prose(50));
  await script.commit(store);
  return script;
}

/** Pieces of everything that the tables have of a conversation, as bytes. */
function piecesOf(path: string, name: string): Buffer[] {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const { id } = db.prepare("SELECT id FROM conversation WHERE name = ?").get(name) as { id: number };
    const owners = `SELECT ${id} UNION SELECT id FROM block WHERE conversation = ${id} UNION SELECT id FROM raw WHERE conversation = '${name}'`;
    const rows = [
      ...db.prepare(`SELECT body FROM chunk WHERE owner IN (${owners})`).all(),
      ...["block", "turn", "answer"].flatMap((table) =>
        db.prepare(`SELECT body FROM ${table} WHERE conversation = ${id}`).all(),
      ),
    ] as { body: Uint8Array }[];
    return rows.flatMap(({ body }) => {
      const bytes = Buffer.from(body);
      const pieces: Buffer[] = [];
      // After the first bytes, which frames of compressed data have in common.
      for (let at = 40; at + 24 <= bytes.length; at += 3_997) pieces.push(bytes.subarray(at, at + 24));
      return pieces;
    });
  } finally {
    db.close();
  }
}

/** Whether a conversation has left the journal. */
function isInTables(path: string, name: string): boolean {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return db.prepare("SELECT id FROM conversation WHERE name = ?").get(name) !== undefined;
  } finally {
    db.close();
  }
}

function filesOf(path: string): Buffer {
  const index = indexPath(path);
  const names = existsSync(index) ? readdirSync(index).map((name) => join(index, name)) : [];
  return Buffer.concat([path, `${path}-wal`, ...names].filter(existsSync).map((name) => readFileSync(name)));
}

function leftOf(path: string, pieces: readonly Buffer[]): number {
  const all = filesOf(path);
  return pieces.filter((piece) => all.includes(piece)).length;
}

const query: SearchQuery = {
  ...{ pattern: "", literal: true, ignoreCase: false, contextLines: 0 },
  ...{ maxMatchesPerBlock: 1, maxBlocks: 9, deadlineMs: limits.searchDeadlineMs },
};

async function hits(store: SqliteStore, pattern: string): Promise<number> {
  const answer = await store.search({ ...query, pattern });
  return "hits" in answer ? answer.hits.length : -1;
}

/** Polls until it is true, within the test's own time limit. */
async function until(what: () => boolean): Promise<void> {
  while (!what()) await new Promise((done) => setTimeout(done, 20));
}

describe("[S93] the text of a removed conversation leaves the files", () => {
  it(
    "database, log and search index, while the others stay as they were",
    async () => {
      const path = join(directory, "text.db");
      const store = await openSqliteStore(path);
      // The first texts become the database's dictionary; they are another conversation's here.
      const first = await fill(store, "first", 60);
      const secret = await fill(store, "secret", 200);
      const other = await fill(store, "other", 60);
      const word = (await store.text(secret.record.head as string)).slice(-8);
      const stays = (await store.text(other.record.head as string)).slice(-8);
      expect(await hits(store, word)).toBe(1);
      await until(() => filesOf(path).includes(Buffer.from(word)));
      await until(() => isInTables(path, "secret"));
      await store.backup(join(directory, "flushed.db"));
      const pieces = piecesOf(join(directory, "flushed.db"), "secret");
      expect(pieces.length).toBeGreaterThan(250);
      await store.deletions.note({ conversation: "secret", at: 1, by: "ann" });
      expect(await store.deletions.remove("secret", secret.record.seq, 2)).toBe("removed");
      await until(() => leftOf(path, pieces) === 0 && !filesOf(path).includes(Buffer.from(word)));
      expect(leftOf(path, pieces)).toBe(0);
      expect(filesOf(path).includes(Buffer.from(word))).toBe(false);
      expect([await hits(store, word), await hits(store, stays)]).toEqual([0, 1]);
      const kept = await store.text(other.record.head as string);
      await store.close();
      expect(leftOf(path, pieces)).toBe(0);
      const again = await openSqliteStore(path);
      expect(await again.text(first.record.head as string)).not.toBe("");
      expect(await again.text(other.record.head as string)).toBe(kept);
      expect([await hits(again, word), await hits(again, stays)]).toEqual([0, 1]);
      await again.close();
    },
    SLOW_MS,
  );

  it(
    "a store that is closed in the middle continues when it is opened again",
    async () => {
      const path = join(directory, "closed.db");
      const store = await openSqliteStore(path);
      await fill(store, "first", 40);
      const secret = await fill(store, "secret", 250);
      await store.backup(join(directory, "closed-flushed.db"));
      const pieces = piecesOf(join(directory, "closed-flushed.db"), "secret");
      await store.deletions.note({ conversation: "secret", at: 1, by: "ann" });
      const removing = store.deletions.remove("secret", secret.record.seq, 2);
      await store.close();
      await removing.catch(() => undefined);
      const again = await openSqliteStore(path);
      expect(await again.conversation("secret")).toBeUndefined();
      expect(await again.block(secret.record.head as string)).toBeUndefined();
      const db = new DatabaseSync(path, { readOnly: true });
      const rows = () => (db.prepare("SELECT count(*) AS rows FROM block").get() as { rows: number }).rows;
      expect(rows()).toBeGreaterThan(40);
      await again.deletions.clear();
      expect(rows()).toBe(40);
      db.close();
      await until(() => leftOf(path, pieces) === 0);
      expect(leftOf(path, pieces)).toBe(0);
      await again.close();
    },
    SLOW_MS,
  );
});
