/**
 * An agent that says anything, for every protocol: a recording whose printed lines are lost, repeated, swapped, cut, retyped, with questions
 * that nobody knows; played to the adapter and, as a process, to the driver.
 *
 * Whatever comes: nothing throws, every block, turn and question ends, the turn ends within its time with nothing left alive, and the
 * driver answers only what was asked, each at most as often as it was.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { checkMetadata, isProblem, type Json, type JsonObject, Kernel, MemoryStore } from "@blockyard/kernel";
import { type Folded, isObject, normalize, parseJson, providers } from "@blockyard/providers";
import { ProcessTracker } from "../../packages/server/src/processes/process-tracker.ts";
import { nodeEnv } from "../../packages/server/src/system/env.ts";
import type { ChildOptions } from "../../packages/server/src/turns/child-run.ts";
import type { Driver } from "../../packages/server/src/turns/driver.ts";
import { Turns } from "../../packages/server/src/turns/turns.ts";
import { bytesOf, type Recording } from "../recordings.ts";
import type { FuzzOutcome } from "./fuzz.ts";

/** A turn that takes longer hangs. */
const LIMIT_MS = 5_000;
const SILENT_MS = 600;

/** What every such fuzzer must have seen. */
export const SOMETIMES = [
  ...["lines", "cut", "lost", "swapped", "retyped", "questions", "answers", "unknown"],
  ...["failedTurns", "doneTurns"],
];

/** One agent's protocol. */
export interface Protocol {
  readonly provider: string;
  /** Of the turns that the driver runs. */
  readonly turnsOf: string;
  readonly recordings: readonly Recording[];
  readonly ids: Ids;
  /** A question in the way of the agent, made from a message that it has sent. */
  readonly question: (random: Random, said: JsonObject) => JsonObject;
  /** The driver, with a program in the agent's place that plays the recording and notes what it reads. */
  readonly driver: (options: ChildOptions, recording: string, log: string) => Driver;
}

export async function runProtocol(protocol: Protocol, seed: number): Promise<FuzzOutcome> {
  const random = randomOf(seed);
  const hits: Record<string, number> = {};
  const hit = (name: string, times = 1) => {
    hits[name] = (hits[name] ?? 0) + times;
  };
  const recording = pick(random, protocol.recordings);
  const records = Buffer.from(bytesOf(recording))
    .toString("utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Said);
  const changed = mutate(random, records, protocol.question, hit);
  hit("lines", changed.length);
  const text = `${changed.map((record) => JSON.stringify(record)).join("\n")}\n`;
  const provider = providers.get(protocol.provider);
  if (provider === undefined) throw new Error("no provider");
  const folded = normalize(provider, [Buffer.from(text)]);
  hit("unknown", Object.keys(folded.unknown).length);
  const fault = faultOf(folded) ?? (await drive(protocol, text, changed, hit));
  return fault === undefined
    ? { ok: true, hits }
    : { ok: false, detail: `${recording.name}: ${fault}`, hits };
}

export interface Said {
  readonly t: number;
  readonly dir: string;
  readonly line: string;
}

export type Random = (below: number) => number;
type Hit = (name: string, times?: number) => void;

const STRANGE: readonly Json[] = [
  null,
  true,
  -1,
  1e300,
  "",
  "x",
  [],
  {},
  [[1]],
  { type: "text" },
  "\ud83d",
  "completed",
  0,
];
function mutate(random: Random, records: readonly Said[], question: Protocol["question"], hit: Hit): Said[] {
  const out: Said[] = [];
  for (const record of records) {
    const what = record.dir === "out" ? random(24) : 99;
    const message = what < 10 ? messageIn(record.line) : undefined;
    if (what === 0) hit("lost");
    else if (what === 1) out.push(record, record);
    else if (what === 2 && out.length > 0) {
      out.splice(random(out.length), 0, record);
      hit("swapped");
    } else if (what === 3) {
      out.push({ ...record, line: record.line.slice(0, random(record.line.length)) });
      hit("cut");
    } else if (what < 9 && message !== undefined) {
      out.push({ ...record, line: JSON.stringify(retype(random, message, 0)) });
      hit("retyped");
    } else if (what === 9) {
      out.push({ ...record, line: JSON.stringify(question(random, message ?? {})) }, record);
      hit("questions");
    } else out.push(record);
  }
  return out;
}

/** Undefined where the agent prints words: some options make it do so. */
function messageIn(line: string): JsonObject | undefined {
  const message = parseJson(line);
  return isObject(message) ? message : undefined;
}

function retype(random: Random, value: Json, depth: number): Json {
  if (random(12) === 0) return pick(random, STRANGE);
  if (Array.isArray(value)) return value.map((each: Json) => retype(random, each, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, each]): [string, Json][] => {
    if (depth > 0 && random(20) === 0) return [];
    return [[random(40) === 0 ? "__proto__" : key, random(3) === 0 ? retype(random, each, depth + 1) : each]];
  });
  return Object.fromEntries(entries);
}

