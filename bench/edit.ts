/**
 * Does a line edit cost what the line costs, or what the block costs? block.edit replaces one line at a random place, in a
 * block of 200 lines and in one of 200,000, both promoted, in turn; through the tool, the kernel and a store: in memory,
 * where nothing hides the kernel's own cost, and on SQLite, as it is used.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Call,
  Cursors,
  callTool,
  type Env,
  inlineMatcher,
  isProblem,
  Kernel,
  MemoryStore,
  type Store,
} from "@blockyard/kernel";
import { openSqliteStore } from "../packages/server/src/stores/sqlite/sqlite.ts";
import { nodeEnv } from "../packages/server/src/system/env.ts";
import { alternate, type Bench, type Comparison, elapsedMs, worst } from "./bench.ts";
import { seeded } from "./corpus/prose.ts";

const SMALL = 200;
const BIG = 200_000;
const PAIRS = 15;
const EDITS = 40;
const SEED = 20262;

export const bench: Bench = {
  name: "edit",
  question: "How much more does a line edit cost in a block of 200,000 lines than in one of 200?",
  targets: { bigBlockRatio: { max: 3 } },
  async run(report) {
    // Group commits are gathered at once: a pause between edits would hide what they cost.
    const eager: Env = { ...nodeEnv, soon: (run) => queueMicrotask(run) };
    const memory = await compare(eager, new MemoryStore("bench"));
    const directory = mkdtempSync(join(tmpdir(), "blockyard-bench-"));
    const store = await openSqliteStore(join(directory, "edit.db"));
    const sqlite = await compare(nodeEnv, store).finally(async () => {
      await store.close();
      rmSync(directory, { recursive: true });
    });
    report.table([row("memory", memory), row("sqlite", sqlite)]);
    return {
      bigBlockRatio: worst([memory.figure, sqlite.figure]),
      memoryRatio: memory.figure,
      sqliteRatio: sqlite.figure,
    };
  },
};

async function compare(env: Env, store: Store): Promise<Comparison> {
  const kernel = new Kernel(env, store);
  const call: Call = {
    kernel,
    caller: { agent: "bench", role: "owner" },
    matcher: inlineMatcher(() => env.monotonic()),
    cursors: new Cursors(kernel),
  };
  const created = (await must(call, "conversation.create", {})) as { conversation: string };
  const small = await openBlock(call, created.conversation, SMALL);
  const big = await openBlock(call, created.conversation, BIG);
  const random = seeded(SEED);
  const measure = (id: string, lines: number) => () =>
    elapsedMs(async () => {
      for (let i = 0; i < EDITS; i++) await editLine(call, id, random.below(lines), i);
    });
  await measure(small, SMALL)();
  await measure(big, BIG)();
  const compared = await alternate(PAIRS, measure(big, BIG), measure(small, SMALL));
  await kernel.close();
  call.cursors.close();
  return compared;
}

/** A block of `lines` lines that is promoted already. */
async function openBlock(call: Call, conversation: string, lines: number): Promise<string> {
  const content = Array.from({ length: lines }, (_, i) => `line ${i} of a file as long as files are\n`).join(
    "",
  );
  const input = { conversation, role: "tool", kind: "code", content };
  const { block_id } = (await must(call, "block.create", input)) as { block_id: string };
  await editLine(call, block_id, lines >> 1, 0);
  return block_id;
}

function editLine(call: Call, block_id: string, line: number, i: number): Promise<unknown> {
  const content = `line ${line}, edited for the ${i}th time`;
  return must(call, "block.edit", {
    block_id,
    operations: [{ op: "replace", start_line: line, end_line: line + 1, content }],
  });
}

async function must(call: Call, name: string, input: object): Promise<unknown> {
  const answer = await callTool(call, name, input);
  if (isProblem(answer)) throw new Error(`${name}: ${answer.message}`);
  return answer;
}

function row(
  store: string,
  { medianA, medianB, ratio, spread }: Comparison,
): Record<string, string | number> {
  return {
    store,
    "big µs": Math.round((medianA * 1_000) / EDITS),
    "small µs": Math.round((medianB * 1_000) / EDITS),
    ratio: Number(ratio.toFixed(2)),
    spread: Number(spread.toFixed(2)),
  };
}
