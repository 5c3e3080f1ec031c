import { describe, expect, it } from "vitest";
import { HARD, repeated } from "./fragments.ts";
import { RATIO_MAX, worstGrowth } from "./growth.ts";
import { WALKERS } from "./walkers.ts";

const texts = HARD.map((fragment) => repeated(fragment));

describe("[AC80] twice the text costs twice the work", () => {
  it.each(WALKERS.map((walker) => [walker.name, walker] as const))("%s", (_, walker) => {
    const growth = worstGrowth(walker, texts, 20_000);
    expect(growth?.ratio ?? 0, JSON.stringify(growth?.fragment)).toBeLessThanOrEqual(RATIO_MAX);
  });
});
