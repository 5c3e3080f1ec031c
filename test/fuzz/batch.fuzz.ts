/**
 * Batches [R30]: a write of several steps, one of which is bad, changes nothing: neither text nor version nor log, and
 * nobody is told of anything. Wherever the bad step stands, whatever is bad about it, whatever the block holds (CRLF, no
 * final newline, emoji, nothing), plain or promoted; alone, or in one commit with good writes of others, which all stay.
 */
import {
  type Block,
  type BlockId,
  Cursors,
  callTool,
  type Draft,
  inlineMatcher,
  isProblem,
  type Json,
  Kernel,
  MemoryStore,
  type Op,
  type Problem,
  type ProblemCode,
  VirtualEnv,
} from "@blockyard/kernel";
import { Random } from "../sim/random.ts";
import { linesOf } from "../sim/tool-input.ts";
import type { Fuzz, FuzzOutcome } from "./fuzz.ts";

const TEXTS = {
  "empty block": "",
  CRLF: "one\r\ntwo\r\nthree\r\n",
  "no final newline": "one\ntwo\nthree",
  emoji: "😀 smile\n👩‍🚀 fly\n日本 😀\n",
  "blank lines": "\n\n\nx\n\n",
  "one newline": "\n",
};

type Step = (draft: Draft, place: Place) => unknown;

interface Place {
  readonly block: BlockId;
  readonly closed: BlockId;
  readonly random: Random;
}

/** Steps that are fine wherever they stand. */
const GOOD: Readonly<Record<string, Step>> = {
  splice: (draft, { block, random }) => {
    const text = draft.text(block).toString();
    const { at, end } = random.range(text, 6);
    return draft.splice(block, [{ at, del: text.slice(at, end), ins: random.text(2) }]);
  },
  append: (draft, { block, random }) => draft.append(block, random.text(2)),
  meta: (draft, { block }) => draft.meta(block, { notice: "seen" }),
  create: (draft) => draft.create({ kind: "text", role: "user", text: "another" }),
  prune: (draft, { closed }) => draft.prune(closed, true),
  title: (draft) => draft.conversation({ title: "renamed" }),
  turn: (draft) => draft.setTurn({ id: "t1", provider: "p", agent: "ana", status: "running", startedAt: 1 }),
};

/** Steps that must be refused, with what they are refused for. */
const BAD: Readonly<Record<string, { readonly code: ProblemCode; readonly step: Step }>> = {
  "out of range": {
    code: "out_of_range",
    step: (draft, { block }) =>
      draft.splice(block, [{ at: draft.text(block).length + 1, del: "", ins: "x" }]),
  },
  "second splice out of range": {
    code: "out_of_range",
    step: (draft, { block }) =>
      draft.splice(block, [
        { at: 0, del: "", ins: "x" },
        { at: draft.text(block).length + 2, del: "", ins: "y" },
      ]),
  },
  "negative place": {
    code: "out_of_range",
    step: (draft, { block }) => draft.splice(block, [{ at: -1, del: "", ins: "x" }]),
  },
  "inside a character": {
    code: "boundary",
    step: (draft, { block }) => {
      draft.splice(block, [{ at: 0, del: "", ins: "😀" }]);
      return draft.splice(block, [{ at: 1, del: "", ins: "x" }]);
    },
  },
  "half a character": {
    code: "invalid",
    step: (draft, { block }) => draft.splice(block, [{ at: 0, del: "", ins: "\ud83d" }]),
  },
  "not what is there": {
    code: "unavailable",
    step: (draft, { block }) => {
      draft.splice(block, [{ at: 0, del: "", ins: "abc" }]);
      return draft.splice(block, [{ at: 0, del: "xyz", ins: "" }]);
    },
  },
  "closed block": { code: "closed", step: (draft, { closed }) => draft.append(closed, "more") },
  "status taken back": { code: "closed", step: (draft, { closed }) => draft.status(closed, "running") },
  "unknown block": { code: "not_found", step: (draft, { block }) => draft.append(`${block}999`, "x") },
  "unknown parent": {
    code: "not_found",
    step: (draft, { block }) => draft.create({ kind: "text", role: "user", parent: `${block}999` }),
  },
  "bad metadata": { code: "invalid", step: (draft, { block }) => draft.meta(block, { nonsense: 1 }) },
  "nothing to undo": { code: "nothing", step: (draft, { block }) => draft.undo(block, "redo") },
  "bad update": {
    code: "invalid",
    step: (draft, { block }) => draft.merge(block, new Uint8Array([1, 2, 3, 4, 5])),
  },
  "a bug in a plan": {
    code: "unavailable",
    step: () => {
      throw new Error("a bug");
    },
  },
};

