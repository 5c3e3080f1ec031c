/** A short run of the Codex fuzzer, over the same seeds every time. The long one is `npm run fuzz -- codex`. */
import { expect, it } from "vitest";
import { fuzz } from "./codex.fuzz.ts";
import { clean, runSeeds } from "./fuzz.ts";

it.each([
  [104, "an ask whose command ends unanswered does not keep a silent agent alive"],
  [848, "a command that has printed ends as something else"],
  [1837, "a command that is asked about twice"],
])("[D91] seed %i: %s", async (seed) => {
  expect((await runSeeds(fuzz, seed, 1)).failures).toEqual([]);
});

it("[D91] 1,000 mutated lines of an app-server, to the adapter and to the driver", async () => {
  const report = await runSeeds(fuzz, 1, 30);
  expect(report).toMatchObject(clean);
  expect(report.hits["lines"]).toBeGreaterThanOrEqual(1_000);
});
