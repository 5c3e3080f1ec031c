import { describe, expect, it } from "vitest";
import { HARD, repeated } from "./fragments.ts";
import { RATIO_MAX, worstGrowth } from "./growth.ts";
import { WALKERS } from "./walkers.ts";

const texts = HARD.map((fragment) => repeated(fragment));

describe("[AC80] twice the text costs twice the work", () => {
  it.each(WALKERS.map((walker) => [walker.name, walker] as const))(
    "%s",
    (_, walker) => {
      const growth = worstGrowth(walker, texts, 20_000);
      expect(growth?.ratio ?? 0, JSON.stringify(growth?.fragment)).toBeLessThanOrEqual(RATIO_MAX);
    },
    120_000,
  );
});

describe("[AC80] the check", () => {
  const ratioOf = (time: (chars: number) => number) => {
    const walker = { name: "made", walk: () => undefined };
    const timeOf = (_: unknown, text: string) => time(text.length);
    return worstGrowth(walker, [repeated("a")], 20_000, timeOf)?.ratio;
  };

  it("sees what is quadratic", () => {
    expect(ratioOf((chars) => (chars / 4_000) ** 2)).toBe(4);
  });

  it("does not mind a budget that begins to be used up", () => {
    expect(ratioOf((chars) => (chars > 20_000 ? 100 : 20))).toBe(1);
  });
});
