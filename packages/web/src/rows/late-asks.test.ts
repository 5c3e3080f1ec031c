/** Which asks are still answered after a restart. */
import type { Block, Turn } from "@blockyard/kernel";
import { expect, test } from "vitest";
import { isLateAsk, lateAsks } from "./late-asks.ts";

const cut = { id: "t2", status: "error", reason: "interrupted", startedBy: "ann", startedAt: 2 };

function seen(state: string, turns: readonly object[]) {
  const block = { id: "c/claude/1", metadata: { turn: "t2", ask: { id: "a", kind: "permission", state } } };
  return {
    block: block as unknown as Block,
    order: [block.id],
    blocks: new Map([[block.id, block as unknown as Block]]),
    turns: new Map((turns as readonly Turn[]).map((turn) => [turn.id, turn])),
  };
}

test.each<[string, string, readonly object[], boolean]>([
  ["was cut off by a restart", "expired", [{ id: "t1", startedAt: 1 }, cut], true],
  ["was answered since", "allowed", [cut], false],
  ["is of a turn that was stopped", "expired", [{ ...cut, reason: "cancelled" }], false],
  ["is of a stream", "expired", [{ ...cut, startedBy: undefined }], false],
  ["is of an earlier turn", "expired", [cut, { id: "t3", status: "done", startedAt: 3 }], false],
  ["has a turn that nobody knows", "expired", [], false],
])("[CM17] an ask that %s", (_, state, turns, isLate) => {
  const view = seen(state, turns);
  expect(isLateAsk(view, view.block)).toBe(isLate);
  expect(lateAsks(view)).toEqual(isLate ? [view.block.id] : []);
});