function faultOf(folded: Folded): string | undefined {
  if (folded.faults.length > 0) return folded.faults.slice(0, 3).join("; ");
  if (folded.turns.some(({ status }) => status === "running")) return "a turn never ended";
  if ([...folded.asks.values()].includes("asked")) return "a question stays open";
  for (const block of folded.blocks) {
    const checked = checkMetadata(block.kind, block.metadata);
    if (isProblem(checked)) return `${block.kind} ${block.id}: ${checked.message}`;
  }
  return "polluted" in {} ? "Object.prototype was polluted" : undefined;
}

/** The same as a process, in a turn of a conversation. */
async function drive(
  protocol: Protocol,
  text: string,
  records: readonly Said[],
  hit: Hit,
): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "blockyard-fuzz-"));
  const [recording, log] = [join(folder, "recording.jsonl"), join(folder, "log")];
  writeFileSync(recording, text);
  writeFileSync(log, "");
  const tracker = new ProcessTracker(join(folder, "home"));
  const kernel = new Kernel(nodeEnv, new MemoryStore("m"));
  const env = { PATH: process.env["PATH"] ?? "" };
  const care = { silentMs: SILENT_MS, lingerMs: 500, graceMs: 100 };
  const driver = protocol.driver({ kernel, root: folder, env, tracker, ...care }, recording, log);
  const turns = new Turns({ kernel, drivers: [driver] });
  try {
    const conversation = await kernel.createConversation("ann", "fuzz");
    if (isProblem(conversation)) return conversation.message;
    const fault = await play(protocol, kernel, turns, conversation);
    const living = fault === undefined ? await tracker.living() : [];
    if (living.length > 0) return `${living.length} processes are left`;
    return fault ?? (await lookAt(kernel, conversation, log, records, protocol.ids, hit));
  } finally {
    await turns.close();
    await tracker.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function play(
  protocol: Protocol,
  kernel: Kernel,
  turns: Turns,
  conversation: string,
): Promise<string | undefined> {
  const begun = performance.now();
  const started = await turns.start("ann", { conversation, provider: protocol.turnsOf, prompt: "Do it" });
  if (isProblem(started)) return started.message;
  while (turns.running > 0) {
    await sleep(10);
    // Nobody answers what is asked: the owner goes.
    const { asking = [] } = (await kernel.conversation(conversation)) as { asking?: readonly string[] };
    if (asking.length > 0) await turns.stop("ann", conversation, true);
    if (performance.now() - begun > LIMIT_MS) return `the turn took more than ${LIMIT_MS} ms`;
  }
  return undefined;
}

async function lookAt(
  kernel: Kernel,
  conversation: string,
  log: string,
  records: readonly Said[],
  ids: Ids,
  hit: Hit,
): Promise<string | undefined> {
  const all = await kernel.turns(conversation);
  const last = isProblem(all) ? undefined : all.at(-1);
  if (last === undefined || last.status === "running") return "the turn is open";
  hit(last.status === "done" ? "doneTurns" : "failedTurns");
  const blocks = await kernel.allBlocks(conversation);
  if (isProblem(blocks)) return blocks.message;
  const open = blocks.find(({ status }) => status === "running" || status === "pending");
  if (open !== undefined) return `${open.kind} ${open.id} is open`;
  const asked = countIds(
    records.filter(({ dir }) => dir === "out").map(({ line }) => line),
    ids.asked,
  );
  const answered = countIds(readFileSync(log, "utf8").split("\n"), ids.answered);
  for (const [id, times] of answered) {
    hit("answers", times);
    if (times > (asked.get(id) ?? 0)) return `answered ${id} ${times} times, asked ${asked.get(id) ?? 0}`;
  }
  return undefined;
}

/** How a protocol names what is asked and what is answered. */
export interface Ids {
  readonly asked: (message: JsonObject) => Json | undefined;
  readonly answered: (message: JsonObject) => Json | undefined;
}

function countIds(
  lines: readonly string[],
  idOf: (message: JsonObject) => Json | undefined,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) {
    const message = messageIn(line);
    const id = message === undefined ? undefined : idOf(message);
    if (id !== undefined) counts.set(JSON.stringify(id), (counts.get(JSON.stringify(id)) ?? 0) + 1);
  }
  return counts;
}

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)] as T;
}

function randomOf(seed: number): Random {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}
