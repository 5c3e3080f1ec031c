/** Callers that take one value do not leave a stream open. */

import { problem } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { oneAnswer, type ToolAnswer } from "./streamed-answer.ts";

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
