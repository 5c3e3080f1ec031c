/**
 * How full the context is, from what providers say of their turns.
 */
import type { Block, BlockId, Turn, Usage } from "@blockyard/kernel";
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
const told = (turns: readonly Turn[], said: readonly Said[]) => ({
  turns: new Map(turns.map((each) => [each.id, each])),
  order: said.map((_, i) => `c/a/${i}` as BlockId),
  blocks: new Map(said.map((each, i) => [`c/a/${i}` as BlockId, each])),
});
for (const [what, turns, expected] of CASES)
  test(`[V104] how full the context is: ${what}`, () =>
    expect(contextUse(told(turns, []))).toEqual(expected));

type Said = Pick<Block, "role" | "side" | "metadata">;
const ANSWER: Said = { role: "model", side: false, metadata: {} };
const BESIDE: Said = { ...ANSWER, side: true };
const notice = (name: string, extra = {}): Said => ({
  ...{ role: "system", side: false },
  metadata: { notice: name, extra },
});
const COMPACTED = notice("compaction", { trigger: "manual", post_tokens: 2_600 });
const SUMMARY = notice("compaction");
const CLEARED = notice("reset");
const FULL = [turn("a", 1, { messages: { m1: { usage: usage(84_000, 60) } }, native: window(200_000) })];

const EMPTIED: readonly (readonly [string, readonly Said[], number | undefined])[] = [
  ["compacted", [ANSWER, COMPACTED, SUMMARY], 2_600],
  ["compacted, and a sub-agent has gone on", [ANSWER, COMPACTED, SUMMARY, BESIDE], 2_600],
  ["answered since", [ANSWER, COMPACTED, SUMMARY, ANSWER], 84_060],
  ["compacted, nobody says to how much", [ANSWER, SUMMARY], 84_060],
  ["cleared: not known before the next answer", [ANSWER, COMPACTED, CLEARED], undefined],
  ["answered since it was cleared", [ANSWER, CLEARED, ANSWER], 84_060],
];
for (const [what, said, expected] of EMPTIED)
  test(`[V104] how full the context is: ${what}`, () =>
    expect(contextUse(told(FULL, said))?.usedTokens).toBe(expected));
