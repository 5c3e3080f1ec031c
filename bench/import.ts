/**
 * Importing a large backlog: 1,000 session logs, made from the recorded ones, imported into a database on disk; then
 * again, and then searched. Each copy gets ids of its own, as another session would have.
 *
 * The floor reads the same logs, parses every line and puts it unchanged into SQLite, a durable transaction for each
 * log. The two alternate: a tenth of the logs ours, a tenth the floor's.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Cursors, callTool, inlineMatcher, isProblem, Kernel } from "@blockyard/kernel";
import { nodeEnv, openSqliteStore } from "@blockyard/server";
import type { BlockSource } from "../packages/server/src/cli/block-source.ts";
import { importLog, KnownSessions } from "../packages/server/src/cli/log-import.ts";
import { importStream } from "../packages/server/src/import/import-stream.ts";
import { findSessions } from "../packages/server/src/import/session-logs.ts";
import { logs } from "../test/recordings.ts";
import { alternate, type Bench, elapsedMs, type Measured } from "./bench.ts";

const SESSIONS = 1_030;
const PAIRS = 10;
const OLD_SECONDS = 1_790_000_000;

export const bench: Bench = {
  name: "import",
  question:
    "How long does importing 1,000 session logs take, does memory stay bounded, and does a second import add nothing?",
  targets: {
    sessions: { min: 1_000 },
    importS: { max: 60 },
    secondAdded: { max: 0 },
    secondS: { max: 10 },
    peakRssMb: { max: 600 },
    searchMs: { max: 1_000 },
  },
  async run(report) {
    const folder = mkdtempSync(join(tmpdir(), "blockyard-import-"));
    try {
      const bytes = makeSessions(folder);
      const env = {
        HOME: folder,
        CLAUDE_CONFIG_DIR: join(folder, "claude"),
        CODEX_HOME: join(folder, "codex"),
      };
      const store = await openSqliteStore(join(folder, "harness.db"));
      const client = clientOf(new Kernel(nodeEnv, store));
      const memory = watchMemory();
      const first = await compare(client, env, openFloor(join(folder, "floor.db")));
      const peakRssMb = memory.stop();
      const second = await importLogs(client, findSessions({ env }));
      let hits = 0;
      const searchMs = await elapsedMs(async () => {
        const found = await client.call("kernel.search", {
          query: "export",
          literal: true,
          kinds: "all",
          max_blocks: 50,
        });
        hits = isProblem(found) ? 0 : found.blocks.length;
      });
      await store.close();
      report.note(
        `${first.sessions} sessions, ${(bytes / 1e6).toFixed(1)} MB of logs, ${first.added} blocks; ${hits} blocks found`,
      );
      return {
        sessions: first.sessions,
        blocks: first.added,
        importToFloorRatio: first.ratio,
        importS: first.seconds,
        secondS: second.seconds,
        secondAdded: second.added,
        peakRssMb,
        searchMs: hits > 0 ? searchMs : Number.NaN,
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Copies of the recorded logs, with other ids, as old as finished ones are. */
function makeSessions(folder: string): number {
  let bytes = 0;
  const mains = logs.filter(({ name }) => !name.includes("-older/"));
  for (let n = 0; n < SESSIONS; n++) {
    const recording = mains[n % mains.length];
    if (!recording) continue;
    const digits = n.toString(16).padStart(8, "0");
    // Every id that is a UUID gets this copy's prefix, wherever it occurs: the links between records stay intact.
    const renamed = (text: string) =>
      text.replace(/\b[0-9a-f]{8}(?=-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)/g, (id) =>
        mixed(id, digits),
      );
    const text = renamed(readFileSync(recording.path, "utf8"));
    const file = renamed(recording.path.split("/").at(-1) as string);
    const day = String((n % 28) + 1).padStart(2, "0");
    const place =
      recording.provider === "claude" ? `claude/projects/p${n % 20}` : `codex/sessions/2026/01/${day}`;
    const path = join(folder, place, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    utimesSync(path, OLD_SECONDS, OLD_SECONDS + n);
    bytes += text.length;
  }
  return bytes;
}

function mixed(id: string, digits: string): string {
  return (Number.parseInt(id, 16) ^ Number.parseInt(digits, 16))
    .toString(16)
    .replace("-", "")
    .padStart(8, "0")
    .slice(-8);
}

function clientOf(kernel: Kernel): BlockSource {
  const owner = { agent: "bench", role: "owner", by: "token" } as const;
  const call = {
    kernel,
    caller: owner,
    matcher: inlineMatcher(nodeEnv.monotonic),
    cursors: new Cursors(kernel),
  };
  const never = () => {
    throw new Error("not used here");
  };
  return {
    async call(tool, input) {
      return (await callTool(call, tool, input)) as Awaited<ReturnType<BlockSource["call"]>>;
    },
    import: (body) => importStream(kernel, owner, body),
    ...{ lines: never, raw: never, ingest: never },
    close: async () => undefined,
  };
}

interface Imported {
  readonly sessions: number;
  readonly added: number;
  readonly seconds: number;
}

type Logs = ReturnType<typeof findSessions>;

/** Imports everything, a part at a time, in turn with the floor. */
async function compare(
  client: BlockSource,
  env: Readonly<Record<string, string>>,
  floor: DatabaseSync,
): Promise<Imported & { readonly ratio: Measured }> {
  const logs = findSessions({ env });
  const part = Math.ceil(logs.length / PAIRS);
  const ours: Imported[] = [];
  const parts = () => {
    let next = 0;
    return () => logs.slice(next++ * part, next * part);
  };
  const [nextOurs, nextFloor] = [parts(), parts()];
  const { figure } = await alternate(
    PAIRS,
    async () => {
      const imported = await importLogs(client, nextOurs());
      ours.push(imported);
      return imported.seconds;
    },
    async () => (await elapsedMs(() => storeLines(floor, nextFloor()))) / 1_000,
  );
  floor.close();
  const sum = (of: (each: Imported) => number) => ours.reduce((total, each) => total + of(each), 0);
  return {
    sessions: sum(({ sessions }) => sessions),
    added: sum(({ added }) => added),
    seconds: sum(({ seconds }) => seconds),
    ratio: figure,
  };
}

async function importLogs(client: BlockSource, logs: Logs): Promise<Imported> {
  let added = 0;
  const ms = await elapsedMs(async () => {
    const known = await KnownSessions.read(client);
    for (const log of logs) {
      const outcome = await importLog(client, known, log, { now: Date.now(), isFollowed: false });
      if (outcome.type === "failed") throw new Error(`${log.path}: ${outcome.problem.message}`);
      if (outcome.type === "imported") added += outcome.imported.added;
    }
  });
  return { sessions: logs.length, added, seconds: ms / 1_000 };
}

function openFloor(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
  db.exec("CREATE TABLE line (id INTEGER PRIMARY KEY, body TEXT NOT NULL)");
  return db;
}

function storeLines(db: DatabaseSync, logs: Logs): void {
  const insert = db.prepare("INSERT INTO line (body) VALUES (?)");
  for (const { path } of logs) {
    db.exec("BEGIN IMMEDIATE");
    for (const line of readFileSync(path, "utf8").split("\n")) {
      if (line === "") continue;
      JSON.parse(line);
      insert.run(line);
    }
    db.exec("COMMIT");
  }
}

function watchMemory(): { stop(): number } {
  let peak = process.memoryUsage().rss;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 50);
  return {
    stop() {
      clearInterval(timer);
      return peak / 1024 / 1024;
    },
  };
}
