/**
 * The workspace of the pictures: a small shop, with a conversation in every state that the page has a look for. What was said is
 * recorded, or is said by an agent that stands in; nothing is drawn that a reader could not come across.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isProblem } from "@blockyard/kernel";
import { providers } from "@blockyard/providers";
import { StreamIngest } from "../../../packages/server/src/ingest/ingest-stream.ts";
import { RECORDINGS, recordingPath, replay } from "../../../packages/server/src/turns/replay.ts";
import { openHarness, type PageHarness, say } from "./harness.ts";
import { StandIn, type Step } from "./stand-in.ts";

const FIXTURES = fileURLToPath(new URL("../../../packages/providers/fixtures/", import.meta.url));
/** So many times as fast as it was. */
const AT_ONCE = 10_000;
const WAIT_MS = 30_000;

const PRICE = `import { half } from "./round.ts";

/** What an article costs with a voucher, in cents. */
export function discounted(cents: number, percent: number): number {
  return half((cents * (100 - percent)) / 100);
}
`;
const TOTAL = `import { discounted } from "./price.ts";

export interface Line {
  readonly cents: number;
  readonly count: number;
}

/** What a cart comes to, in cents. */
export function total(lines: readonly Line[], percent = 0): number {
  let sum = 0;
  for (const { cents, count } of lines) sum += cents * count;
  return discounted(sum, percent);
}
`;
const FILES = {
  "README.md": "# Shop\n\nA cart, vouchers and a checkout.\n",
  "package.json": '{\n  "name": "shop",\n  "scripts": { "test": "node --test" }\n}\n',
  "src/price.ts": PRICE,
  "src/round.ts": "export const half = (value: number) => Math.floor(value + 0.5);\n",
  "src/cart/total.ts": TOTAL,
  "test/price.test.ts": 'import test from "node:test";\n',
  ".git/HEAD": "ref: refs/heads/vouchers\n",
};

export interface Showcase extends PageHarness {
  readonly standIn: StandIn;
}

/** A server with the files of the shop and its two recorded sessions: a first start. */
export async function openShowcase(): Promise<Showcase> {
  const standIn = new StandIn();
  const harness = await openHarness({ claude: standIn.program, workspace: "shop" });
  standIn.cwd = harness.root;
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(harness.root, path)), { recursive: true });
    writeFileSync(join(harness.root, path), text);
  }
  return {
    ...harness,
    standIn,
    async close() {
      await harness.close();
      standIn.remove();
    },
  };
}

/** The recorded sessions of a first start, played to their ends; their conversations, the story first. */
export async function firstStart({ kernel, running }: Showcase): Promise<{ story: string; review: string }> {
  const begun = await Promise.all(
    RECORDINGS.map((each) => replay(kernel, each, running.auth.ownerAgent, AT_ONCE)),
  );
  const [review, story] = await Promise.all(
    begun.map(async (each) => {
      if (isProblem(each)) throw new Error(each.message);
      await each.done;
      return each.conversation;
    }),
  );
  return { story: story as string, review: review as string };
}

export interface Story {
  readonly conversation: string;
  /** Plays what is due so long after its beginning. */
  playTo(ms: number): Promise<void>;
  end(): Promise<void>;
}

/** The recorded sessions of a first start, to be played by hand. */
export function openStories(showcase: Showcase): Promise<readonly Story[]> {
  return Promise.all(
    RECORDINGS.map(async ({ name, provider, title, prompt, lineMs }): Promise<Story> => {
      const { conversation, stream } = await listen(showcase, { provider, title, prompt });
      await showcase.kernel.write(conversation, {
        agent: showcase.running.auth.ownerAgent,
        plan: (draft) => draft.conversation({ metadata: { recorded: true } }),
      });
      const lines = readFileSync(recordingPath(name), "utf8").split("\n");
      let next = 0;
      return {
        conversation,
        async playTo(ms) {
          for (; next < lines.length && next * lineMs <= ms; next++)
            await stream.push(Buffer.from(`${lines[next]}\n`));
        },
        async end() {
          await stream.end();
        },
      };
    }),
  );
}

