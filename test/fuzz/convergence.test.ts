/** Convergence, at the length that every test run can afford. `npm run fuzz -- convergence` goes on from there. */
import { describe, expect, it } from "vitest";
import { fuzz } from "./convergence.fuzz.ts";
import { clean, runSeeds } from "./fuzz.ts";

describe("[R28] convergence", () => {
  it("500 seeds of 3 to 5 replicas and 200 steps", async () => {
    expect(await runSeeds(fuzz, 1, 500)).toMatchObject({ ...clean, seeds: 500 });
  });

  const check = (seed: number, what: string) =>
    it(`seed ${seed}: ${what}`, async () => {
      expect(await fuzz.run(seed)).toMatchObject({ ok: true });
    });

  check(49, "an update that types and deletes again is kept: what its replica sends next builds on it");
  check(24, "a stream goes on behind its last character after an undo has put that back");
  check(62, "… also if the history was folded in between");
});
