/**
 * Every kind of outage of a real PostgreSQL, met by viewers in every state and over every transport: all of them are live
 * again without anybody's help, the process lives, `/health` has told, and every answer to a write was true.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, chromium } from "playwright-core";
import { require } from "../checks.ts";
import { chromiumPath } from "../e2e/page/yard.ts";
import type { StoreCheck } from "./check.ts";
import { OutageWorld } from "./outage-world.ts";
import { databaseIn, type TestServer } from "./server.ts";

const OUTAGE_MS = 6_000;
/** Of a server that says nothing: longer than a statement is waited for, or nobody would notice. */
const SILENCE_MS = 14_000;
/** Longer than the longest pause of a client and the longest wait of a call, with room for a busy machine. */
const LIVE_MS = 60_000;

interface Kind {
  readonly name: string;
  readonly isSilent?: boolean;
  begin(server: TestServer, world: OutageWorld): Promise<void> | void;
  end(server: TestServer, world: OutageWorld): Promise<void> | void;
}

/** What PostgreSQL says when its disk is full, without filling one. */
const FULL = `CREATE OR REPLACE FUNCTION blockyard.full() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
  CREATE TRIGGER full_disk BEFORE INSERT ON blockyard.chunk EXECUTE FUNCTION blockyard.full()`;

const KINDS: readonly Kind[] = [
  { name: "stopped", begin: (server) => server.halt("stopped"), end: (server) => server.start() },
  { name: "killed", begin: (server) => server.halt("killed"), end: (server) => server.start() },
  { name: "paused", isSilent: true, begin: (server) => server.pause(), end: (server) => server.resume() },
  {
    name: "cut",
    begin: (_server, { database }) => {
      database.mode = "refuses";
    },
    end: (_server, { database }) => {
      database.mode = "open";
    },
  },
  {
    name: "silent",
    isSilent: true,
    begin: (_server, { database }) => {
      database.mode = "swallows";
    },
    end: (_server, { database }) => {
      database.mode = "open";
    },
  },
  {
    name: "read-only",
    begin: (server, world) => setReadOnly(server, world, "on"),
    end: (server, world) => setReadOnly(server, world, "off"),
  },
  {
    name: "full",
    begin: async (server, { url }) => void (await server.run(FULL, databaseIn(url))),
    end: async (server, { url }) =>
      void (await server.run("DROP TRIGGER full_disk ON blockyard.chunk", databaseIn(url))),
  },
];

async function setReadOnly(server: TestServer, { url }: OutageWorld, to: "on" | "off"): Promise<void> {
  const name = databaseIn(url);
  await server.run(`ALTER DATABASE ${name} SET default_transaction_read_only = ${to}`);
  await server.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
}

let browser: Browser | undefined;

export const outageChecks: readonly StoreCheck[] = KINDS.map((kind) => ({
  title: `[W22] [CL10] [AC190] the database is ${kind.name}: everybody is live again, and no answer was untrue`,
  async run(server) {
    browser ??= await chromium.launch({
      executablePath: chromiumPath(),
      args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
    });
    const world = await OutageWorld.start(server, browser);
    try {
      await world.ready();
      await kind.begin(server, world);
      await world.disturb();
      await sleep(kind.isSilent ? SILENCE_MS : OUTAGE_MS);
      const told = await world.health();
      await kind.end(server, world);
      const took = await world.live(LIVE_MS);
      await world.requireTrueAnswers();
      const isReadable = kind.name === "read-only" || kind.name === "full";
      require(isReadable || told.status === 503, `/health said ${told.status}: ${told.body}`);
      require((await world.health()).status === 200, "/health is not well again");
      require(world.faults.length === 0, world.faults.slice(0, 3).join("\n"));
      return took;
    } finally {
      await world.stop();
    }
  },
}));

export async function closeBrowser(): Promise<void> {
  await browser?.close();
}
