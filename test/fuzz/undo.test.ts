/** Undo, at the length that every test run can afford. `npm run fuzz -- undo --count 5000` is the long one. */
import { describe, expect, it } from "vitest";
import { clean, runSeeds } from "./fuzz.ts";
import { fuzz, undoRun } from "./undo.fuzz.ts";

/** A machine with other work to do takes its time; a run that hangs is ended all the same. */
const patienceMs = 300_000;

describe("[R29] undo", () => {
  it(
    "500 seeds: an undo takes back its agent's own effect alone, a redo gives it back",
    async () => {
      expect(await runSeeds(fuzz, 1, 500)).toMatchObject({ ...clean, seeds: 500 });
    },
    patienceMs,
  );

  it("3 seeds so long that the oldest units pass the horizon", async () => {
    for (const seed of [1, 2, 3]) expect((await undoRun(seed, true)).hits["past the horizon"]).toBe(1);
  });
});