export type Filled = Awaited<ReturnType<typeof fill>>;

/** A conversation in every other state. */
export async function fill(showcase: Showcase) {
  const { kernel, root } = showcase;
  const play = (options: Played) => played(showcase, options);
  const asked = (prompt: string, steps: readonly Step[], more = {}) => ask(showcase, prompt, steps, more);
  const markdown = await play({
    ...{ provider: "claude", name: "claude/text-markdown", title: "Explain the release plan" },
    prompt: "What is in the next release, and what could go wrong?",
  });
  const terminal = await play({
    ...{ provider: "claude", name: "claude/bash-ansi", title: "Print in colours" },
    prompt: "Run the colour check of the terminal.",
  });
  const command = await play({
    ...{ provider: "codex-app-server", name: "codex-app-server/command-ticks", title: "Wait for the queue" },
    until: 22,
  });
  const streaming = await play({
    ...{ provider: "claude", name: recordingPath("claude-shop"), title: "Look into the lost cent" },
    prompt: "A 90 % voucher on €10.00 costs the customer €0.99 instead of €1.00. Find out why and fix it.",
    until: -8,
  });
  await earlierTurns(showcase);
  const stopped = await begin(showcase, "Try the new bundler");
  await kernel.write(stopped, {
    agent: "claude",
    plan: (draft) => {
      const turn = { id: "t", provider: "claude", agent: "claude", startedAt: draft.at } as const;
      draft.setTurn({ ...turn, status: "error", reason: "cancelled" });
      return null;
    },
  });
  const together = await begin(showcase, "Release notes");
  const [notes = ""] = await say(kernel, together, [
    { text: "Write the release notes together with me.", role: "user" },
    { text: "Vouchers are rounded once, half up, at the end.\n", status: "running" },
  ]);
  return {
    ...{ markdown, terminal, command, streaming, together, notes },
    failed: await failedTurn(showcase),
    gathered: await asked("Where is a discount rounded?", GATHERED(root)),
    todo: await asked("Add gift cards to the cart", TODO, { stays: true }),
    longDiff: await asked("Write the tests of the vouchers", LONG_DIFF(root)),
    permissionEdit: await asked("Round half up in discounted()", EDIT(root)),
    permissionCommand: await asked("Delete the migrations of 2019", COMMAND),
    question: await asked("Format dates like the rest of the shop", QUESTION),
    questions: await asked("Set up the checkout's tests", QUESTIONS),
    plan: await asked("Plan the move to integer cents", PLAN),
  };
}

interface Played {
  readonly provider: string;
  readonly name: string;
  readonly title: string;
  /** Where the stream does not say it. */
  readonly prompt?: string;
  /** It is still under way behind this line; below zero, counted from the end. */
  readonly until?: number;
}

async function begin({ kernel, running }: Showcase, title: string): Promise<string> {
  const conversation = await kernel.createConversation(running.auth.ownerAgent, title);
  if (isProblem(conversation)) throw new Error(conversation.message);
  return conversation;
}

/** What was spent in the weeks before: turns of several agents, on most days. */
async function earlierTurns(showcase: Showcase): Promise<void> {
  const conversation = await begin(showcase, "Move the shop to the new API");
  await showcase.kernel.write(conversation, {
    agent: "claude",
    plan: (draft) => {
      for (let day = 1; day <= 26; day++) {
        if (day % 7 === 3 || day % 7 === 4) continue;
        const [provider, model] = day % 3 === 0 ? ["codex", "gpt-5.5"] : ["claude", "claude-opus-5-5"];
        const costUsd = 0.4 + ((day * 37) % 23) / 9;
        const input = Math.round(costUsd * 420_000);
        draft.setTurn({
          ...{ id: `earlier-${day}`, provider: provider as string, agent: provider as string },
          ...{ status: "done", model: model as string, costUsd, durationMs: 60_000 },
          startedAt: draft.at - day * 86_400_000,
          usage: {
            input,
            cacheRead: Math.round(input * 0.85),
            cacheWrite: 0,
            output: Math.round(input / 60),
            reasoning: 0,
          },
        });
      }
      return null;
    },
  });
}

