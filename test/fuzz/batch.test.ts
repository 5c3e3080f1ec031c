/** Batches with one bad step, at the length that every test run can afford. */
import { describe, expect, it } from "vitest";
import { fuzz } from "./batch.fuzz.ts";
import { clean, runSeeds } from "./fuzz.ts";

/** A machine with other work to do takes its time; a run that hangs is ended all the same. */
const patienceMs = 300_000;

describe("[R30] a batch with one bad step", () => {
  it(
    "2,000 cases: text, version and log are unchanged",
    async () => {
      expect(await runSeeds(fuzz, 1, 2_000)).toMatchObject({ ...clean, seeds: 2_000 });
    },
    patienceMs,
  );
});
