/**
 * [R14] A command is killed in front of every system call that changes a file or a folder, once for each call. What is there
 * afterwards is the old or the new, whole: after a restore the old database or the restored one under an epoch of its own,
 * after a backup or an export a whole file or none, and an import that is made again ends as if it had not been killed.
 */
import { type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { everything, fill } from "./everything.ts";
import { copyDatabase, makeDirectory, type Outcome, removeDirectory } from "./lab.ts";
import { makeNotes, STEPS, versionOf } from "./migrator.ts";
import type { DiskRun } from "./syscalls.ts";

const MAIN = fileURLToPath(new URL("../../packages/server/src/main.ts", import.meta.url));
const MIGRATOR = fileURLToPath(new URL("./migrator.ts", import.meta.url));
const SESSIONS = fileURLToPath(
  new URL("../../packages/providers/fixtures/claude-sessions/bash", import.meta.url),
);

/** One command, and what may be there after it was killed. */
interface Sweep {
  readonly name: string;
  /** What the command finds. Told once; every kill begins with a copy of it. */
  prepare(folder: string): Promise<void>;
  readonly program: string;
  args(folder: string): readonly string[];
  /** What is wrong. `isDone`: the command was not killed. */
  check(folder: string, isDone: boolean): Promise<string[]>;
}

export async function killEverywhere({ rounds, seed, tell, disk }: DiskRun): Promise<Outcome> {
  const failures: string[] = [];
  let kills = 0;
  for (const sweep of sweeps(seed)) {
    const directory = makeDirectory();
    try {
      const template = join(directory, "template");
      mkdirSync(template);
      await sweep.prepare(template);
      const run = async (n?: number) => {
        const folder = join(directory, String(n ?? "whole"));
        cpSync(template, folder, { recursive: true });
        const ended = await runPreloaded(sweep, folder, disk, n);
        const wrong = await sweep.check(folder, ended.signal === null);
        if (ended.signal === null && ended.code !== 0)
          wrong.push(`ended with ${ended.code}: ${ended.errors}`);
        if (wrong.length === 0) removeDirectory(folder);
        failures.push(...wrong.map((each) => `${sweep.name}, killed at ${n ?? "no"} call: ${each}`));
        return ended;
      };
      const { changes } = await run();
      const points = spread(changes, rounds);
      for (const n of points) if ((await run(n)).signal === "SIGKILL") kills++;
      if (changes < 5) failures.push(`${sweep.name}: ${changes} calls: this test is blind`);
      tell?.(`${sweep.name}: killed at ${points.length} of ${changes} calls`);
    } finally {
      removeDirectory(directory);
    }
  }
  return { name: "killed at every call [R14]", rounds: kills, summary: "old or new, whole", failures };
}

/** Which calls to kill at: all of them, or some from everywhere and the last ones, which put things in their places. */
function spread(total: number, rounds: number): number[] {
  if (total <= rounds) return Array.from({ length: total }, (_, i) => i + 1);
  const last = Math.ceil(rounds / 2);
  const step = (total - last) / (rounds - last);
  const early = Array.from({ length: rounds - last }, (_, i) => Math.ceil((i + 1) * step));
  return [...new Set([...early, ...Array.from({ length: last }, (_, i) => total - last + 1 + i)])];
}

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly errors: string;
  readonly changes: number;
}

async function runPreloaded(sweep: Sweep, folder: string, disk: string, n?: number): Promise<Ended> {
  const count = `${folder}.count`;
  const env = {
    ...environment(folder),
    ...{ LD_PRELOAD: disk, FAULT_DIR: `${folder}/`, FAULT_COUNT: count },
    ...(n === undefined ? {} : { FAULT_KILL: String(n) }),
  };
  const child = spawn(process.execPath, [sweep.program, ...sweep.args(folder)], {
    ...{ env, cwd: folder, stdio: ["ignore", "ignore", "pipe"] },
  });
  let errors = "";
  child.stderr?.on("data", (bytes: Buffer) => {
    errors += bytes.toString();
  });
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.on("close", (...how) => resolve(how)),
  );
  const changes = n === undefined ? Number(readFileSync(count, "utf8").split(" ")[1]) : 0;
  return { code, signal, errors, changes };
}

