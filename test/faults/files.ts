/**
 * [R27] [R38] Faults of files on disk: a process that is killed while it saves, paths that would lead out, and links that
 * are put in the way while files are written.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isProblem, Kernel, MemoryStore } from "@blockyard/kernel";
import { isTemporary } from "../../packages/server/src/files/disk-file.ts";
import { Files } from "../../packages/server/src/files/files.ts";
import { nodeEnv } from "../../packages/server/src/system/env.ts";
import { Random } from "../sim/random.ts";
import { pathPayloads } from "./file-paths.ts";
import { makeDirectory, type Outcome, type Run, removeDirectory } from "./lab.ts";

const here = dirname(fileURLToPath(import.meta.url));

export const FILES = 5;
const LINES = 1_000;
/** A new database after so many kills: one of nothing but whole rewrites grows and slows down. */
const KILLS_PER_DATABASE = 10;
const MODES = [0o644, 0o755, 0o600, 0o664, 0o700];

export function nameOf(i: number): string {
  return i % 2 === 0 ? `f${i}.txt` : `sub/f${i}.txt`;
}

/** Whole if every line has the same number, and there are all of them. */
export function bodyOf(edit: number): string {
  return `${`text ${edit} of a file that is whole or not at all\n`.repeat(LINES + (edit % 7))}end ${edit}`;
}

function isWhole(text: string): boolean {
  const edit = Number(/end (\d+)$/.exec(text)?.[1] ?? Number.NaN);
  return text === bodyOf(edit);
}

/** [R27] Killed at a random moment of saving, over and over: each file is an old text or a new one, and whole. */
export async function killSavers({ rounds, seed, tell }: Run): Promise<Outcome> {
  const directory = makeDirectory();
  const root = join(directory, "root");
  mkdirSync(join(root, "sub"), { recursive: true });
  const place = (i: number) => join(root, nameOf(i));
  for (let i = 0; i < FILES; i++) {
    writeFileSync(place(i), bodyOf(i));
    chmodSync(place(i), MODES[i] as number);
  }
  const random = new Random(seed);
  const failures: string[] = [];
  const seen = new Set<string>();
  let halves = 0;
  for (let round = 0; round < rounds; round++) {
    const database = join(directory, `${Math.floor(round / KILLS_PER_DATABASE)}.db`);
    const args = [root, database, String(1_000 * (round + 1))];
    const signal = await killAfter(start("saver.worker.ts", args), random.between(0, 300));
    if (signal !== "SIGKILL") failures.push(`round ${round}: the process ended by itself`);
    halves += [root, join(root, "sub")].flatMap((folder) => readdirSync(folder).filter(isTemporary)).length;
    for (let i = 0; i < FILES; i++) {
      const text = readFileSync(place(i), "utf8");
      seen.add(`${i} ${text.slice(-20)}`);
      if (!isWhole(text))
        failures.push(`round ${round}: ${nameOf(i)} is cut or mixed (${text.length} characters)`);
      const mode = statSync(place(i)).mode & 0o7777;
      if (mode !== MODES[i]) failures.push(`round ${round}: ${nameOf(i)} has mode ${mode.toString(8)}`);
    }
    if (round % 20 === 19) tell?.(`${round + 1} kills, ${seen.size} texts seen, ${halves} cut short`);
  }
  const last = join(directory, `${Math.floor((rounds - 1) / KILLS_PER_DATABASE)}.db`);
  await killAfter(start("saver.worker.ts", [root, last, "9000000"]), 300);
  const left = [root, join(root, "sub")].flatMap((folder) => readdirSync(folder).filter(isTemporary));
  if (left.length > 1) failures.push(`temporary files are left after a start: ${left.join(", ")}`);
  if (seen.size < rounds) failures.push(`the files hardly changed: ${seen.size} texts in ${rounds} rounds`);
  removeDirectory(directory);
  const summary = `${seen.size} different texts found on the disk; ${halves} kills in the middle of a write`;
  return { name: "files killed", rounds, failures, summary };
}

/** [R38] Every payload as the path of every tool's worth of actions; nothing outside changes, nothing in .git does. */
export async function tryPaths({ rounds }: Run): Promise<Outcome> {
  const world = makeWorld();
  const payloads = pathPayloads(world.outside).slice(0, rounds);
  const failures: string[] = [];
  const answers: Record<string, number> = {};
  const before = world.hash();
  for (const payload of payloads) {
    for (const isOwner of [true, false]) {
      const opened = await world.files.open(payload, {
        agent: "eve",
        isOwner,
        create: true,
        content: "pwned\n",
      });
      const answer = isProblem(opened) ? opened.problem : "opened";
      answers[answer] = (answers[answer] ?? 0) + 1;
      if (!isProblem(opened)) await world.files.flush(opened.block.id);
      await world.files.locate(payload, true);
    }
    if (world.hash() !== before)
      failures.push(`${JSON.stringify(payload.slice(0, 80))} changed something outside`);
  }
  await world.close();
  const summary = Object.entries(answers).map(([answer, count]) => `${count} ${answer}`);
  return { name: "paths", rounds: payloads.length, failures, summary: summary.join(", ") };
}

