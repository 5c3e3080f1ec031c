/**
 * Mutated events, for every provider: one seed takes a few streams and session logs, changes their events (fields dropped, retyped,
 * renamed, ids and indexes mixed up, texts broken, lines repeated, swapped, lost), frames them again in random pieces, and checks what must hold
 * whatever comes: nothing throws, blocks and turns start and end once, metadata fits its schema, new types are kept as
 * unknown and counted, nothing reaches a prototype.
 */
import { checkMetadata, isProblem, type Json } from "@blockyard/kernel";
import { type Folded, fold, logFile, normalize, providers } from "@blockyard/providers";
import { bytesOf, logFilesOf, logs, type Recording, streams } from "../recordings.ts";
import type { Fuzz, FuzzOutcome } from "./fuzz.ts";

/** Events that one seed mutates, about; a hundred seeds of a hundred lines are ten thousand. */
const eventsPerSeed = 200;

export const fuzz: Fuzz = {
  name: "providers",
  sometimes: ["events", "logs", "unknown", "noise", "toolCalls", "errorBlocks", "strangeKeys", "mixedNames"],
  run: async (seed) => runSeed(seed),
};

function runSeed(seed: number): FuzzOutcome {
  const random = randomOf(seed);
  const hits: Record<string, number> = {};
  let events = 0;
  while (events < eventsPerSeed) {
    const recording = pick(random, random(4) === 0 ? usableLogs : usableStreams);
    const lines = mutateLines(random, linesOf(recording), hits);
    events += lines.length + 1;
    if (recording.source === "log") hit(hits, "logs", 1);
    const folded = read(random, recording, lines.join("\n"));
    const fault = faultOf(folded);
    if (fault !== undefined) return { ok: false, detail: `${recording.name}: ${fault}`, hits };
    hit(
      hits,
      "unknown",
      Object.values(folded.unknown).reduce((sum, count) => sum + count, 0),
    );
    hit(hits, "toolCalls", folded.stages.size);
    hit(hits, "errorBlocks", folded.blocks.filter(({ kind }) => kind === "error").length);
  }
  hit(hits, "events", events);
  return { ok: true, hits };
}

function read(random: Random, recording: Recording, text: string): Folded {
  const provider = providers.get(recording.provider);
  if (provider === undefined) throw new Error(`no provider ${recording.provider}`);
  if (recording.source === "stream")
    return normalize(provider, pieces(random, new TextEncoder().encode(text)));
  if (provider.importLog === undefined) throw new Error(`${recording.provider} has no importer`);
  const { main, sidecars } = logFilesOf(recording);
  return fold(provider.importLog({ main: logFile(main.path, text), sidecars }, "run"));
}

function faultOf(folded: Folded): string | undefined {
  if (folded.faults.length > 0) return folded.faults.slice(0, 3).join("; ");
  const running = folded.turns.find(({ status }) => status === "running");
  if (running !== undefined) return `turn ${running.turn} never ended`;
  for (const block of folded.blocks) {
    const checked = checkMetadata(block.kind, block.metadata);
    if (isProblem(checked)) return `${block.kind} ${block.id}: ${checked.message}`;
  }
  for (const [key, stages] of folded.stages) {
    const isOwed = folded.blocks.find(({ id }) => id === key)?.metadata.waiting === "result";
    if (stages[0] !== "start" || (stages.at(-1) !== "end" && !isOwed))
      return `stages of ${key}: ${stages.join(" ")}`;
  }
  return "polluted" in {} ? "Object.prototype was polluted" : undefined;
}

// ---------------------------------------------------------------------------------------------------------------------
// Mutations

/** What a mutated field may become. */
const strange: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1e308,
  "",
  "x",
  "\ud83d",
  "a\u0000b\u2028",
  [],
  {},
  [[[]]],
  { type: "text" },
  ["text", 1, null],
  "completed",
  "in_progress",
  "item_0",
  "tool_use",
  JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as Json,
];

function mutateLines(random: Random, lines: readonly string[], hits: Record<string, number>): string[] {
  const most = Math.min(lines.length, 60);
  const names = namesOf(lines);
  const from = random(Math.max(1, lines.length - most));
  const out: string[] = [];
  for (const line of random(2) === 0 ? lines.slice(from, from + most) : lines.slice(0, most)) {
    const what = random(20);
    if (what === 0) continue;
    if (what === 1 && out.length > 0) out.splice(random(out.length), 0, line);
    else if (what === 2) out.push(line, line);
    else if (what === 3) {
      out.push(line.slice(0, random(line.length)));
      hit(hits, "noise", 1);
    } else if (what < 9) out.push(mutateLine(line, (value) => mix(random, value, names, hits)));
    else if (what < 14) out.push(mutateLine(line, (value) => mutateSome(random, value, hits)));
    else out.push(line);
  }
  return out;
}

