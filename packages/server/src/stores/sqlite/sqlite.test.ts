/** The store contract for SQLite, and what only SQLite's has. */
import { createHash } from "node:crypto";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { contract, StoreScript } from "@blockyard/kernel/store-contract";
import { afterAll, describe, expect, it } from "vitest";
import { mergeRuns } from "../encoding/runs.ts";
import { compareSums, writeSums } from "./integrity.ts";
import { Memtable } from "./memtable.ts";
import { queryBlocks } from "./query.ts";
import { restoreSqliteStore } from "./restore.ts";
import { migrate, openDatabase, pragma, SCHEMA_VERSION } from "./schema.ts";
import { openSqliteStore, type SqliteStore } from "./sqlite.ts";
import { Tables } from "./tables.ts";

const directory = mkdtempSync(join(tmpdir(), "blockyard-store-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let databases = 0;

function newPath(): string {
  return join(directory, `${databases++}.db`);
}

describe("SqliteStore keeps the contract", () => {
  for (const { title, run } of contract) {
    it(title, async () => {
      const path = newPath();
      const first = await openSqliteStore(path, { blobGraceMs: 0 });
      let open: SqliteStore = first;
      // The check keeps reading from its old store: it is passed to the newer one.
      const store = new Proxy(first, {
        get: (_, name) => {
          const value = Reflect.get(open, name, open) as unknown;
          return typeof value === "function" ? value.bind(open) : value;
        },
      });
      await run({
        store,
        reopen: async () => {
          await open.close();
          open = await openSqliteStore(path, { blobGraceMs: 0 });
          return open;
        },
        close: () => open.close(),
      });
      await open.close();
    });
  }
});

it("[S22] a second opening is refused while the first one exists", async () => {
  const path = newPath();
  const store = await openSqliteStore(path);
  await expect(openSqliteStore(path)).rejects.toMatchObject({ name: "StoreError", code: "locked" });
  await store.close();
  await (await openSqliteStore(path)).close();
});

it("[S23] commits are durable after every opening", async () => {
  const path = newPath();
  for (let opening = 0; opening < 2; opening++) {
    const db = openDatabase(path);
    expect([pragma(db, "synchronous"), pragma(db, "journal_mode")]).toEqual([2, "wal"]);
    db.close();
  }
});

it("[S24] a database of another program or of a newer schema is refused and left unchanged", async () => {
  const path = newPath();
  const other = new DatabaseSync(path);
  other.exec("CREATE TABLE other (id INTEGER PRIMARY KEY)");
  other.close();
  const before = readFileSync(path);
  await expect(openSqliteStore(path)).rejects.toMatchObject({ code: "version" });
  expect(readFileSync(path).equals(before)).toBe(true);

  const newer = newPath();
  await (await openSqliteStore(newer)).close();
  rmSync(`${newer}.sums`);
  const db = new DatabaseSync(newer);
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
  db.close();
  await expect(openSqliteStore(newer)).rejects.toMatchObject({ code: "version" });
});

it("[S24] an older schema is brought up step by step, each step once", () => {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('kept'); PRAGMA user_version = 1");
  const steps = [
    (of: DatabaseSync) => of.exec("ALTER TABLE note ADD COLUMN length INTEGER"),
    (of: DatabaseSync) => of.exec("UPDATE note SET length = length(text)"),
  ];
  migrate(db, steps);
  migrate(db, steps);
  expect({ ...db.prepare("SELECT * FROM note").get() }).toEqual({ text: "kept", length: 4 });
  expect(pragma(db, "user_version")).toBe(3);
  const broken = [
    ...steps,
    (of: DatabaseSync) => {
      of.exec("DELETE FROM note");
      throw new Error("half way");
    },
  ];
  expect(() => migrate(db, broken)).toThrow("half way");
  expect(pragma(db, "user_version")).toBe(3);
  expect(db.prepare("SELECT count(*) AS n FROM note").get()).toMatchObject({ n: 1 });
});

it("[S25] a file that differs from what closing left is refused, with what to do", async () => {
  const path = newPath();
  const store = await openSqliteStore(path);
  await store.putBlob("h", "text/plain", new Uint8Array(10_000));
  await store.close();
  appendFileSync(path, "x");
  await expect(openSqliteStore(path)).rejects.toMatchObject({
    code: "corrupt",
    message: expect.stringContaining("size has changed"),
  });
  // Checksums that are damaged themselves say nothing about the database.
  const other = newPath();
  await (await openSqliteStore(other)).close();
  const sums = readFileSync(`${other}.sums`);
  sums[9] = (sums[9] as number) ^ 1;
  writeFileSync(`${other}.sums`, sums);
  await (await openSqliteStore(other)).close();
});

it("[S25] a damaged block is refused, the others are read, and new commits are taken", async () => {
  const path = newPath();
  const store = await openSqliteStore(path, { pendingBytes: 0, journalBytes: 0 });
  const script = new StoreScript("c");
  const [bad, good] = [
    script.create({ text: "bad ".repeat(100) }),
    script.create({ text: "good ".repeat(100) }),
  ];
  await script.commit(store);
  script.title("flushes what is before it");
  await script.commit(store);
  const damage = new DatabaseSync(path);
  damage.exec(
    "UPDATE chunk SET body = zeroblob(length(body)) WHERE owner = (SELECT id FROM block WHERE born = 1)",
  );
  damage.close();
  await expect(store.text(bad)).rejects.toMatchObject({ code: "corrupt" });
  expect(await store.text(good)).toBe("good ".repeat(100));
  for (const block of [bad, good]) script.append(block, "more");
  expect(await script.commit(store)).toEqual({ type: "committed" });
  for (let i = 0; i < 5; i++) {
    script.append(good, "!");
    expect(await script.commit(store)).toEqual({ type: "committed" });
  }
  expect(await store.text(good)).toBe(`${"good ".repeat(100)}more!!!!!`);
  await store.close();
});

it("[S26] the database does not grow with how finely a stream was cut", async () => {
  const sizes: number[] = [];
  const text = Array.from({ length: 4_000 }, (_, i) => `${((i * 7_919) % 4_001).toString(36)} `).join("");
  for (const piece of [2_000, 50, 3]) {
    const path = newPath();
    const store = await openSqliteStore(path, { pendingBytes: 4_000, journalBytes: 8_000 });
    const script = new StoreScript("c");
    const block = script.create();
    for (let at = 0; at < text.length; at += piece) {
      script.append(block, text.slice(at, at + piece), 2);
      if (at % 7 === 0) await script.commit(store);
    }
    script.status(block, "done");
    await script.commit(store);
    await store.close();
    const db = new DatabaseSync(path, { readOnly: true });
    const { bytes } = db.prepare("SELECT sum(length(body)) AS bytes FROM chunk").get() as { bytes: number };
    db.close();
    sizes.push(bytes);
  }
  const [pages, lines, letters] = sizes as [number, number, number];
  expect(lines / pages).toBeLessThan(1.15);
  expect(letters / pages).toBeLessThan(1.15);
});

it("[S26] a short finished block is one chunk, whatever happened on the way", async () => {
  const path = newPath();
  const store = await openSqliteStore(path, { pendingBytes: 0, journalBytes: 0 });
  const script = new StoreScript("c");
  const block = script.create();
  for (let i = 0; i < 60; i++) {
    script.append(block, `${i} words\n`, 2);
    await script.commit(store);
  }
  script.status(block, "done");
  await script.commit(store);
  await store.close();
  const db = new DatabaseSync(path, { readOnly: true });
  const sql = "SELECT count(*) AS n FROM chunk WHERE owner = (SELECT id FROM block)";
  expect(db.prepare(sql).get()).toMatchObject({ n: 1 });
  db.close();
});

it("[S5] a stream's appends come back whole after a kill, flushed or not, and with its conversation", async () => {
  // How much is flushed at once decides which of block and conversation the tables have when the journal is read again.
  for (const options of [
    {},
    { pendingBytes: 300, journalBytes: 400 },
    { pendingBytes: 0, journalBytes: 0 },
  ]) {
    const path = newPath();
    const store = await openSqliteStore(path, options);
    const script = new StoreScript("c");
    const [stream, other] = [script.create({ status: "running" }), script.create({ status: "running" })];
    await script.commit(store);
    for (let i = 0; i < 40; i++) {
      script.append(i % 3 === 0 ? other : stream, `piece ${i}, \u00e9\n`, 2);
      await script.commit(store);
      const killed = newPath();
      for (const end of ["", "-wal"]) copyFileSync(`${path}${end}`, `${killed}${end}`);
      const again = await openSqliteStore(killed, options);
      expect(await again.conversation("c")).toEqual(script.record);
      for (const id of [stream, other]) {
        expect(await again.block(id)).toEqual(script.block(id));
        expect(await again.text(id)).toBe(await store.text(id));
        const [kept, wanted] = [await again.log(id, { version: 0 }), await store.log(id, { version: 0 })];
        expect(mergeRuns(kept.ops)).toEqual(mergeRuns(wanted.ops));
      }
      await again.close();
    }
    await store.close();
  }
});

it("[S21] a closed store says so", async () => {
  const store = await openSqliteStore(newPath());
  await store.close();
  await expect(store.text("c/model/1")).rejects.toMatchObject({ name: "StoreError", code: "closed" });
  await expect(new StoreScript("c").commit(store)).rejects.toMatchObject({ code: "closed" });
});

it("[S27] a backup is restored only if nothing is there", async () => {
  const path = newPath();
  const store = await openSqliteStore(path);
  await store.backup(`${path}.backup`);
  await expect(restoreSqliteStore(`${path}.backup`, path)).rejects.toMatchObject({ code: "locked" });
  await store.close();
  await expect(restoreSqliteStore(`${path}.backup`, path)).rejects.toMatchObject({ code: "io" });
});

it("[S12] opening a conversation's end costs the same at any length", async () => {
  const store = await openSqliteStore(newPath());
  const script = new StoreScript("c");
  for (let i = 0; i < 3_000; i++) script.create({ text: `block ${i}` });
  await script.commit(store);
  await store.close();
  const opened = await openSqliteStore(store.path);
  const db = new DatabaseSync(store.path, { readOnly: true });
  const plan = db.prepare(
    "EXPLAIN QUERY PLAN SELECT * FROM block WHERE conversation = 1 ORDER BY born DESC LIMIT 50",
  );
  expect(JSON.stringify(plan.all())).toContain("block_by_place");
  expect(JSON.stringify(plan.all())).not.toContain("TEMP B-TREE");
  db.close();
  expect(await opened.blocks({ conversation: "c", order: "last", limit: 50 })).toHaveLength(50);
  await opened.close();
});

it("[S60] a closed database has no free pages, and little unused space in the others", async () => {
  const path = newPath();
  const store = await openSqliteStore(path);
  for (let c = 0; c < 20; c++) {
    const script = new StoreScript(`c${c}`);
    for (let i = 0; i < 30; i++) {
      const block = script.create({ status: "running" });
      // Words that do not compress away, in lengths from some bytes to several pages.
      for (let piece = 0; piece <= (c * 7 + i * 13) % 40; piece++) {
        script.append(block, `${createHash("sha256").update(`${c} ${i} ${piece}`).digest("base64")}\n`);
        if (piece % 9 === 0) await script.commit(store);
      }
      script.status(block, "done");
    }
    await script.commit(store);
  }
  await store.close();
  const db = new DatabaseSync(path, { readOnly: true });
  expect(pragma(db, "freelist_count")).toBe(0);
  // Tables of a few pages are mostly room to grow, in a small database as in a large one.
  const large = "SELECT name FROM dbstat GROUP BY name HAVING count(*) > 8";
  const pages = db
    .prepare(`SELECT sum(pgsize) AS bytes, sum(unused) AS unused FROM dbstat WHERE name IN (${large})`)
    .get();
  db.close();
  expect(Number(pages?.["unused"]) / Number(pages?.["bytes"])).toBeLessThan(0.25);
});

describe("[S42] stored data costs only those who request it", () => {
  it("open blocks are found by their own index, over all conversations and in one", async () => {
    const path = join(directory, "open-blocks.db");
    const store = await openSqliteStore(path);
    const script = new StoreScript("c");
    const running = script.create({ status: "running" });
    script.create({ status: "done", text: "done" });
    await script.commit(store);
    await store.close();
    const db = new DatabaseSync(path);
    const tables = new Tables(db);
    const asked: string[] = [];
    const all = tables.all.bind(tables);
    tables.all = (sql, ...values) => {
      asked.push(sql);
      return all(sql, ...values);
    };
    for (const query of [{}, { conversation: "c" }]) {
      const found = queryBlocks(tables, new Memtable(tables), {
        ...query,
        status: "running",
        order: "first",
        limit: 10,
      });
      expect(found.map(({ id }) => id)).toEqual([running]);
      const sql = asked.at(-1) as string;
      const values = Array.from({ length: sql.split("?").length - 1 }, () => 1);
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
      expect(plan.map(({ detail }) => detail).join("; ")).toContain("INDEX block_open");
    }
    db.close();
  });

  it("the sums of a large file are not made", async () => {
    const path = join(directory, "large.db");
    await (await openSqliteStore(path)).close();
    expect(compareSums(path)).toBe(true);
    writeSums(path, 1_000);
    expect(existsSync(`${path}.sums`)).toBe(false);
    expect(compareSums(path)).toBe(false);
  });

  it("the rest of a flush does not wait until the search thread has ended", async () => {
    const path = join(directory, "ending.db");
    const store = await openSqliteStore(path);
    const script = new StoreScript("c");
    script.create({ status: "done", text: "needle" });
    await script.commit(store);
    await store.search({
      pattern: "needle",
      literal: true,
      ignoreCase: false,
      contextLines: 0,
      maxMatchesPerBlock: 1,
      maxBlocks: 1,
      deadlineMs: 250,
    });
    const waiting: number[] = [];
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (this: Worker, message: { readonly type: string }) {
      postMessage.call(this, message);
      if (message.type !== "end") return;
      this.once("exit", () => {
        const db = new DatabaseSync(path, { readOnly: true });
        waiting.push(db.prepare("SELECT count(*) AS n FROM journal").get()?.["n"] as number);
        db.close();
      });
    };
    try {
      await store.close();
    } finally {
      Worker.prototype.postMessage = postMessage;
    }
    expect(waiting).toEqual([0]);
    expect(compareSums(path)).toBe(true);
  });
});

it("[AC245] no statement changes or removes an audit entry, and a database of before gets the table", async () => {
  const path = newPath();
  await (await openSqliteStore(path)).close();
  const old = new DatabaseSync(path);
  old.exec("DROP TABLE audit; PRAGMA user_version = 1");
  old.close();
  rmSync(`${path}.sums`);
  const store = await openSqliteStore(path);
  const entry = { at: 1, agent: "ann", role: "owner", by: "page", action: "command.run", details: {} };
  await store.audit.append(entry);
  await store.close();
  rmSync(`${path}.sums`);
  const db = new DatabaseSync(path);
  expect(() => db.exec("DELETE FROM audit")).toThrow("only added to");
  expect(() => db.exec("UPDATE audit SET agent = 'bob'")).toThrow("only added to");
  expect(() => db.exec("INSERT OR REPLACE INTO audit SELECT * FROM audit")).toThrow();
  db.close();
  const again = await openSqliteStore(path);
  expect(await again.audit.read({ order: "first", limit: 5 })).toEqual([{ ...entry, id: 1 }]);
  await again.close();
});