/** A recording, played up to a line or to its end. */
export async function played(showcase: Showcase, recording: Played): Promise<string> {
  const { name, until } = recording;
  const { conversation, stream } = await listen(showcase, recording);
  const path = resolve(FIXTURES, name.endsWith(".jsonl") ? name : `${name}.jsonl`);
  const lines = readFileSync(path, "utf8").split("\n");
  for (const line of lines.slice(0, until)) await stream.push(Buffer.from(`${line}\n`));
  if (until === undefined) await stream.end();
  return conversation;
}

/** A conversation with what was asked for, and a stream into it. */
async function listen(showcase: Showcase, played: Omit<Played, "name" | "until">) {
  const { kernel, running } = showcase;
  const { title, prompt } = played;
  const provider = providers.get(played.provider);
  if (!provider) throw new Error(`no provider ${played.provider}`);
  const agent = running.auth.ownerAgent;
  const conversation = await begin(showcase, title);
  if (prompt !== undefined)
    await kernel.write(conversation, {
      agent,
      plan: (draft) => draft.create({ kind: "text", role: "user", text: prompt, status: "done" }),
    });
  const [name = ""] = played.provider.split("-");
  const stream = new StreamIngest(kernel, { conversation, agent: name, provider });
  await stream.open();
  return { conversation, stream };
}

/** A turn that was asked for here, up to where it asks back, ends or stays. */
export async function ask(
  showcase: Showcase,
  prompt: string,
  steps: readonly Step[],
  { stays = false } = {},
): Promise<string> {
  showcase.standIn.teach(prompt, steps, { stays });
  return start(showcase, prompt, stays ? "running" : undefined);
}