/** One bad operation among the good ones of a block.edit, with what it is refused for. */
const BAD_LINES: Readonly<
  Record<
    string,
    { readonly codes: readonly ProblemCode[]; readonly make: (lines: readonly string[]) => Json }
  >
> = {
  "line past the end": {
    codes: ["out_of_range"],
    make: (lines) => ({ op: "insert", line: lines.length + 1, content: "x" }),
  },
  "range past the end": {
    codes: ["out_of_range"],
    make: (lines) => ({ op: "delete", start_line: 0, end_line: lines.length + 1 }),
  },
  "range turned around": {
    codes: ["out_of_range", "invalid"],
    make: () => ({ op: "replace", start_line: 1, end_line: 0, content: "x" }),
  },
  "not the expected text": {
    codes: ["mismatch", "out_of_range"],
    make: () => ({ op: "delete", start_line: 0, end_line: 1, expected_text: "surely not this" }),
  },
  overlap: {
    codes: ["overlap", "out_of_range"],
    make: (lines) => ({
      op: "replace",
      start_line: 0,
      end_line: lines.length + (lines.length === 0 ? 1 : 0),
      content: "all",
    }),
  },
  "no such operation": { codes: ["invalid"], make: () => ({ op: "move", line: 0 }) },
  "half a line": { codes: ["invalid"], make: () => ({ op: "insert", line: 0.5, content: "x" }) },
  "an unknown field": {
    codes: ["invalid"],
    make: () => ({ op: "insert", line: 0, content: "x", colour: 1 }),
  },
};

export const fuzz: Fuzz = {
  name: "batch",
  sometimes: [
    ...Object.keys(TEXTS),
    ...Object.keys(BAD),
    ...Object.keys(BAD_LINES),
    "first of several",
    "last of several",
    "promoted",
    "plain",
    "with good writes",
  ],
  async run(seed): Promise<FuzzOutcome> {
    const hits: Record<string, number> = {};
    const count = (event: string) => {
      hits[event] = (hits[event] ?? 0) + 1;
    };
    await runCase(new Random(seed), seed, count);
    return { ok: true, hits };
  },
};

async function runCase(random: Random, seed: number, count: (event: string) => void): Promise<void> {
  const store = new MemoryStore("fuzz");
  const kernel = new Kernel(new VirtualEnv(seed), store);
  const place = await prepare(kernel, random, count);
  const conversation = place.block.split("/")[0] as string;
  const told: Op[] = [];
  kernel.listen(({ ops }) => told.push(...ops));
  const before = await everything(store, conversation);
  const { codes, answer: bad } = random.chance(0.5)
    ? badPlan(kernel, place, count)
    : await badLines(kernel, place, count);
  if (random.chance(0.5)) {
    const answer = await bad;
    expectRefusal(answer, codes);
    const after = await everything(store, conversation);
    if (JSON.stringify(after) !== JSON.stringify(before))
      throw new Error("a refused batch has changed something");
    if (told.length > 0) throw new Error(`a refused batch was told: ${told.length} ops`);
  } else {
    count("with good writes");
    const good = kernel.write(conversation, {
      agent: "ben",
      plan: (draft) => draft.append(place.block, "good "),
    });
    const answers = await Promise.all([bad, good]);
    expectRefusal(answers[0], codes);
    if (isProblem(answers[1])) throw new Error(`a good write beside a bad one: ${answers[1].message}`);
    if (told.some((op) => op.agent !== "ben")) throw new Error("ops of a refused batch were told");
  }
  await checkReaders(kernel, store, place.block);
}

async function prepare(kernel: Kernel, random: Random, count: (event: string) => void): Promise<Place> {
  const conversation = await kernel.createConversation("model", "batch");
  if (isProblem(conversation)) throw new Error(conversation.message);
  const name = random.pick(Object.keys(TEXTS)) as keyof typeof TEXTS;
  count(name);
  const isPromoted = random.chance(0.5);
  count(isPromoted ? "promoted" : "plain");
  const made = await kernel.write(conversation, {
    agent: "model",
    plan: (draft) => {
      const block = draft.create({ kind: "text", role: "model", status: "running", text: TEXTS[name] });
      const closed = draft.create({ kind: "text", role: "model", status: "done", text: "over" });
      if (isProblem(block) || isProblem(closed)) throw new Error("not made");
      if (isPromoted) draft.promote(block.id);
      return { block: block.id, closed: closed.id };
    },
  });
  if (isProblem(made)) throw new Error(made.message);
  return { ...made, random };
}

