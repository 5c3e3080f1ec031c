/**
 * How full the context is, from what providers say of their turns.
 */
import type { Turn, Usage } from "@blockyard/kernel";
import { expect, test } from "vitest";
import { contextUse } from "./context-use.ts";

const usage = (input: number, output: number): Usage => ({
  ...{ input, output },
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
});
const turn = (id: string, startedAt: number, parts: Partial<Turn>): Turn => ({
  ...{ id, startedAt },
  provider: "claude",
  agent: "claude",
  status: "done",
  ...parts,
});
const window = (contextWindow: number) => ({ modelUsage: { opus: { contextWindow } } });

const CASES: readonly (readonly [string, readonly Turn[], unknown])[] = [
  ["nothing is known", [turn("a", 1, {})], undefined],
  [
    "the last request of its own, not a sub-agent's",
    [
      turn("a", 1, {
        model: "opus",
        messages: {
          m1: { usage: usage(10, 5) },
          m2: { usage: usage(40_000, 500) },
          m3: { usage: usage(7, 7), parent: "c/a/1" },
        },
        native: window(200_000),
      }),
    ],
    { usedTokens: 40_500, windowTokens: 200_000 },
  ],
  [
    "a turn that runs has the window of the one before",
    [
      turn("b", 2, { status: "running", messages: { m9: { usage: usage(90_000, 0) } } }),
      turn("a", 1, { messages: { m1: { usage: usage(10, 5) } }, native: window(200_000) }),
    ],
    { usedTokens: 90_000, windowTokens: 200_000 },
  ],
  [
    "Codex says both",
    [turn("a", 1, { native: { last: { totalTokens: 9_000 }, modelContextWindow: 272_000 } })],
    { usedTokens: 9_000, windowTokens: 272_000 },
  ],
  ["no window", [turn("a", 1, { messages: { m1: { usage: usage(10, 5) } } })], undefined],
];
for (const [what, turns, expected] of CASES)
  test(`[V104] how full the context is: ${what}`, () => expect(contextUse(turns)).toEqual(expected));