function environment(folder: string): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    XDG_CACHE_HOME: join(fileURLToPath(new URL("../..", import.meta.url)), "node_modules", ".cache"),
    BLOCKYARD_HOME: join(folder, "home"),
    NODE_OPTIONS: "--disable-warning=ExperimentalWarning",
  };
}

// -- what is killed

function sweeps(seed: number): readonly Sweep[] {
  return [
    restoring("restore over a database", seed, "killed"),
    restoring("restore over a damaged database", seed, "damaged"),
    restoring("restore into nothing", seed, "none"),
    backingUp(seed),
    migrating(),
    exporting(),
    importing(),
  ];
}

/** A database as a server that was killed has left it: with a log that its file lacks. */
async function leave(path: string, seed: number): Promise<string> {
  const aside = makeDirectory();
  const store = await openSqliteStore(join(aside, "blockyard.db"));
  await fill(store, seed, 1);
  copyDatabase(join(aside, "blockyard.db"), path);
  const all = await everything(store);
  await store.close();
  removeDirectory(aside);
  return all;
}

function restoring(name: string, seed: number, old: "killed" | "damaged" | "none"): Sweep {
  let [before, backup] = ["", ""];
  return {
    name,
    program: MAIN,
    args: () => ["restore", "backup.db", "--replace"],
    async prepare(folder) {
      mkdirSync(join(folder, "home"), { mode: 0o700 });
      if (old !== "none") before = await leave(join(folder, "home"), seed);
      if (old === "damaged") damage(join(folder, "home", "blockyard.db-wal"));
      const store = await openSqliteStore(join(folder, "aside.db"));
      await fill(store, seed + 1, 1);
      await store.backup(join(folder, "backup.db"));
      backup = await everything(store);
      await store.close();
    },
    async check(folder, isDone) {
      const home = join(folder, "home");
      const found = await contents(join(home, "blockyard.db"));
      const isRestored = sameBut(found, backup);
      if (isDone && !isRestored) return [`it is not restored: ${brief(found)}`];
      if (isRestored) {
        const epoch = epochOf(found as string);
        if (epoch === epochOf(backup) || (before !== "" && epoch === epochOf(before)))
          return ["it is restored under an epoch that was used before"];
        const kept = readdirSync(home).find((each) => /\.before-[-\d]+$/.test(each));
        if (old === "none") return kept === undefined ? [] : [`there is ${kept}`];
        return keptWrong(join(home, kept ?? "nothing"), old === "killed" ? before : undefined);
      }
      if (old === "none") return found === "" ? [] : [`there is something else: ${brief(found)}`];
      if (old === "damaged") return found === "corrupt" ? [] : [`the damage is gone: ${brief(found)}`];
      return found === before ? [] : [`neither the old database nor the new one: ${brief(found)}`];
    },
  };
}

/** What was replaced is what it was: whole, or damaged. */
async function keptWrong(path: string, before: string | undefined): Promise<string[]> {
  const kept = await contents(path);
  if (kept === (before ?? "corrupt")) return [];
  return [`what was replaced is not kept: ${brief(kept)}`];
}

/** A frame of the log that hides what was written after it. */
function damage(log: string): void {
  const bytes = readFileSync(log);
  bytes.writeUInt8(bytes.readUInt8(5_000) ^ 1, 5_000);
  writeFileSync(log, bytes);
}

/** Everything in a database; nothing where there is none; the code of the error with which it is refused. */
async function contents(path: string): Promise<string> {
  if (!existsSync(path) && !existsSync(`${path}.restored`)) return "";
  try {
    const store = await openSqliteStore(path);
    const all = await everything(store);
    await store.close();
    return all;
  } catch (error) {
    return String((error as { code?: unknown }).code ?? error);
  }
}

function epochOf(all: string): unknown {
  return (JSON.parse(all) as { epoch: unknown }).epoch;
}

/** The same but for the epoch. */
function sameBut(found: string, wanted: string): boolean {
  return (
    found.startsWith("{") && found.replaceAll(String(epochOf(found)), String(epochOf(wanted))) === wanted
  );
}

