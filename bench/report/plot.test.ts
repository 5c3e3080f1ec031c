/** Plots: ticks that a person would choose, and a picture that says what it was given. */
import { expect, it } from "vitest";
import { linearTicks, logTicks, type Plot, svgOf } from "./plot.ts";

it.each([
  [10, [0, 2, 4, 6, 8, 10]],
  [7, [0, 2, 4, 6, 8]],
  [0.9, [0, 0.2, 0.4, 0.6, 0.8, 1]],
  [0, [0, 0.2, 0.4, 0.6, 0.8, 1]],
])("a linear axis up to %d has the ticks %j", (max, expected) => {
  expect(linearTicks(max)).toEqual(expected);
});

it.each([
  [5, 100, [5, 10, 20, 50, 100]],
  [1, 1, [1, 2]],
  [3, 40_000, [1, 10, 100, 1_000, 10_000, 100_000]],
])("a logarithmic axis from %d to %d has the ticks %j", (min, max, expected) => {
  expect(logTicks(min, max)).toEqual(expected);
});

const plot: Plot = {
  name: "cost",
  title: "Cost & length <b>",
  x: { label: "characters", isLog: true },
  y: { label: "µs" },
  series: [
    { name: "first", points: [[1_000, 1]] },
    {
      name: "second",
      points: [
        [1_000, 1],
        [10, 3],
      ],
    },
  ],
};

it("draws every series with its points and its name, and takes no markup from texts", () => {
  const svg = svgOf(plot);
  expect(svg.match(/<circle/g)).toHaveLength(3);
  expect(svg).toContain(">first</text>");
  expect(svg).toContain(">second</text>");
  expect(svg).toContain("Cost &amp; length &lt;b&gt;");
  expect(svg).not.toContain("<b>");
  expect(svg).not.toContain("NaN");
});

it("keeps names apart that end at the same place", () => {
  const heights = [...svgOf(plot).matchAll(/class="name" x="[\d.]+" y="([\d.]+)"/g)].map((match) =>
    Number(match[1]),
  );
  expect(Math.abs((heights[0] as number) - (heights[1] as number))).toBeGreaterThanOrEqual(15);
});
