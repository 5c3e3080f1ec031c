/**
 * Does what is written next cost more, the longer the text already is? One flush appended to a block, one line edited in it, one
 * token more of markdown on the page, behind a thousand characters and behind a million; in memory, where nothing hides the
 * cost. Beside them, as the plot shows, what the same costs without what we do about it: a CRDT document for all of the text,
 * and markdown that is lexed again from its beginning.
 */
import {
  type BlockId,
  type Call,
  Cursors,
  callTool,
  type Env,
  inlineMatcher,
  isProblem,
  Kernel,
  MemoryStore,
  type Problem,
  Text,
} from "@blockyard/kernel";
import * as Y from "yjs";
import { nodeEnv } from "../packages/server/src/system/env.ts";
import { type Parsed, parseGrowing, parseWhole } from "../packages/web/src/markdown/parse.ts";
import { type Bench, type Figure, measured, median } from "./bench.ts";
import { seeded, tokens } from "./corpus/prose.ts";

const LENGTHS = [1_000, 10_000, 100_000, 1_000_000];
const ROUNDS = 7;
const SEED = 20267;
const FLUSH = `${"a piece of the length that a flush has ".padEnd(54, ".")}\n`;

/** Does it once more, to a text that is that long. */
type Step = (i: number) => unknown;

interface Work {
  readonly name: string;
  /** Steps in one measurement: the clock of a thread ticks every few milliseconds. */
  readonly steps: number;
  /** Longer texts would take too long. */
  readonly maxChars?: number;
  readonly isPeer?: boolean;
  open(text: string): Promise<Step>;
}

export const bench: Bench = {
  name: "length",
  question:
    "How much more does the next append, line edit and Markdown token cost after 1,000,000 characters than after 1,000?",
  targets: { appendRatio: { max: 2 }, editRatio: { max: 3 }, markdownRatio: { max: 2 } },
  async run(report) {
    const text = longText(Math.max(...LENGTHS));
    const costs = new Map<string, Map<number, number[]>>();
    for (const work of WORKS) costs.set(work.name, await measure(work, text));
    const points = (name: string) =>
      [...(costs.get(name) as Map<number, number[]>)].map(([chars, each]) => [chars, median(each)] as const);
    report.note(
      `Microseconds of processor time for one more, medians of ${ROUNDS} rounds in which all lengths take turns. The last two rows are alternatives that we do not use.`,
    );
    report.table(
      WORKS.map(({ name }) => ({
        what: name,
        ...Object.fromEntries(
          LENGTHS.map((chars) => {
            const found = points(name).find(([at]) => at === chars);
            return [
              `${chars.toLocaleString("en")} characters`,
              found === undefined ? "not tried" : found[1].toFixed(1),
            ];
          }),
        ),
      })),
    );
    report.plot({
      name: "cost",
      title: "Cost of one more, by length of the text",
      x: { label: "characters before it", isLog: true },
      y: { label: "microseconds", isLog: true },
      series: WORKS.map(({ name, isPeer }) => ({
        name,
        points: points(name),
        ...(isPeer ? { isDashed: true } : {}),
      })),
    });
    const ratio = (name: string): Figure => {
      const rounds = costs.get(name) as Map<number, number[]>;
      const [short, long] = [rounds.get(LENGTHS[0] as number), rounds.get(LENGTHS.at(-1) as number)];
      return measured((long as number[]).map((us, round) => us / ((short as number[])[round] as number)));
    };
    return {
      appendRatio: ratio("append"),
      editRatio: ratio("line edit"),
      markdownRatio: ratio("markdown token"),
    };
  },
};

/** By length: microseconds of one step, in each round. */
async function measure(work: Work, text: string): Promise<Map<number, number[]>> {
  const lengths = LENGTHS.filter((chars) => chars <= (work.maxChars ?? chars));
  const steps = new Map<number, Step>();
  for (const chars of lengths)
    steps.set(chars, await work.open(text.slice(0, text.lastIndexOf("\n", chars) + 1)));
  const took = new Map(lengths.map((chars): [number, number[]] => [chars, []]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const chars of round % 2 === 0 ? lengths : lengths.toReversed()) {
      const step = steps.get(chars) as Step;
      // This thread's own time: what other programs do meanwhile is left out.
      const start = process.threadCpuUsage();
      for (let i = 0; i < work.steps; i++) await step(i);
      const { user, system } = process.threadCpuUsage(start);
      if (round >= 0) took.get(chars)?.push((user + system) / work.steps); // the first round warms up
    }
  }
  return took;
}

const WORKS: readonly Work[] = [
  {
    name: "append",
    steps: 3_000,
    async open(text) {
      const { kernel, id } = await openBlock(text);
      return async () => {
        must(await kernel.append(id, "bench", FLUSH));
        must(await kernel.drain(id, "bench"));
      };
    },
  },
  {
    name: "line edit",
    steps: 200,
    async open(text) {
      const { kernel, id } = await openBlock(text);
      const matcher = inlineMatcher(() => performance.now());
      const call: Call = {
        kernel,
        caller: { agent: "bench", role: "owner" },
        matcher,
        cursors: new Cursors(kernel),
      };
      const lines = text.split("\n").length - 1;
      const random = seeded(SEED);
      return async (i) => {
        const line = random.below(lines);
        const operations = [{ op: "replace", start_line: line, end_line: line + 1, content: `edited ${i}` }];
        must((await callTool(call, "block.edit", { block_id: id, operations })) as Problem | object);
      };
    },
  },
  {
    name: "markdown token",
    steps: 600,
    async open(text) {
      let grown = Text.of(text);
      let parsed: Parsed | undefined;
      parsed = parseGrowing(parsed, grown);
      const next = tokens(seeded(SEED));
      return () => {
        grown = grown.append(next.next().value as string);
        parsed = parseGrowing(parsed, grown);
      };
    },
  },
  {
    name: "append to a Yjs text",
    steps: 300,
    isPeer: true,
    async open(text) {
      const doc = new Y.Doc();
      const shared = doc.getText("t");
      // As a stream brings it: piece by piece.
      for (let at = 0; at < text.length; at += FLUSH.length)
        shared.insert(at, text.slice(at, at + FLUSH.length));
      doc.on("update", () => undefined);
      return () => shared.insert(shared.length, FLUSH);
    },
  },
  {
    name: "markdown lexed anew",
    steps: 40,
    maxChars: 100_000,
    isPeer: true,
    async open(text) {
      let grown = Text.of(text);
      const next = tokens(seeded(SEED));
      return () => {
        grown = grown.append(next.next().value as string);
        parseWhole(grown);
      };
    },
  },
];

async function openBlock(text: string): Promise<{ kernel: Kernel; id: BlockId }> {
  // Group commits are gathered at once: a pause between writes would hide what they cost.
  const eager: Env = { ...nodeEnv, soon: (run) => queueMicrotask(run) };
  const kernel = new Kernel(eager, new MemoryStore("bench"));
  const conversation = must(await kernel.createConversation("bench", "length"));
  const block = await kernel.write(conversation, {
    agent: "bench",
    plan: (draft) => draft.create({ kind: "text", role: "model", status: "running", text }),
  });
  return { kernel, id: must(block).id };
}

function longText(chars: number): string {
  const source = tokens(seeded(SEED));
  const pieces: string[] = [];
  for (let length = 0; length < chars + 1_000; ) {
    const piece = source.next().value as string;
    pieces.push(piece);
    length += piece.length;
  }
  return pieces.join("");
}

function must<T>(answer: T | Problem): T {
  if (isProblem(answer)) throw new Error(answer.message);
  return answer;
}
