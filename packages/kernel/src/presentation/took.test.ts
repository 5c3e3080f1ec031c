/** The duration of calls, as stated by the agent and by the clock. */
import { expect, it } from "vitest";
import type { AnyMetadata } from "../model/metadata.ts";
import { tookMs } from "./took.ts";

const answered = (answeredAt: number): AnyMetadata => ({
  ask: { id: "1", kind: "permission", state: "allowed", answeredAt },
});

it.each<[string, AnyMetadata, number]>([
  ["by the clock", {}, 9_000],
  ["by its agent", { durationMs: 30 }, 30],
  ["since it started", { startedAt: 4_000 }, 6_000],
  ["not while it waited for an answer", answered(8_500), 1_500],
  ["its agent's own, also where it has asked", { ...answered(8_500), durationMs: 30 }, 30],
  ["nothing where it was answered after it ended", answered(99_000), 0],
  ["nothing where it was cut off", { reason: "interrupted" }, 0],
  ["what its agent says, also where it was cut off", { reason: "interrupted", durationMs: 30 }, 30],
  ["nothing by a clock that was set", { startedAt: -2e9 }, 0],
])("[V122] took: %s", (_, metadata, took) => {
  expect(tookMs(metadata, 1_000, 10_000)).toBe(took);
});
