/** A short run of ACP's fuzzer, over the same seeds every time. The long one is `npm run fuzz -- acp`. */
import { expect, it } from "vitest";
import { fuzz } from "./acp.fuzz.ts";
import { clean, runSeeds } from "./fuzz.ts";

it("[Y44] 10,000 mutated lines: no crash, nothing left open, no answer to what was not asked", async () => {
  const report = await runSeeds(fuzz, 1, 50);
  expect(report).toMatchObject(clean);
  expect(report.hits["lines"]).toBeGreaterThanOrEqual(10_000);
});

it.each([
  [10, "a session that has a turn and is then named as a sub-agent's"],
  [1084, "a form that is asked again with the same id"],
  [1112, "a diff in a call whose output is shown already"],
  [1205, "a second permission for one call"],
])("[Y44] seed %i: %s", async (seed) => {
  expect(await runSeeds(fuzz, seed, 1)).toMatchObject({ failures: [] });
});
