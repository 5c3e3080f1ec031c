/**
 * How long does an undo take when others have edited the block since? One agent writes a line, another then makes a
 * thousand edits around it, and the first takes its line back; block.undo, through the kernel on SQLite, the undo model
 * in memory as it is after the first undo of a block. Beside it, the first undo, which reads the log and builds the model, and
 * in turn with the undos a line edit of the other agent: what any write of that block costs.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Call, Cursors, callTool, inlineMatcher, isProblem, Kernel } from "@blockyard/kernel";
import { openSqliteStore } from "../packages/server/src/stores/sqlite/sqlite.ts";
import { nodeEnv } from "../packages/server/src/system/env.ts";
import { type Bench, elapsedMs, measured, median, quantile } from "./bench.ts";
import { seeded } from "./corpus/prose.ts";

const LATER = 1_000;
const UNDOS = 60;
const LINES = 300;
const SEED = 20263;

export const bench: Bench = {
  name: "undo",
  question: "How long does an undo take after 1,000 later edits by somebody else?",
  targets: { msAfter1000: { max: 10 }, undoToEditRatio: { max: 5 } },
  async run(report) {
    const directory = mkdtempSync(join(tmpdir(), "blockyard-bench-"));
    const store = await openSqliteStore(join(directory, "undo.db"));
    try {
      const kernel = new Kernel(nodeEnv, store);
      const { first, later, edits } = await measure(kernel);
      report.table([
        { undo: "first, cold", ms: Number(first.toFixed(2)) },
        { undo: "median", ms: Number(median(later).toFixed(2)) },
        { undo: "95 %", ms: Number(quantile(later, 0.95).toFixed(2)) },
        { undo: "a line edit in between, median", ms: Number(median(edits).toFixed(2)) },
      ]);
      return {
        msAfter1000: measured(later),
        undoToEditRatio: measured(later.map((undoMs, i) => undoMs / (edits[i] as number))),
        p95Ms: quantile(later, 0.95),
        coldMs: first,
      };
    } finally {
      await store.close();
      rmSync(directory, { recursive: true });
    }
  },
};

async function measure(kernel: Kernel): Promise<{ first: number; later: number[]; edits: number[] }> {
  const ann = caller(kernel, "ann");
  const bob = caller(kernel, "bob");
  const { conversation } = (await must(ann, "conversation.create", {})) as { conversation: string };
  const content = Array.from({ length: LINES }, (_, i) => `line ${i} of a file\n`).join("");
  const input = { conversation, role: "tool", kind: "text", content };
  const { block_id } = (await must(bob, "block.create", input)) as { block_id: string };
  await must(ann, "block.edit", {
    block_id,
    operations: [{ op: "insert", line: 150, content: "ann's line" }],
  });
  const random = seeded(SEED);
  const edit = (i: number) => {
    const start_line = random.below(LINES);
    const operations = [{ op: "replace", start_line, end_line: start_line + 1, content: `edit ${i} of bob` }];
    return must(bob, "block.edit", { block_id, operations });
  };
  for (let i = 0; i < LATER; i++) await edit(i);
  const first = await elapsedMs(() => must(ann, "block.undo", { block_id }));
  const later: number[] = [];
  const edits: number[] = [];
  for (let i = 0; i < UNDOS; i++) {
    const type = i % 2 === 0 ? "block.redo" : "block.undo";
    later.push(await elapsedMs(() => must(ann, type, { block_id })));
    edits.push(await elapsedMs(() => edit(LATER + i)));
  }
  await kernel.close();
  ann.cursors.close();
  bob.cursors.close();
  return { first, later, edits };
}

function caller(kernel: Kernel, agent: string): Call {
  const matcher = inlineMatcher(() => performance.now());
  return { kernel, caller: { agent, role: "owner" }, matcher, cursors: new Cursors(kernel) };
}

async function must(call: Call, name: string, input: object): Promise<unknown> {
  const answer = await callTool(call, name, input);
  if (isProblem(answer)) throw new Error(`${name}: ${answer.message}`);
  return answer;
}