function brief(found: string): string {
  return found === "" ? "nothing" : found.slice(0, 80);
}

function backingUp(seed: number): Sweep {
  let before = "";
  return {
    name: "backup",
    program: MAIN,
    args: () => ["backup", "copy.db"],
    async prepare(folder) {
      mkdirSync(join(folder, "home"), { mode: 0o700 });
      before = await leave(join(folder, "home"), seed);
    },
    async check(folder, isDone) {
      const copy = await contents(join(folder, "copy.db"));
      const wrong = copy === before || (copy === "" && !isDone) ? [] : [`half a backup: ${brief(copy)}`];
      const own = await contents(join(folder, "home", "blockyard.db"));
      return own === before ? wrong : [...wrong, "the database has changed"];
    },
  };
}

function migrating(): Sweep {
  return {
    name: "migration",
    program: MIGRATOR,
    args: (folder) => [join(folder, "notes.db")],
    prepare: async (folder) => makeNotes(join(folder, "notes.db")),
    async check(folder, isDone) {
      const path = join(folder, "notes.db");
      const version = versionOf(path);
      if (version === undefined || (isDone && version !== STEPS.length + 1))
        return [`version ${version}, or half of one`];
      spawnSync(process.execPath, [MIGRATOR, path]);
      return versionOf(path) === STEPS.length + 1 ? [] : ["it cannot be brought further"];
    },
  };
}

function exporting(): Sweep {
  const OLD = "what was there";
  let [whole, conversation] = ["", ""];
  return {
    name: "export",
    program: MAIN,
    args: () => ["export", conversation, "-f", "jsonl", "-o", "out.jsonl"],
    async prepare(folder) {
      putSession(folder);
      runAlone(folder, ["import", "session.jsonl"]);
      const store = await openSqliteStore(join(folder, "home", "blockyard.db"));
      conversation = (await store.conversations({ limit: 1 }))[0]?.id ?? "";
      await store.close();
      writeFileSync(join(folder, "out.jsonl"), OLD);
    },
    async check(folder, isDone) {
      const found = readFileSync(join(folder, "out.jsonl"), "utf8");
      if (isDone) whole = found;
      if (found === OLD || found === whole) return isDone && found === OLD ? ["nothing was written"] : [];
      return [`half an export: ${found.length} of ${whole.length} characters`];
    },
  };
}

function importing(): Sweep {
  let whole = "";
  const args = (folder: string) => ["import", join(folder, "session.jsonl")];
  return {
    name: "import",
    program: MAIN,
    args,
    prepare: async (folder) => putSession(folder),
    async check(folder, isDone) {
      if (!isDone) {
        const again = runAlone(folder, args(folder));
        if (again.status !== 0) return [`it cannot be imported again: ${again.stderr}`];
      }
      const found = await imported(join(folder, "home", "blockyard.db"));
      if (isDone) whole = found;
      return found === whole ? [] : ["imported again, it is not what it would have been"];
    },
  };
}

function putSession(folder: string): void {
  const session = readdirSync(SESSIONS).find((each) => each.endsWith(".jsonl")) as string;
  cpSync(join(SESSIONS, session), join(folder, "session.jsonl"));
}

/** A command that nobody kills. */
function runAlone(folder: string, args: readonly string[]): SpawnSyncReturns<Buffer> {
  return spawnSync(process.execPath, [MAIN, ...args], { env: environment(folder), cwd: folder });
}

/** What an import has made, without what differs between two of them: ids, epochs and times. */
async function imported(path: string): Promise<string> {
  const store = await openSqliteStore(path);
  const all = [];
  for (const { id, title, blocks } of await store.conversations({ limit: 100 })) {
    const found = await store.blocks({ conversation: id, order: "first", limit: 1e6 });
    const texts = await Promise.all(
      found.map(async ({ id: block, kind, status }) => [kind, status, await store.text(block)]),
    );
    const runs = await store.rawRuns(id);
    const raw = await Promise.all(runs.map((run) => store.raw({ conversation: id, run })));
    all.push({ id, title, blocks, texts, raw: Buffer.concat(raw).toString("hex") });
  }
  await store.close();
  return JSON.stringify(all);
}