interface BadWrite {
  readonly codes: readonly ProblemCode[];
  readonly answer: Promise<unknown>;
}

function badPlan(kernel: Kernel, place: Place, count: (event: string) => void): BadWrite {
  const { random } = place;
  const steps = Array.from({ length: random.between(0, 8) }, () => random.pick(Object.values(GOOD)));
  const name = random.pick(Object.keys(BAD));
  const { code, step } = BAD[name] as (typeof BAD)[string];
  count(name);
  const all = placed(random, steps, step, count);
  const answer = kernel.write(place.block.split("/")[0] as string, {
    agent: "ana",
    key: "k",
    plan: (draft) => runSteps(draft, place, all),
  });
  return { codes: [code], answer };
}

/** The operations of one block.edit: inserts that are fine, and one operation that is not. */
async function badLines(kernel: Kernel, place: Place, count: (event: string) => void): Promise<BadWrite> {
  const { random, block } = place;
  const read = await kernel.whole(block);
  if (isProblem(read)) throw new Error(read.message);
  const lines = linesOf(read.text);
  const name = random.pick(Object.keys(BAD_LINES));
  const { codes, make } = BAD_LINES[name] as (typeof BAD_LINES)[string];
  count(name);
  const good = Array.from({ length: random.between(name === "overlap" ? 1 : 0, 8) }, (): Json => {
    // Between lines, where the bad operation has its hands full.
    const line =
      name === "overlap" && lines.length > 1
        ? random.between(1, lines.length - 1)
        : random.below(lines.length + 1);
    return { op: "insert", line, content: random.text(2) };
  });
  const bad = make(lines);
  const isHarmless = name === "overlap" && lines.length === 1;
  const operations = placed(random, isHarmless ? [...good, bad] : good, bad, count);
  const call = {
    kernel,
    caller: { agent: "ana", role: "agent" } as const,
    key: "k",
    matcher: inlineMatcher(() => 0),
    cursors: new Cursors(kernel),
  };
  return { codes, answer: callTool(call, "block.edit", { block_id: block, operations }) };
}

function placed<T>(random: Random, good: readonly T[], bad: T, count: (event: string) => void): T[] {
  const at = random.below(good.length + 1);
  if (good.length > 1 && at === 0) count("first of several");
  if (good.length > 1 && at === good.length) count("last of several");
  return [...good.slice(0, at), bad, ...good.slice(at)];
}

/** As a tool does: the first problem ends the batch. */
function runSteps(draft: Draft, place: Place, steps: readonly Step[]): number | Problem {
  const random = new Random(steps.length);
  for (const step of steps) {
    const answer = step(draft, { ...place, random });
    if (isProblem(answer)) return answer;
  }
  return steps.length;
}

function expectRefusal(answer: unknown, codes: readonly ProblemCode[]): void {
  if (!isProblem(answer)) throw new Error("a bad batch was taken");
  if (codes.includes(answer.problem)) return;
  throw new Error(`refused as ${answer.problem}, not ${codes}: ${answer.message}`);
}

async function everything(store: MemoryStore, conversation: string): Promise<unknown> {
  const blocks = await store.blocks({ conversation, order: "first", limit: 1e9 });
  const logs = await Promise.all(blocks.map(({ id }) => store.log(id, { version: 0 })));
  const own = await store.conversationOps(conversation, 0);
  return [await store.conversation(conversation), await store.turns(conversation), blocks, logs, own];
}

/** Afterwards the kernel's memory still agrees with the store. */
async function checkReaders(kernel: Kernel, store: MemoryStore, id: BlockId): Promise<void> {
  const whole = await kernel.whole(id);
  const history = await kernel.history(id);
  if (isProblem(whole) || isProblem(history)) throw new Error("cannot be read afterwards");
  const text = await store.text(id);
  if (whole.text !== text || history.toString() !== text)
    throw new Error("the kernel has another text than the store");
  const record = (await store.block(id)) as Block;
  if (record.version !== whole.version || record.chars !== text.length)
    throw new Error("the record does not fit the text");
  const written = await kernel.writeBlock(id, { agent: "ana", plan: (draft) => draft.append(id, "after") });
  if (isProblem(written)) throw new Error(`a write after a refused one: ${written.message}`);
}