async function start({ running, kernel }: Showcase, prompt: string, until?: "running"): Promise<string> {
  const caller = { agent: running.auth.ownerAgent, role: "owner", by: "token" } as const;
  const answer = await running.tools.call(caller, "turn.start", { provider: "claude", prompt });
  if (isProblem(answer)) throw new Error(answer.message);
  const { conversation } = answer as unknown as { conversation: string };
  for (const since = performance.now(); performance.now() - since < WAIT_MS; ) {
    const record = await kernel.store.conversation(conversation);
    const turns = await kernel.store.turns(conversation);
    const isAsking = (record?.asking?.length ?? 0) > 0;
    if (isAsking || (until === undefined && turns.some(({ status }) => status !== "running"))) break;
    if (until === "running" && performance.now() - since > 1_500) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return conversation;
}

/** The provider refuses, and the turn ends so. */
function failedTurn(showcase: Showcase): Promise<string> {
  const prompt = "Summarise yesterday's log of the checkout";
  const recording = join(FIXTURES, "claude/api-429.jsonl");
  showcase.standIn.play(prompt, { recording, lines: 1_000, act: "exit1" });
  return start(showcase, prompt);
}

const read = (path: string, text: string): Step => ({
  calls: "Read",
  input: { file_path: path },
  result: text
    .split("\n")
    .map((line, i) => `${i + 1}\t${line}`)
    .join("\n"),
});

const GATHERED = (root: string): readonly Step[] => [
  { says: "I look for every place that rounds." },
  {
    calls: "Grep",
    input: { pattern: "Math\\.(floor|round)", path: join(root, "src") },
    result: "src/round.ts:1:export const half = (value: number) => Math.floor(value + 0.5);",
  },
  read(join(root, "src/round.ts"), FILES["src/round.ts"]),
  read(join(root, "src/price.ts"), PRICE),
  read(join(root, "src/cart/total.ts"), TOTAL),
  { calls: "Glob", input: { pattern: "test/**/*.test.ts" }, result: "test/price.test.ts" },
  {
    says: "In one place: `half()` in `src/round.ts`. `discounted()` calls it once, and `total()` calls `discounted()` once for the whole cart, so no cent is rounded twice.",
  },
];

const TODOS = [
  { content: "Model gift cards beside vouchers", activeForm: "Modelling gift cards", status: "completed" },
  { content: "Spend them in the cart", activeForm: "Spending gift cards in the cart", status: "in_progress" },
  { content: "Show what is left on the receipt", activeForm: "Showing what is left", status: "pending" },
  { content: "Test a card that is worth more than the cart", activeForm: "Testing", status: "pending" },
];
const TODO: readonly Step[] = [
  { says: "Four steps. I start with the model." },
  { calls: "TodoWrite", input: { todos: TODOS }, result: "Todos have been modified successfully." },
  {
    says: "Gift cards are modelled. Next they are spent in the cart, after vouchers, so that a voucher never eats a card.",
  },
];

const LONG_TEST = `import assert from "node:assert/strict";
import test from "node:test";
import { discounted } from "../src/price.ts";

${[10, 15, 20, 25, 30, 50, 75, 90, 100]
  .map(
    (percent) => `test("a voucher of ${percent} %", () => {
  assert.equal(discounted(1_000, ${percent}), ${1_000 - percent * 10});
  assert.equal(discounted(0, ${percent}), 0);
});`,
  )
  .join("\n\n")}
`;
const LONG_DIFF = (root: string): readonly Step[] => [
  { says: "One test for each voucher that the shop has sold." },
  {
    calls: "Write",
    input: { file_path: join(root, "test/voucher.test.ts"), content: LONG_TEST },
    result: "File created successfully",
    more: {
      tool_use_result: {
        ...{ type: "create", filePath: join(root, "test/voucher.test.ts"), content: LONG_TEST },
        ...{ structuredPatch: [], originalFile: null, userModified: false },
      },
    },
  },
  { says: "Nine vouchers, each also on an empty cart." },
];

const EDIT = (root: string): readonly Step[] => [
  { says: "`Math.floor` takes the cent. I round half up, once." },
  {
    asks: "Edit",
    input: {
      file_path: join(root, "src/price.ts"),
      old_string: "  return half((cents * (100 - percent)) / 100);",
      new_string:
        "  // Multiplied first: 0.9 has no exact form.\n  const exact = (cents * (100 - percent)) / 100;\n  return half(exact);",
      replace_all: false,
    },
  },
];

const COMMAND: readonly Step[] = [
  { says: "They are not referenced any more; the last one ran in 2020." },
  {
    asks: "Bash",
    input: {
      command: "git rm -r migrations/2019 && npm test",
      description: "Delete old migrations, run the tests",
    },
    more: { description: "Delete old migrations, run the tests" },
  },
];

const LIBRARY = {
  ...{ question: "Which library formats dates?", header: "Dates", multiSelect: false },
  options: [
    { label: "Intl", description: "Built in, no dependency, what the receipts use" },
    { label: "luxon", description: "Small, time zones by name" },
    { label: "date-fns", description: "Functions, one import each" },
  ],
};
const QUESTION: readonly Step[] = [
  { says: "The shop formats dates in two ways. One question before I choose." },
  { asks: "AskUserQuestion", input: { questions: [LIBRARY] } },
];
const QUESTIONS: readonly Step[] = [
  {
    asks: "AskUserQuestion",
    input: {
      questions: [
        {
          ...{ question: "Which browsers do they run in?", header: "Browsers", multiSelect: true },
          options: [
            { label: "Chromium" },
            { label: "Firefox" },
            { label: "WebKit", description: "Slower on Linux" },
          ],
        },
        {
          ...{ question: "When do they run?", header: "Time", multiSelect: false },
          options: [{ label: "On every push" }, { label: "Once a night" }],
        },
      ],
    },
  },
];

const PLAN: readonly Step[] = [
  { says: "I have read the cart, the vouchers and the receipts." },
  {
    asks: "ExitPlanMode",
    input: {
      plan: "# Integer cents\n\n1. Give `Line` a field `cents`, beside `price`\n2. Fill it in the importer, and check both in the tests\n3. Move `total()` and `discounted()` to cents\n4. Remove `price`\n\n**Risk:** receipts of last year have prices only; they stay as they are.\n",
    },
  },
];
