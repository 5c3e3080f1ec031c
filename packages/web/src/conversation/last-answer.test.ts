/** The screen reader's text when a turn has ended. */
import type { Block, Turn } from "@blockyard/kernel";
import { expect, test } from "vitest";
import { lastAnswer } from "./last-answer.ts";

function seen(turns: readonly string[], blocks: readonly { turn: string; text: string; kind?: string }[]) {
  const made = blocks.map(({ turn, kind = "text" }, i) => ({
    ...{ id: `c/m/${i}`, kind, role: "model", side: false, status: "done", metadata: { turn } },
  })) as unknown as readonly Block[];
  return {
    order: made.map(({ id }) => id),
    blocks: new Map(made.map((block) => [block.id, block])),
    texts: new Map(made.map(({ id }, i) => [id, blocks[i]?.text ?? ""])) as never,
    turns: new Map(turns.map((id, i) => [id, { id, startedAt: i } as unknown as Turn])),
  };
}

test("[V170] the answer of the ended turn is read out, not that of an earlier one", () => {
  const first = { turn: "t1", text: "**Blue**." };
  expect(lastAnswer(seen(["t1"], [first]))).toBe("Answer finished. Blue.");
  const compaction = { turn: "t2", text: "", kind: "error" };
  expect(lastAnswer(seen(["t1", "t2"], [first, compaction]))).toBe("The turn has ended.");
  expect(lastAnswer(seen([], [first]))).toBe("Answer finished. Blue.");
});
