/** A short run of the Claude Code fuzzer, over the same seeds every time. The long one is `npm run fuzz -- claude`. */
import { expect, it } from "vitest";
import { fuzz } from "./claude.fuzz.ts";
import { clean, runSeeds } from "./fuzz.ts";

it("[D91] 500 mutated lines of the control protocol, to the adapter and to the driver", async () => {
  const report = await runSeeds(fuzz, 1, 20);
  expect(report).toMatchObject(clean);
  expect(report.hits["lines"]).toBeGreaterThanOrEqual(450);
});
