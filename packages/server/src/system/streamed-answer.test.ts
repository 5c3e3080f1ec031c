/** Callers that take one value do not leave a stream open. */

import { problem } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { STREAM_STEP_MS } from "./limits.ts";
import { oneAnswer, resting, type ToolAnswer } from "./streamed-answer.ts";

it("[T46] a stream is ended for a caller that takes one value", async () => {
  let isOpen = true;
  const items: AsyncIterable<unknown> = {
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: false, value: 1 }),
      return: async () => {
        isOpen = false;
        return { done: true, value: undefined };
      },
    }),
  };
  const answer = await oneAnswer("block.subscribe", { stream: items }, "read the block");
  expect(answer).toMatchObject({ problem: "invalid", message: "block.subscribe streams: read the block" });
  expect(isOpen).toBe(false);
});

it.each<ToolAnswer>([null, { stream: "a word" }, problem("busy", "later")])(
  "[T46] %j is one value",
  async (value) => {
    expect(await oneAnswer("any", value, "")).toBe(value);
  },
);

it.each([
  ["lines that cost next to nothing", 0.01, 1],
  ["lines that cost a quarter of a step", STREAM_STEP_MS / 4, 25],
  ["lines that cost a step each", STREAM_STEP_MS, 100],
  ["lines that are waited for", 1_000, 100],
])("[AC260] a stream of a hundred %s rests once for each step", async (_, itemMs, expected) => {
  let now = 0;
  let rests = 0;
  const made = async function* () {
    for (let i = 0; i < 100; i++) {
      now += itemMs;
      yield i;
    }
  };
  const rest = async () => {
    rests++;
    now += 50;
  };
  const items: number[] = [];
  for await (const item of resting(made(), rest, () => now)) items.push(item);
  expect(items).toHaveLength(100);
  // Behind the last item it asks once more.
  expect(rests - expected).toBeOneOf([0, 1]);
});