function mutateLine(line: string, change: (value: Json) => Json): string {
  const prefix = line.startsWith("data: ") ? "data: " : "";
  try {
    return prefix + JSON.stringify(change(JSON.parse(line.slice(prefix.length)) as Json));
  } catch {
    return line;
  }
}

function mutateSome(random: Random, value: Json, hits: Record<string, number>): Json {
  let mutated = value;
  for (let times = 1 + random(3); times > 0; times--) mutated = mutate(random, mutated, hits);
  return mutated;
}

/** Fields by which events find each other: wrong ones join what does not belong together. */
const NAMES = /(^|_)(id|index|type|status|number)$|I[dD]$|uuid$|Uuid$/;

type Names = ReadonlyMap<string, readonly Json[]>;

/** What each name is called in these lines. */
function namesOf(lines: readonly string[]): Names {
  const names = new Map<string, Json[]>();
  const collect = (value: Json): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, field] of Object.entries(value)) {
      if (NAMES.test(key)) names.set(key, [...(names.get(key) ?? []), field as Json].slice(-100));
      collect(field as Json);
    }
  };
  for (const line of lines.slice(0, 200)) {
    mutateLine(line, (value) => {
      collect(value);
      return value;
    });
  }
  return names;
}

/** Some names of the value exchanged for others of its stream, left out, or written as text. */
function mix(random: Random, value: Json, names: Names, hits: Record<string, number>): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => mix(random, item, names, hits));
  const mixed: [string, Json][] = [];
  for (const [key, field] of Object.entries(value as Record<string, Json>)) {
    const known = names.get(key);
    if (known === undefined || random(5) > 0) {
      mixed.push([key, mix(random, field, names, hits)]);
      continue;
    }
    hit(hits, "mixedNames", 1);
    const what = random(6);
    if (what === 1) mixed.push([key, null]);
    else if (what === 2) mixed.push([key, String(field)]);
    else if (what > 2) mixed.push([key, pick(random, known)]);
  }
  return Object.fromEntries(mixed);
}

function mutate(random: Random, value: Json, hits: Record<string, number>): Json {
  if (typeof value !== "object" || value === null || random(6) === 0) return pick(random, strange);
  if (Array.isArray(value)) return mutateList(random, value as readonly Json[], hits);
  const keys = Object.keys(value);
  const object: Record<string, Json> = { ...(value as Record<string, Json>) };
  const key = keys[random(Math.max(1, keys.length))];
  if (key === undefined) return pick(random, strange);
  const what = random(10);
  if (what === 0) delete object[key];
  else if (what === 1) object[pick(random, keyNames)] = object[key] as Json;
  else if (what === 2 && "type" in object) object["type"] = `new_${object["type"]}`;
  else if (what === 3) {
    Object.defineProperty(object, "__proto__", {
      value: { polluted: 1 },
      enumerable: true,
      configurable: true,
    });
    hit(hits, "strangeKeys", 1);
  } else object[key] = mutate(random, object[key] as Json, hits);
  return object;
}

function mutateList(random: Random, list: readonly Json[], hits: Record<string, number>): Json {
  if (list.length === 0) return [pick(random, strange)];
  const at = random(list.length);
  const what = random(4);
  if (what === 0) return list.filter((_, i) => i !== at);
  if (what === 1) return [...list, list[at] as Json];
  return list.map((item, i) => (i === at ? mutate(random, item, hits) : item));
}

const keyNames = [
  "id",
  "type",
  "index",
  "text",
  "content",
  "input",
  "item",
  "message",
  "usage",
  "delta",
  "status",
  "constructor",
];

// ---------------------------------------------------------------------------------------------------------------------
// Chance

type Random = (below: number) => number;

/** mulberry32: small, fast, the same everywhere. */
function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)] as T;
}

function hit(hits: Record<string, number>, name: string, times: number): void {
  if (times > 0) hits[name] = (hits[name] ?? 0) + times;
}

const isUsable = (recording: Recording) => {
  const { length } = bytesOf(recording);
  return length > 0 && length < 100_000;
};
const usableStreams = streams.filter(isUsable);
const usableLogs = logs.filter(
  (recording) => isUsable(recording) && providers.get(recording.provider)?.importLog,
);

const cache = new Map<string, readonly string[]>();

function linesOf(recording: Recording): readonly string[] {
  const known = cache.get(recording.name);
  if (known !== undefined) return known;
  const lines = new TextDecoder().decode(bytesOf(recording)).split("\n");
  cache.set(recording.name, lines);
  return lines;
}

function* pieces(random: Random, bytes: Uint8Array): Iterable<Uint8Array> {
  const most = pick(random, [16, 1_000, 100_000]);
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + random(most);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}
