/** Running seeds, on harnesses made for the purpose: a fuzzer that cannot fail is worthless. */
import { expect, it } from "vitest";
import { clean, type Fuzz, runSeeds } from "./fuzz.ts";

const even: Fuzz = {
  name: "even",
  sometimes: ["even"],
  run: async (seed) => ({ ok: true, hits: seed % 2 === 0 ? { even: 1 } : {} }),
};

it("adds up what happened over the seeds", async () => {
  const report = await runSeeds(even, 1, 10);
  expect(report).toMatchObject(clean);
  expect(report).toMatchObject({ name: "even", seeds: 10, hits: { even: 5 } });
});

it("tells what should have happened and never did", async () => {
  expect((await runSeeds(even, 1, 1)).neverHit).toEqual(["even"]);
});

it("keeps the seed and the detail of a failure, and continues", async () => {
  const odd: Fuzz = {
    ...even,
    run: async (seed) => ({ ok: seed !== 3, detail: `at ${seed}`, hits: { even: 1 } }),
  };
  const report = await runSeeds(odd, 1, 5);
  expect(report).toMatchObject({ seeds: 5, failures: [{ seed: 3, detail: "at 3" }] });
});

it("counts a throw as a failure of that seed", async () => {
  const thrower: Fuzz = {
    ...even,
    run: async () => {
      throw new RangeError("position 7 of 5");
    },
  };
  expect((await runSeeds(thrower, 9, 1)).failures[0]?.detail).toContain("position 7 of 5");
});
