/** Cuts, resumes, lost answers and readers that do not read, on real sockets. The long runs are in `npm run faults`. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Random } from "../sim/random.ts";
import { TestHarness } from "./harness.ts";
import { sendThrice, watchAndCut } from "./resume.ts";

let harness: TestHarness;
beforeAll(async () => {
  harness = await TestHarness.start();
});
afterAll(() => harness.stop());

describe("[R15] a viewer that is cut", () => {
  it("[AC40] after every frame in turn sees neither gap nor duplicate", async () => {
    const random = new Random(15);
    const watched = await watchAndCut(harness, "frames", 100, () => random.below(1e9) / 1e9);
    expect(watched.failures).toEqual([]);
    expect(watched.cuts).toBeGreaterThanOrEqual(100);
    expect(watched.counts["ok"]).toBeGreaterThan(30);
    expect(watched.counts["ops"]).toBeGreaterThan(50);
  });

  it("[AC40] at a hundred random bytes sees neither gap nor duplicate", async () => {
    const random = new Random(16);
    const watched = await watchAndCut(harness, "bytes", 100, () => random.below(1e9) / 1e9);
    expect(watched.failures).toEqual([]);
    expect(watched.connections).toBeGreaterThan(100);
    expect(watched.counts["ok"]).toBeGreaterThan(10);
  });
});

describe("[R16] a write whose answer is lost", () => {
  it("[AC41] is applied once, though it is sent three times", async () => {
    const random = new Random(17);
    expect(await sendThrice(harness, 40, () => random.below(1e9) / 1e9)).toEqual({
      lost: 0,
      doubled: 0,
      problems: [],
    });
  });
});
