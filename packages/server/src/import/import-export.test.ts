/** Forged exports: values that would break every list that shows them are refused before they are stored. */
import { isProblem, Kernel, limits, MemoryStore } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { nodeEnv } from "../system/env.ts";
import { importStream } from "./import-stream.ts";

const owner = { role: "owner", agent: "ada", by: "token" } as const;
const at = { created_at: 1e12, updated_at: 1e12 };
const HEAD = {
  ...{ type: "conversation", epoch: "e", conversation: "c", seq: 1, title: "t", created_by: "ann", ...at },
  ...{ head: null, sessions: {}, included: [], metadata: {} },
};
const TURN = {
  type: "turn",
  turn: "t1",
  provider: "claude",
  agent: "claude",
  status: "done",
  started_at: 1e12,
};
const BLOCK = {
  ...{ type: "block", block_id: "c/ann/1", agent: "ann", kind: "text", role: "user", status: "done" },
  ...{ parent_id: null, side: false, pruned: false, metadata: {}, content: "hi", ...at },
};

async function imported(head: object, turn: object, block: object) {
  const kernel = new Kernel(nodeEnv, new MemoryStore("here"));
  const lines = [
    { ...HEAD, ...head },
    { ...TURN, ...turn },
    { ...BLOCK, ...block },
    { type: "end", blocks: 1 },
  ];
  const body = async function* () {
    yield Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  };
  const answer = await importStream(kernel, owner, body());
  if (isProblem(answer)) return answer;
  return kernel.conversation(answer.conversation);
}

it.each<[string, object, object, object]>([
  ["a time that is none", { updated_at: 1e300 }, {}, {}],
  ["a block's time that is none", {}, {}, { created_at: -1e300 }],
  ["a turn's time that is none", {}, { ended_at: 1e17 }, {}],
  ["a cost that is no number", {}, { cost_usd: "12" }, {}],
  ["usage that is no number", {}, { usage: { input: "a" } }, {}],
  ["a model that is no name", { model: { a: 1 } }, {}, {}],
  ["a folder that is no text", { metadata: { cwd: 7 } }, {}, {}],
  ["a reason that is none", {}, { reason: "bored" }, {}],
  ["a kind of block that is none", {}, {}, { kind: "txt" }],
  ["a provider without end", { provider: "x".repeat(1_000) }, {}, {}],
])("[E11] refuses %s", async (_, head, turn, block) =>
  expect(await imported(head, turn, block)).toMatchObject({ problem: "invalid" }),
);

it("[E11] cuts a title as every other", async () => {
  const long = { title: "x".repeat(5_000_000) };
  expect(await imported(long, {}, {})).toMatchObject({ title: "x".repeat(limits.titleChars) });
});

it.each([
  ["the last day that there is", 8.64e15],
  ["next year", Date.now() + 365 * 86_400_000],
  ["before the first day", -1e15],
])(
  "[E26] a time of %s is corrected to a possible one, so that it is not sorted above everything new",
  async (_, said) => {
    const before = Date.now();
    const found = await imported(
      { created_at: said, updated_at: said },
      { started_at: said, ended_at: said },
      { created_at: said, updated_at: said },
    );
    if (isProblem(found)) throw new Error(found.message);
    const times = [found.createdAt, found.updatedAt];
    for (const time of times) {
      expect(time).toBeGreaterThanOrEqual(said < 0 ? 0 : before);
      expect(time).toBeLessThanOrEqual(said < 0 ? 0 : Date.now());
    }
  },
);

it("[E11] repeats of a line that it refuses only the beginning", async () => {
  const refused = await imported({}, { type: "x".repeat(1_000_000) }, {});
  expect(refused).toMatchObject({ problem: "invalid", message: expect.stringMatching(/^.{1,200}$/) });
});
