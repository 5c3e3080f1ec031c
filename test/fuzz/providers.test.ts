/** A short run of the providers' fuzzer, over the same seeds every time. The long one is `npm run fuzz`. */
import { expect, it } from "vitest";
import { clean, runSeeds } from "./fuzz.ts";
import { fuzz } from "./providers.fuzz.ts";

it("[P21] [R33] 5,000 mutated events", async () => {
  const report = await runSeeds(fuzz, 1, 25);
  expect(report).toMatchObject(clean);
  expect(report.hits["events"]).toBeGreaterThanOrEqual(5_000);
});
