/** The contract of stores, kept by the one on SQLite, and what only SQLite's has. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contract } from "@blockyard/kernel/store-contract";
import { afterAll, describe, it } from "vitest";
import { openSqliteStore, type SqliteStore } from "./sqlite.ts";

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
      const first = await openSqliteStore(path);
      let open: SqliteStore = first;
      // The check goes on reading from the store that it had: it is given to the newer one.
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
          open = await openSqliteStore(path);
          return open;
        },
        close: () => open.close(),
      });
      await open.close();
    });
  }
});
