/** What the search thread knows of the blocks: read page by page, and kept up meanwhile. */
import type { SearchQuery } from "@blockyard/kernel";
import { StoreScript } from "@blockyard/kernel/store-contract";
import { DatabaseAddress } from "../../packages/server/src/config/database-address.ts";
import { Connections } from "../../packages/server/src/stores/postgres/connections.ts";
import { CHANGED_OUTLINE_ROWS } from "../../packages/server/src/stores/postgres/limits.ts";
import { Outlines } from "../../packages/server/src/stores/postgres/outlines.ts";
import { openPostgresStore } from "../../packages/server/src/stores/postgres/postgres.ts";
import { require } from "../checks.ts";
import type { StoreCheck } from "./check.ts";
import { databaseIn } from "./server.ts";

const CONVERSATIONS = 30;
const BLOCKS_EACH = 50;

const ANY: SearchQuery = {
  ...{ pattern: "x", literal: true, ignoreCase: false, contextLines: 0, maxMatchesPerBlock: 1 },
  ...{ maxBlocks: 1, deadlineMs: 250 },
};

export const outlineChecks: readonly StoreCheck[] = [
  {
    title:
      "[Q35] a database is read a page at a time, the newest conversations first, and what was read is kept up",
    async run(server) {
      const url = await server.newDatabase();
      const store = await openPostgresStore(url);
      const scripts = Array.from({ length: CONVERSATIONS }, (_, i) => new StoreScript(`c${i}`));
      for (const script of scripts) {
        for (let i = 0; i < BLOCKS_EACH; i++) script.create({ text: "some text", status: "done" });
        await script.commit(store);
      }
      const connections = new Connections(new DatabaseAddress(url), "outlines", { max: 1 });
      const outlines = new Outlines();
      const readOn = () =>
        connections.once(async (connection) => {
          await connection.script("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
          await outlines.refresh(connection, 0);
          await connection.script("COMMIT");
        });
      const seen = () => [...outlines.index.candidates(ANY, undefined)];
      const readAll = async () => {
        const steps: string[] = [];
        while (outlines.progress !== undefined) {
          steps.push(`${outlines.progress.indexed} of ${outlines.progress.total}`);
          await readOn();
        }
        return steps;
      };

      await readOn();
      require(seen()[0]?.conversation === "c29", "the newest conversation was not read first");
      // Written to what has been read, and to what has not.
      for (const script of [scripts[29], scripts[0]] as StoreScript[]) {
        script.create({ text: "some text", status: "done" });
        await script.commit(store);
      }
      await readOn();
      const newest = seen().filter(({ conversation }) => conversation === "c29").length;
      require(newest === BLOCKS_EACH + 1, `${newest} blocks of the newest conversation`);
      const steps = await readAll();
      const all = CONVERSATIONS * BLOCKS_EACH + 2;
      require(seen().length === all, `${seen().length} of ${all} blocks`);
      require(steps.join() === "19 of 30,29 of 30", steps.join());

      // More than is looked at one by one: everything is read again, and every block keeps its number.
      await server.run(
        `INSERT INTO blockyard.block SELECT conversation, born + ${BLOCKS_EACH} + g, seq, version, created_at, parent, kind,
          status, path, chars, texted, filtered, loose, pg_current_xact_id()::text::bigint, body
        FROM blockyard.block, generate_series(1, ${CHANGED_OUTLINE_ROWS}) AS g WHERE born = 1
          AND conversation = (SELECT id FROM blockyard.conversation WHERE name = 'c7')`,
        databaseIn(url),
      );
      await readOn();
      require(outlines.progress !== undefined, "everything was read at once");
      await readAll();
      const found = seen();
      require(found.length === all + CHANGED_OUTLINE_ROWS, `${found.length} blocks at the end`);
      require(found.every((entry) => outlines.known(entry).born === entry.born), "a number has two blocks");
      require(new Set(found.map(({ row }) => row)).size === found.length, "a block has two numbers");
      await connections.close();
      await store.close();
      return `${steps.join(", ")}; ${found.length} blocks`;
    },
  },
];
