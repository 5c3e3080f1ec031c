/** When a turn that stopped at a usage limit can continue. */
import type { Block, Turn } from "@blockyard/kernel";
import { expect, test } from "vitest";
import { limitOf } from "./usage-limit.ts";

const TURN = { id: "t", provider: "claude", agent: "claude", status: "error", startedAt: 0 } as Turn;

function view(metadata: Record<string, unknown>) {
  const block = { id: "c/claude/1", metadata: { turn: "t", ...metadata } } as unknown as Block;
  return { order: [block.id], blocks: new Map([[block.id, block]]) };
}

const NONE = { order: [], blocks: new Map() };

test("[CM9] as Claude Code states it in the turn, in seconds", () => {
  const extra = { status: "rejected", resetsAt: 1_800_000_000 };
  expect(limitOf(view({ notice: "rate_limit", extra }), TURN)).toBe(1_800_000_000_000);
  expect(limitOf(view({ notice: "rate_limit", extra: { ...extra, status: "allowed_warning" } }), TURN)).toBe(
    undefined,
  );
  expect(limitOf(view({ notice: "rate_limit", turn: "other", extra }), TURN)).toBe(undefined);
});

test("[CM9] as Codex states it with the turn: the used-up window that ends last", () => {
  const window = (usedPercent: number, resetsAt: number) => ({ usedPercent, resetsAt });
  const rateLimits = { primary: window(100, 1_800_000_000), secondary: window(100, 1_900_000_000) };
  const turn = { ...TURN, error: "You've hit your usage limit.", native: { rateLimits } } as Turn;
  expect(limitOf(NONE, turn)).toBe(1_900_000_000_000);
  const half = { primary: window(100, 1_800_000_000), secondary: window(40, 1_900_000_000) };
  expect(limitOf(NONE, { ...turn, native: { rateLimits: half } } as Turn)).toBe(1_800_000_000_000);
  // A turn that failed otherwise does not wait for a limit.
  expect(limitOf(NONE, { ...turn, error: "no such model" } as Turn)).toBe(undefined);
});
