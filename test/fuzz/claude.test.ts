/** A short run of the Claude Code fuzzer, over the same seeds every time. The long one is `npm run fuzz -- claude`. */
import { expect, it } from "vitest";
import { fuzz } from "./claude.fuzz.ts";
import { clean, runSeeds } from "./fuzz.ts";

it.each([
  [955001061, "a call that is asked about twice"],
  [955001089, "a line that is words"],
  [955001090, "a plan that is asked about twice"],
  [955001188, "a plan that is asked about twice, with a line lost"],
  [955001390, "a plan that is asked about twice, in another order"],
  [771000360, "a request without an id"],
])("[D91] seed %i: %s", async (seed) => {
  expect((await runSeeds(fuzz, seed, 1)).failures).toEqual([]);
});

it("[D91] 500 mutated lines of the control protocol, to the adapter and to the driver", async () => {
  const report = await runSeeds(fuzz, 1, 20);
  expect(report).toMatchObject(clean);
  expect(report.hits["lines"]).toBeGreaterThanOrEqual(450);
});