/** [R38] A folder becomes a link and a folder again all the while files in it are made and saved. */
export async function raceLinks({ rounds, tell }: Run): Promise<Outcome> {
  const world = makeWorld();
  mkdirSync(join(world.root, "d"));
  const before = world.hash();
  const flipper = start("flipper.worker.ts", [
    world.root,
    world.outside,
    join(world.root, ".git"),
    join(world.outside, "deep"),
  ]);
  let swaps = 0;
  flipper.stdout?.on("data", (data: Buffer) => {
    swaps = Number(data.toString().trim().split("\n").at(-1));
  });
  const counts = { made: 0, saved: 0, refused: 0 };
  await new Promise((ready) => flipper.stdout?.once("data", ready));
  // Where the rounds are quicker than the swaps, more of them follow until both have met.
  const raced = (): boolean => counts.saved > 0 && counts.refused > 0 && swaps >= 20;
  let round = 0;
  for (; round < rounds || (!raced() && round < rounds * 100); round++) {
    const opened = await world.files.open(`d/f${round % 50}`, { agent: "eve", isOwner: true, create: true });
    if (isProblem(opened)) {
      counts.refused++;
      continue;
    }
    if (opened.created) counts.made++;
    const { id } = opened.block;
    await world.kernel.writeBlock(id, {
      agent: "eve",
      plan: (draft) => draft.splice(id, [{ at: 0, del: "", ins: `${round}\n` }]),
    });
    if ((await world.files.flush(id)) === undefined) counts.saved++;
    if (round % 200 === 199) tell?.(`${round + 1} rounds, ${swaps} swaps, ${counts.saved} saved`);
  }
  flipper.kill("SIGKILL");
  await new Promise((gone) => flipper.once("close", gone));
  const failures: string[] = [];
  if (world.hash() !== before) failures.push("something outside of the root, or in .git, has changed");
  if (!raced()) failures.push(`the race was none: ${JSON.stringify(counts)}, ${swaps} swaps`);
  await world.close();
  const summary = `${swaps} swaps; ${counts.made} made, ${counts.saved} saved, ${counts.refused} refused`;
  return { name: "links", rounds: round, failures, summary };
}

function makeWorld() {
  const directory = makeDirectory();
  const root = join(directory, "root");
  const outside = join(directory, "outside");
  for (const each of [root, outside, join(outside, "deep"), join(root, ".git"), join(directory, "root-evil")])
    mkdirSync(each, { recursive: true });
  for (const name of ["a", "deep/b", "f0", "f1"]) writeFileSync(join(outside, name), `outside ${name}\n`);
  for (const name of ["config", "HEAD", "f0"]) writeFileSync(join(root, ".git", name), `git ${name}\n`);
  mkdirSync(join(root, ".git/hooks"));
  mkdirSync(join(root, "sub"));
  writeFileSync(join(root, "sub/.git"), "gitdir: ../.git/modules/sub\n");
  const kernel = new Kernel(nodeEnv, new MemoryStore("epoch"));
  const files = new Files({ kernel, root, closed: [], log: () => undefined });
  const watched = [outside, join(root, ".git"), join(root, "sub/.git"), join(directory, "root-evil")];
  return {
    root,
    outside,
    kernel,
    files,
    hash: () => watched.map(treeHash).join(" ") + readdirSync(directory).join(),
    async close() {
      await files.close();
      await kernel.close();
      removeDirectory(directory);
    },
  };
}

function treeHash(path: string): string {
  const hash = createHash("sha256");
  const add = (each: string): void => {
    const stat = lstatSync(each);
    hash.update(`${each}\0${stat.mode}\0`);
    if (stat.isSymbolicLink()) hash.update(readlinkSync(each));
    else if (stat.isFile()) hash.update(readFileSync(each));
    else if (stat.isDirectory()) for (const name of readdirSync(each).sort()) add(join(each, name));
  };
  add(path);
  return hash.digest("hex");
}

function start(script: string, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ["--disable-warning=ExperimentalWarning", join(here, script), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      NODE_OPTIONS: "",
      NODE_COMPILE_CACHE: join(here, "../../node_modules/.cache/faults"),
    },
  });
}

/** Kills a process that long after its first word; the signal that ended it. */
async function killAfter(child: ChildProcess, afterMs: number): Promise<string | null> {
  const gone = new Promise<string | null>((ended) => child.once("close", (_code, signal) => ended(signal)));
  child.stdout?.once("data", () => setTimeout(() => child.kill("SIGKILL"), afterMs));
  return gone;
}
