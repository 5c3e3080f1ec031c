/** The simulation, at the length that every test run can afford. `npm run fuzz -- simulation --count 2000` is the long one. */
import { describe, expect, it } from "vitest";
import { clean, runSeeds } from "./fuzz.ts";
import { fuzz, simulate } from "./simulation.fuzz.ts";

/** A machine with other work to do takes its time; a run that hangs is ended all the same. */
const patienceMs = 300_000;

describe("[R31] simulation", () => {
  it(
    "[R16] [R21] 50 lives of two kernels on a failing store, with every event that matters",
    async () => {
      expect(await runSeeds(fuzz, 1, 50)).toMatchObject({ ...clean, seeds: 50 });
    },
    patienceMs,
  );

  it("the same seed gives the same trace", async () => {
    const first = await simulate(7);
    expect(await simulate(7)).toEqual(first);
    expect((await simulate(8)).trace).not.toBe(first.trace);
  });
});
