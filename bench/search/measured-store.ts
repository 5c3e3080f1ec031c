/**
 * Measures searches of one store, alone in its process, so that its memory is its own: `node measured-store.ts <database> <sessions>`.
 * Prints one JSON object. The search index is brought up to date first, if it is not.
 */
import { setTimeout } from "node:timers/promises";
import { isProblem, type SearchAnswer, type SearchQuery } from "@blockyard/kernel";
import { openSqliteStore, type SqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { elapsedMs, median, quantile } from "../bench.ts";
import { dropFromCache } from "./file-cache.ts";
import { KNOWN_NAMES, workspaceOf } from "./sessions.ts";

export interface MeasuredStore {
  /** The first search after a start, with nothing of the store in the system's cache. */
  readonly coldMs: number;
  /** Literals that are in a few blocks, in none, and in very many: the median of each kind, and of all. */
  readonly knownMs: number;
  readonly absentMs: number;
  readonly commonMs: number;
  readonly firstAnswerMs: number;
  /** Of all literals, the quicker quarter. */
  readonly quickMs: number;
  readonly slowestMs: number;
  readonly regexMs: number;
  readonly conversationMs: number;
  readonly workspaceMs: number;
  /** Of resident memory, the most over that of the opened store, also while the index is made. */
  readonly memoryMb: number;
  /** Patterns that no index can help: how many got an answer, with what was found in time. */
  readonly hardAnswered: number;
  readonly indexMs: number;
}

const HARD = ["e", "tt", "[0-9]{12}", "q[a-z]*zq", "(?i)[^a-z]x[^a-z]y"];
const ROUNDS = 3;
const LOOK_MS = 50;

const [path, sessions] = [process.argv[2] as string, Number(process.argv[3])];
let store = await openSqliteStore(path);
const restBytes = process.memoryUsage.rss();
let peakBytes = restBytes;
const looks = setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}, LOOK_MS);
const indexMs = await elapsedMs(() => indexed(store));
await store.close();
dropFromCache(path);
store = await openSqliteStore(path);
const coldMs = await elapsedMs(() => search({ pattern: KNOWN_NAMES[0] }));
const known = await each(KNOWN_NAMES, (pattern) => ({ pattern }));
const absent = await each(KNOWN_NAMES, (pattern) => ({ pattern: `${pattern}Absent` }));
const common = await each(["StreamError", "commit", "const", "the ", "str"], (pattern) => ({
  pattern,
  maxBlocks: 20,
}));
const regex = await each(
  ["retry\\w+Exhausted", "parse(Lease|Grant)Header", "kitchen\\s+sink", "(?i)UPSTREAM\\b.*cause"],
  (pattern) => ({
    pattern,
    literal: false,
  }),
);
const recent = Array.from({ length: 5 }, (_, i) => sessions - 1 - i);
const conversation = await each(recent, (session) => ({
  pattern: KNOWN_NAMES[session % 9] as string,
  conversation: `s-${session}`,
}));
const workspace = await each(recent, (session) => ({
  pattern: "const",
  pathPrefix: `${workspaceOf(session)}/`,
}));
let hardAnswered = 0;
for (const pattern of HARD)
  if (!isProblem(await store.search(query({ pattern, literal: false })))) hardAnswered++;
clearInterval(looks);
const memoryMb = (Math.max(peakBytes, process.memoryUsage.rss()) - restBytes) / 1e6;
await store.close();
const literals = [...known, ...absent, ...common];
const measured: MeasuredStore = {
  coldMs,
  knownMs: median(known),
  absentMs: median(absent),
  commonMs: median(common),
  firstAnswerMs: median(literals),
  quickMs: quantile(literals, 0.25),
  slowestMs: quantile(literals, 0.95),
  regexMs: median(regex),
  conversationMs: median(conversation),
  workspaceMs: median(workspace),
  memoryMb,
  hardAnswered: hardAnswered / HARD.length,
  indexMs,
};
console.log(JSON.stringify(measured));

async function each<T>(all: readonly T[], asked: (of: T) => Partial<SearchQuery>): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++)
    for (const one of all) times.push(await elapsedMs(() => search(asked(one))));
  return times;
}

async function search(asked: Partial<SearchQuery>): Promise<SearchAnswer> {
  const answer = await store.search(query(asked));
  if (isProblem(answer)) throw new Error(`${asked.pattern}: ${answer.message}`);
  const isKnown = asked.pattern !== undefined && (KNOWN_NAMES as readonly string[]).includes(asked.pattern);
  if (isKnown && asked.conversation === undefined && answer.hits.length !== 12)
    throw new Error(`${asked.pattern} was found in ${answer.hits.length} blocks, not in 12`);
  return answer;
}

function query(asked: Partial<SearchQuery>): SearchQuery {
  const bounds = { contextLines: 2, maxMatchesPerBlock: 10, maxBlocks: 50, deadlineMs: 250 };
  return { pattern: "", literal: true, ignoreCase: false, ...bounds, ...asked };
}

async function indexed(of: SqliteStore): Promise<void> {
  for (;;) {
    const answer = await of.search(query({ pattern: "nowhere at all" }));
    if (!isProblem(answer) && answer.indexing === undefined) return;
    await setTimeout(500);
  }
}
