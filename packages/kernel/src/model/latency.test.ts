/** What a person waits for, as the sum of all delays along the way. */
import { expect, it } from "vitest";
import { latency, lineSeenWithinMs, seenWithinMs } from "./latency.ts";
import { limits } from "./limits.ts";

it("[K15] text is on the screen within 156 ms, a whole line within 56 ms, besides the work", () => {
  expect([seenWithinMs, lineSeenWithinMs]).toEqual([156, 56]);
});

it("the kernel's limits are those of the table", () => {
  expect([limits.appendFlushChars, limits.appendFlushMs, limits.batchMs]).toEqual([
    latency.flushChars,
    latency.flushMs,
    latency.throttleMs,
  ]);
});
