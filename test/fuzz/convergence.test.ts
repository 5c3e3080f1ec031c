/** Convergence, at the length that every test run can afford. `npm run fuzz -- convergence` goes on from there. */
import { describe, expect, it } from "vitest";
import { fuzz } from "./convergence.fuzz.ts";
import { clean, runSeeds } from "./fuzz.ts";

/** A machine with other work to do takes its time; a run that hangs is ended all the same. */
const patienceMs = 300_000;

describe("[R28] convergence", () => {
  it(
    "200 seeds of 3 to 5 replicas and 200 steps",
    async () => {
      expect(await runSeeds(fuzz, 1, 200)).toMatchObject({ ...clean, seeds: 200 });
    },
    patienceMs,
  );
});
