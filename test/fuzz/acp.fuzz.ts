/**
 * Mutated lines of ACP: one seed takes recordings of the agents, changes their messages (fields dropped, retyped, swapped between
 * messages, ids mixed up, lines cut, repeated, lost, moved), and feeds them to the adapter, and to the end of the connection that the
 * driver has. Whatever comes: nothing throws, blocks and turns start and end once, metadata fits its schema; what the agent asked is
 * answered once, and nothing else is answered.
 */
import { checkMetadata, isProblem, type Json, type JsonObject } from "@blockyard/kernel";
import { type Folded, normalize, providers, SessionRoutes, trafficLine } from "@blockyard/providers";
import { Peer, type Respond } from "../../packages/server/src/turns/drivers/acp/peer.ts";
import { bytesOf, streams } from "../recordings.ts";
import type { Fuzz, FuzzOutcome } from "./fuzz.ts";

const LINES_PER_SEED = 200;
const own = streams.filter(({ provider, name }) => provider === "acp" && !name.includes("unicode-long"));

type Random = (below: number) => number;
type Line = { readonly dir: "in" | "out"; readonly text: string };

export const fuzz: Fuzz = {
  name: "acp",
  sometimes: ["lines", "calls", "asks", "unknown", "answered", "refused", "repeatedIds"],
  run: async (seed) => runSeed(seed),
};

async function runSeed(seed: number): Promise<FuzzOutcome> {
  const random = randomOf(seed);
  const hits: Record<string, number> = {};
  const hit = (name: string, times = 1) => {
    hits[name] = (hits[name] ?? 0) + times;
  };
  for (let lines = 0; lines < LINES_PER_SEED; ) {
    const recording = pick(random, own);
    const mutated = mutate(random, linesOf(recording.name));
    lines += mutated.length + 1;
    hit("lines", mutated.length);
    const fault = adapterFault(mutated, hit) ?? (await peerFault(random, mutated, hit));
    if (fault !== undefined) return { ok: false, detail: `${recording.name}: ${fault}`, hits };
  }
  return { ok: true, hits };
}

function adapterFault(
  lines: readonly Line[],
  hit: (name: string, times?: number) => void,
): string | undefined {
  const acp = providers.get("acp");
  if (acp === undefined) return "no provider acp";
  const records = lines.map(({ dir, text }, t) => trafficLine(dir, text, t));
  const routes = new SessionRoutes();
  for (const record of records) routes.take(record);
  const folded: Folded = normalize(acp, [new TextEncoder().encode(records.join("\n"))]);
  if (folded.faults.length > 0) return folded.faults.slice(0, 3).join("; ");
  const running = folded.turns.find(({ status }) => status === "running");
  if (running !== undefined) return `turn ${running.turn} never ended`;
  for (const block of folded.blocks) {
    const checked = checkMetadata(block.kind, block.metadata);
    if (isProblem(checked)) return `${block.id}: ${checked.message}`;
  }
  if ([...folded.asks.values()].includes("asked")) return "an ask was left open";
  hit("calls", folded.stages.size);
  hit("asks", folded.asks.size);
  hit("unknown", Object.keys(folded.unknown).length);
  return undefined;
}

/** The agent's lines into the driver's end, which answers what it takes now, later, or twice. */
async function peerFault(
  random: Random,
  lines: readonly Line[],
  hit: (name: string, times?: number) => void,
): Promise<string | undefined> {
  const open = new Map<string, number>();
  const later: Respond[] = [];
  let fault: string | undefined;
  const peer = new Peer({
    write: (line) => {
      const message = JSON.parse(line) as JsonObject;
      if (message["method"] !== undefined) return;
      const key = JSON.stringify(message["id"]);
      const left = open.get(key) ?? 0;
      if (left === 0) fault ??= `answered ${key}, which nobody asks`;
      open.set(key, left - 1);
      hit("result" in message ? "answered" : "refused");
    },
    onLine: () => undefined,
    onRequest: (method, _params, _id, respond) => {
      if (method !== "session/request_permission") return false;
      if (random(2) === 0) later.push(respond);
      else respond({ result: {} });
      if (random(4) === 0) respond({ result: {} });
      return true;
    },
    onNotification: () => undefined,
  });
  const reply = peer.request("session/prompt", {});
  for (const { dir, text } of lines) {
    if (dir === "in") continue;
    noteRequest(text, open, hit);
    peer.take(text);
    if (random(8) === 0) later.shift()?.({ result: {} });
  }
  for (const respond of later) respond({ result: {} });
  const left = [...open.values()].filter((times) => times > 0).length;
  peer.close("over");
  await reply; // whoever waits is told
  return fault ?? (left > 0 ? `${left} requests have no answer` : undefined);
}

/** A request that must be answered: while its id is open, another with that id is none. */
function noteRequest(text: string, open: Map<string, number>, hit: (name: string) => void): void {
  const message = parsed(text);
  if (typeof message !== "object" || message === null || Array.isArray(message)) return;
  const { id, method } = message as JsonObject;
  if (typeof method !== "string" || (typeof id !== "number" && typeof id !== "string")) return;
  const key = JSON.stringify(id);
  if ((open.get(key) ?? 0) > 0) hit("repeatedIds");
  else open.set(key, 1);
}

function mutate(random: Random, lines: readonly Line[]): Line[] {
  const out: Line[] = [];
  for (const line of lines) {
    const how = random(12);
    if (how === 0) continue;
    if (how === 1) out.push(line, line);
    else if (how === 2) out.splice(random(out.length + 1), 0, line);
    else if (how === 3) out.push({ ...line, text: line.text.slice(0, random(line.text.length + 1)) });
    else if (how <= 7) out.push({ ...line, text: changed(random, line.text, pick(random, lines).text) });
    else out.push(line);
  }
  return out;
}

/** One value somewhere inside becomes another. */
function changed(random: Random, text: string, other: string): string {
  const message = parsed(text);
  const spots: { holder: Record<string, Json>; key: string }[] = [];
  const walk = (value: Json | undefined) => {
    if (typeof value !== "object" || value === null) return;
    for (const key of Object.keys(value)) {
      spots.push({ holder: value as Record<string, Json>, key });
      walk((value as Record<string, Json>)[key]);
    }
  };
  walk(message);
  if (spots.length === 0) return text;
  const { holder, key } = pick(random, spots);
  const values: Json[] = [
    null,
    0,
    -1,
    "",
    "x",
    [],
    {},
    true,
    1e300,
    "__proto__",
    parsed(other) ?? 7,
    holder[key] ?? 1,
  ];
  if (random(4) === 0) delete holder[key];
  else if (random(6) === 0)
    holder[pick(random, ["id", "method", "sessionId", "toolCallId", "status"])] = pick(random, values);
  else holder[key] = pick(random, values);
  try {
    return JSON.stringify(message);
  } catch {
    return text;
  }
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const read = new Map<string, readonly Line[]>();

function linesOf(name: string): readonly Line[] {
  const known = read.get(name);
  if (known !== undefined) return known;
  const recording = own.find((each) => each.name === name);
  if (recording === undefined) throw new Error(`no recording ${name}`);
  const lines = new TextDecoder().decode(bytesOf(recording)).trimEnd().split("\n");
  const made = lines.map((line) => {
    const { dir, line: text } = JSON.parse(line) as { dir: "in" | "out"; line: string };
    return { dir, text };
  });
  read.set(name, made);
  return made;
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random(from.length)] as T;
}

function randomOf(seed: number): Random {
  let state = (seed * 0x9e3779b9) >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
