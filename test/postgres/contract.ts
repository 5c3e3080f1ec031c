/** The store contract for PostgreSQL. Every check has a database of its own. */
import type { Store } from "@blockyard/kernel";
import { contract } from "@blockyard/kernel/store-contract";
import { openPostgresStore, type PostgresStore } from "../../packages/server/src/stores/postgres/postgres.ts";
import type { StoreCheck } from "./check.ts";

export const contractChecks: readonly StoreCheck[] = contract.map(({ title, run }) => ({
  title,
  async run(server) {
    const url = await server.newDatabase();
    const first = await openPostgresStore(url, { blobGraceMs: 0 });
    let open: PostgresStore = first;
    // The check goes on reading from the store that it had: it is given to the newer one.
    const store = new Proxy(first, {
      get: (_, name) => {
        const value = Reflect.get(open, name, open) as unknown;
        return typeof value === "function" ? value.bind(open) : value;
      },
    }) as Store;
    try {
      await run({
        store,
        reopen: async () => {
          // As it is later: what is gathered must read like what is not.
          await open.gather();
          await open.close();
          open = await openPostgresStore(url, { blobGraceMs: 0 });
          return open;
        },
        close: () => open.close(),
      });
    } finally {
      await open.close();
    }
    return undefined;
  },
}));
