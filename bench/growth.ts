/**
 * What costs more because more is stored? The same actions on a store of 10 MB and on one of 1 GB: start, list, open, read, append,
 * import, export, `ls` without a server, stop; each ratio should be about 1. A backup copies everything, and is shown beside them.
 *
 * By itself the larger store has 0.1 GB; the whole: GROWTH_GB=0.01,1 with GROWTH_FOLDER, where the stores are kept for the next time.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { serve } from "../packages/server/src/app/serve.ts";
import { makeConfig } from "../packages/server/src/config/config.ts";
import { type Bench, elapsedMs, type Figure, measured, median, type Report } from "./bench.ts";
import { sessionStore } from "./search/session-store.ts";

const SIZES_GB = (process.env["GROWTH_GB"] ?? "0.01,0.1").split(",").map(Number);
const KEPT = process.env["GROWTH_FOLDER"];
const ROUNDS = Number(process.env["GROWTH_ROUNDS"] ?? 5);
const REPEATS = 20;
const PROGRAM = new URL("../packages/server/src/main.ts", import.meta.url).pathname;
const FIXTURES = new URL("../packages/providers/fixtures/claude-sessions/", import.meta.url).pathname;

const ACTIONS = [
  "start",
  "list",
  "open",
  "read",
  "append",
  "import",
  "export",
  "ls",
  "stop",
  "backup",
] as const;
type Action = (typeof ACTIONS)[number];
type Times = Record<Action, number>;

export const bench: Bench = {
  name: "growth",
  question: "How much more do everyday actions cost in a store of 1 GB than in one of 10 MB?",
  targets: Object.fromEntries(
    ACTIONS.filter((action) => action !== "backup").map((action) => [`${action}Ratio`, { max: 1.5 }]),
  ),
  async run(report) {
    const root = KEPT ?? mkdtempSync(join(tmpdir(), "blockyard-bench-growth-"));
    try {
      return await measure(report, root);
    } finally {
      if (KEPT === undefined) rmSync(root, { recursive: true, force: true });
    }
  },
};

async function measure(report: Report, root: string): Promise<Record<string, Figure>> {
  const small = await homeOf(root, SIZES_GB[0] as number);
  const large = await homeOf(root, SIZES_GB.at(-1) as number);
  const rounds: { readonly small: Times; readonly large: Times }[] = [];
  // The first round pays for what is loaded and cached once.
  for (let round = 0; round <= ROUNDS; round++) {
    const each = { small: await timesOf(small, round), large: await timesOf(large, round) };
    if (round > 0) rounds.push(each);
  }
  report.table(
    ACTIONS.map((action) => ({
      action,
      "small, ms": median(rounds.map((round) => round.small[action])),
      "large, ms": median(rounds.map((round) => round.large[action])),
    })),
  );
  return Object.fromEntries(
    ACTIONS.map((action) => [
      `${action}Ratio`,
      measured(rounds.map((round) => round.large[action] / round.small[action])),
    ]),
  );
}

/** A data directory with a store of this many bytes. */
async function homeOf(root: string, gb: number): Promise<string> {
  const home = join(root, `home-${gb}`);
  if (existsSync(join(home, "blockyard.db"))) return home;
  const { path } = await sessionStore(join(root, `made-${gb}`), gb * 1e9);
  mkdirSync(home, { recursive: true });
  cpSync(path, join(home, "blockyard.db"));
  return home;
}

async function timesOf(home: string, round: number): Promise<Times> {
  const ls = await elapsedMs(() => command(home, ["ls"]));
  const startMs = performance.now();
  const running = await serve(makeConfig({ env: {}, home, root: home, port: 0 }), () => undefined);
  const start = performance.now() - startMs;
  const headers = {
    authorization: `Bearer ${running.auth.ownerToken}`,
    "content-type": "application/json",
    connection: "close",
  };
  const call = async (name: string, input: object): Promise<Record<string, string>> => {
    const response = await fetch(`${running.url}/v1/tools/${name}`, {
      method: "POST",
      headers,
      body: JSON.stringify(input),
    });
    if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
    return (await response.json()) as Record<string, string>;
  };
  try {
    // Building the search index is not measured here.
    while (round === 0 && "indexing" in (await call("kernel.search", { query: "nowhere", kinds: "all" })))
      await setTimeout(500);
    const { conversation } = await call("conversation.create", { title: `growth ${round}` });
    const { block_id } = await call("block.create", {
      conversation,
      role: "model",
      kind: "text",
      content: "A line of text to show.\n\n".repeat(4_000),
      status: "running",
    });
    const repeated = async (work: () => Promise<unknown>) => {
      const times: number[] = [];
      for (let i = 0; i < REPEATS; i++) times.push(await elapsedMs(work));
      return median(times);
    };
    const list = await repeated(() => call("conversation.list", {}));
    const open = await repeated(() => call("conversation.read", { conversation: "s-3" }));
    const read = await repeated(() => call("block.read", { block_id }));
    const append = await repeated(() => call("block.append", { block_id, text: "more\n", wait: true }));
    const exported = await elapsedMs(async () => {
      const response = await fetch(`${running.url}/v1/conversations/${conversation}/export?format=html`, {
        headers,
      });
      if (!response.ok) throw new Error(`export: ${await response.text()}`);
      await response.arrayBuffer();
    });
    const stop = await elapsedMs(() => running.stop());
    const session = newSession(home, round);
    const imported = await elapsedMs(() => command(home, ["import", session]));
    const copy = join(home, "..", "copy.db");
    rmSync(copy, { force: true });
    const backup = await elapsedMs(() => command(home, ["backup", copy]));
    rmSync(copy, { force: true });
    return { start, list, open, read, append, import: imported, export: exported, ls, stop, backup };
  } catch (error) {
    await running.stop();
    throw error;
  }
}

/** A recorded session under a name that no store has yet. */
function newSession(home: string, round: number): string {
  const folder = join(FIXTURES, readdirSync(FIXTURES).sort()[0] as string);
  const file = readdirSync(folder).find((name) => name.endsWith(".jsonl")) as string;
  const id = file.replace(".jsonl", "");
  const unique = `${String(process.pid % 10_000).padStart(4, "0")}${String(round).padStart(4, "0")}${id.slice(8)}`;
  const path = join(home, "..", `${unique}.jsonl`);
  writeFileSync(path, readFileSync(join(folder, file), "utf8").replaceAll(id, unique));
  return path;
}

function command(home: string, args: readonly string[]): void {
  execFileSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", PROGRAM, ...args, "--home", home],
    { stdio: "ignore" },
  );
}
