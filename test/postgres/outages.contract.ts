/**
 * Every kind of outage of a real PostgreSQL and of the broker, with one node and with three, met by viewers in every state and
 * over every transport: all of them are live again without anybody's help, the processes live, `/health` has told, and every
 * answer to a write was true.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, chromium } from "playwright-core";
import { require } from "../checks.ts";
import { chromiumPath } from "../e2e/page/chromium.ts";
import type { StoreCheck } from "./check.ts";
import { OutageWorld } from "./outage-world.ts";
import type { Relay, RelayMode } from "./relay.ts";
import { databaseIn, type TestServer } from "./server.ts";

const NODES = 3;
const OUTAGE_MS = 6_000;
/** Of a server that says nothing: longer than a statement is waited for, or nobody would notice. */
const SILENCE_MS = 14_000;
/** Longer than the longest pause of a client and the longest wait of a call, with room for a busy machine. */
const LIVE_MS = 60_000;

interface Kind {
  readonly name: string;
  readonly isSilent?: boolean;
  /** What `/health` answers meanwhile, where that is promised. */
  readonly health?: number;
  /** Whether writes notice; they do, if nothing is said. */
  readonly isMet?: boolean;
  begin(server: TestServer, world: OutageWorld): Promise<void> | void;
  end(server: TestServer, world: OutageWorld): Promise<void> | void;
}

/** What PostgreSQL says when its disk is full, without filling one. */
const FULL = `CREATE OR REPLACE FUNCTION blockyard.full() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
  CREATE TRIGGER full_disk BEFORE INSERT ON blockyard.chunk EXECUTE FUNCTION blockyard.full()`;

const KINDS: readonly Kind[] = [
  {
    ...{ name: "the database is stopped", health: 503 },
    begin: (server) => server.halt("stopped"),
    end: (server) => server.start(),
  },
  {
    ...{ name: "the database is killed", health: 503 },
    begin: (server) => server.halt("killed"),
    end: (server) => server.start(),
  },
  {
    ...{ name: "the database is paused", isSilent: true, health: 503 },
    begin: (server) => server.pause(),
    end: (server) => server.resume(),
  },
  {
    ...{ name: "the database is cut", health: 503 },
    begin: (_server, { database }) => set(database, "refuses"),
    end: (_server, { database }) => set(database, "open"),
  },
  {
    ...{ name: "the database is silent", isSilent: true, health: 503 },
    begin: (_server, { database }) => set(database, "swallows"),
    end: (_server, { database }) => set(database, "open"),
  },
  {
    name: "the database is read-only",
    begin: (server, world) => setReadOnly(server, world, "on"),
    end: (server, world) => setReadOnly(server, world, "off"),
  },
  {
    name: "the database is full",
    begin: async (server, { url }) => void (await server.run(FULL, databaseIn(url))),
    end: async (server, { url }) =>
      void (await server.run("DROP TRIGGER full_disk ON blockyard.chunk", databaseIn(url))),
  },
];

/** With several nodes, one of them can go too. */
const NODE_KINDS: readonly Kind[] = [
  {
    name: "the database and a node are killed",
    begin: async (server, { nodes }) => {
      await server.halt("killed");
      await nodes.at(-1)?.end("SIGKILL");
    },
    end: async (server, { nodes }) => {
      await server.start();
      await nodes.at(-1)?.run();
    },
  },
];

/** Without the broker nothing is refused, and nobody is stuck: hints come late, that is all. */
const BROKER_KINDS: readonly Kind[] = [
  {
    ...{ name: "the broker is killed", health: 200, isMet: false },
    begin: (_server, { broker }) => broker?.signal("SIGKILL"),
    end: (_server, { broker }) => broker?.run(),
  },
  {
    ...{ name: "the broker is paused", isSilent: true, health: 200, isMet: false },
    begin: (_server, { broker }) => broker?.signal("SIGSTOP"),
    end: (_server, { broker }) => broker?.signal("SIGCONT"),
  },
  {
    ...{ name: "the broker is cut", health: 200, isMet: false },
    begin: (_server, { hints }) => set(hints, "refuses"),
    end: (_server, { hints }) => set(hints, "open"),
  },
  {
    ...{ name: "the broker is silent", isSilent: true, health: 200, isMet: false },
    begin: (_server, { hints }) => set(hints, "swallows"),
    end: (_server, { hints }) => set(hints, "open"),
  },
];

function set(relay: Relay | undefined, mode: RelayMode): void {
  if (relay) relay.mode = mode;
}

async function setReadOnly(server: TestServer, { url }: OutageWorld, to: "on" | "off"): Promise<void> {
  const name = databaseIn(url);
  await server.run(`ALTER DATABASE ${name} SET default_transaction_read_only = ${to}`);
  await server.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
}

let browser: Browser | undefined;

export const outageChecks: readonly StoreCheck[] = [
  ...KINDS.map((kind) => outageCheck(kind, 1)),
  ...[...KINDS, ...NODE_KINDS, ...BROKER_KINDS].map((kind) => outageCheck(kind, NODES)),
];

function outageCheck(kind: Kind, count: number): StoreCheck {
  return {
    title: `[W22] [CL10] [AC190] ${count === 1 ? "" : `${count} nodes: `}${kind.name}: everybody is live again, and no answer was untrue`,
    async run(server) {
      browser ??= await chromium.launch({
        executablePath: chromiumPath(),
        args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
      });
      const world = await OutageWorld.start(server, browser, count);
      try {
        await world.ready();
        await kind.begin(server, world);
        await world.disturb();
        await sleep(kind.isSilent ? SILENCE_MS : OUTAGE_MS);
        if (kind.health !== undefined)
          for (const told of await world.health())
            require(told.status === kind.health, `/health said ${told.status}: ${told.body}`);
        await kind.end(server, world);
        const took = await world.live(LIVE_MS);
        const answers = await world.requireTrueAnswers(kind.isMet ?? true);
        for (const { status } of await world.health()) require(status === 200, "/health is not well again");
        require(world.faults.length === 0, world.faults.slice(0, 3).join("\n"));
        return `${took}; ${answers}`;
      } finally {
        await world.stop();
      }
    },
  };
}

export async function closeBrowser(): Promise<void> {
  await browser?.close();
}
