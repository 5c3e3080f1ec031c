/**
 * The load, in a process of its own: it sets up one system with its server, agents and viewers, is told over IPC what to play,
 * and answers with what came of it. `flood`: the agents write tokens as fast as their sockets take them, and everything must
 * come to every viewer and into storage. `pace`: the agents write lines at a steady pace, and each line's way to each viewer is
 * timed. What came is compared with what was written: a system that loses or doubles something breaks the bench.
 */
import { mkdirSync } from "node:fs";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { quantile } from "../bench.ts";
import { seeded, tokens } from "../corpus/prose.ts";
import { loadPeer } from "../peer.ts";
import { openBlockyard } from "./blockyard.ts";
import { openRelay } from "./relay.ts";
import { type Stage, type StageOptions, type System, until } from "./stage.ts";

export type Order =
  | {
      readonly type: "open";
      readonly system: System;
      readonly agents: number;
      readonly viewers: number;
      readonly folder: string;
    }
  | { readonly type: "flood"; readonly tokens: number; readonly seed: number }
  | { readonly type: "pace"; readonly agents: number; readonly seconds: number }
  | { readonly type: "close" };

export interface Flooded {
  readonly acknowledgedMs: number;
  readonly seenMs: number;
  readonly storedMs: number;
}

export interface Paced {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly lines: number;
}

const OPEN: Readonly<Record<System, (options: StageOptions) => Promise<Stage>>> = {
  blockyard: openBlockyard,
  hocuspocus: (options) => openHocuspocus(options),
  "hocuspocus, debounce 0": (options) => openHocuspocus(options, 0),
  "automerge-repo": async (options) => {
    type Peer = { openAutomerge(options: StageOptions): Promise<Stage> };
    const { openAutomerge } = await loadPeer<Peer>(new URL("./automerge.peer.ts", import.meta.url));
    return openAutomerge(options);
  },
  relay: openRelay,
};

async function openHocuspocus(options: StageOptions, debounce?: number): Promise<Stage> {
  type Peer = { openHocuspocus(options: StageOptions, debounce?: number): Promise<Stage> };
  const peer = await loadPeer<Peer>(new URL("./hocuspocus.peer.ts", import.meta.url));
  return peer.openHocuspocus(options, debounce);
}

/** Tokens that an agent writes before the others have their turn. */
const BURST = 4;
const LINES_PER_SECOND = 10;
const LINE_CHARS = 60;
/** The first lines of a segment are not timed. */
const WARM_MS = 300;
const LOST_MS = 60_000;

let stage: Stage | undefined;
let viewers = 0;
/** By viewer and agent: how many characters have come, and a hash of them. */
let seen: Hashed[][] = [];
let sent: Hashed[] = [];
let onLine: ((line: string) => void) | undefined;
let tails: string[][] = [];

process.on("message", async (order: Order) => {
  try {
    process.send?.((await obey(order)) ?? {});
    if (order.type === "close") process.exit(0);
  } catch (error) {
    console.error(error);
    await stage?.close();
    process.exit(1);
  }
});

async function obey(order: Order): Promise<Flooded | Paced | undefined> {
  if (order.type === "open") {
    mkdirSync(order.folder, { recursive: true });
    viewers = order.viewers;
    const empty = () => Array.from({ length: order.agents }, () => new Hashed());
    seen = Array.from({ length: viewers }, empty);
    sent = empty();
    tails = seen.map((row) => row.map(() => ""));
    stage = await OPEN[order.system]({ ...order, onText: came });
    return undefined;
  }
  if (order.type === "flood") return flood(stage as Stage, order.tokens, order.seed);
  if (order.type === "pace") return pace(stage as Stage, order.agents, order.seconds);
  await stage?.close();
  return undefined;
}

function came(viewer: number, agent: number, text: string): void {
  seen[viewer]?.[agent]?.add(text);
  if (!onLine) return;
  const row = tails[viewer] as string[];
  const lines = (row[agent] + text).split("\n");
  row[agent] = lines.pop() as string;
  for (const line of lines) onLine(line);
}

async function flood(open: Stage, count: number, seed: number): Promise<Flooded> {
  const source = tokens(seeded(seed));
  const texts = sent.map(() => Array.from({ length: count }, () => source.next().value as string));
  const startMs = performance.now();
  const since = () => performance.now() - startMs;
  for (let left = texts.length * count, next = texts.map(() => 0); left > 0; ) {
    for (const [agent, mine] of texts.entries()) {
      if (open.isFull(agent)) continue;
      const from = next[agent] as number;
      const burst = mine.slice(from, from + BURST);
      for (const text of burst) write(open, agent, text);
      next[agent] = from + burst.length;
      left -= burst.length;
    }
    await turn();
  }
  const [acknowledgedMs, storedMs, seenMs] = await Promise.all([
    open.acknowledged().then(since),
    open.stored().then(since),
    allSeen().then(since),
  ]);
  compare();
  return { acknowledgedMs, storedMs, seenMs };
}

async function pace(open: Stage, agents: number, seconds: number): Promise<Paced> {
  const latencies: number[] = [];
  const gapMs = 1_000 / LINES_PER_SECOND;
  // Each agent in its own step of the beat, as agents are that know nothing of each other.
  const due = Array.from({ length: agents }, (_, agent) => (agent * gapMs) / agents);
  const startMs = performance.now();
  onLine = (line) => {
    const sentMs = Number(line.slice(0, line.indexOf(" ")));
    if (sentMs - startMs > WARM_MS) latencies.push(performance.now() - sentMs);
  };
  for (let nowMs = 0; nowMs < seconds * 1_000; nowMs = performance.now() - startMs) {
    due.forEach((dueMs, agent) => {
      if (dueMs > nowMs) return;
      write(open, agent, `${`${performance.now().toFixed(3)} `.padEnd(LINE_CHARS - 1, "x")}\n`);
      due[agent] = dueMs + gapMs;
    });
    await sleep(1);
  }
  await allSeen();
  compare();
  onLine = undefined;
  return { p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99), lines: latencies.length };
}

function write(open: Stage, agent: number, text: string): void {
  (sent[agent] as Hashed).add(text);
  open.write(agent, text);
}

async function allSeen(): Promise<void> {
  const startMs = performance.now();
  const isThere = () =>
    seen.every((row) => row.every(({ chars }, agent) => chars >= (sent[agent] as Hashed).chars));
  await until(() => isThere() || performance.now() - startMs > LOST_MS);
}

function compare(): void {
  for (const [viewer, row] of seen.entries())
    for (const [agent, { chars, hash }] of row.entries()) {
      const wanted = sent[agent] as Hashed;
      if (chars !== wanted.chars || hash !== wanted.hash)
        throw new Error(
          `viewer ${viewer} has ${chars} characters of agent ${agent}, not ${wanted.chars}, or others`,
        );
    }
}

/** Characters in their order, however they were cut. */
class Hashed {
  chars = 0;
  hash = 0;

  add(text: string): void {
    for (let i = 0; i < text.length; i++) this.hash = (Math.imul(this.hash, 31) + text.charCodeAt(i)) | 0;
    this.chars += text.length;
  }
}
