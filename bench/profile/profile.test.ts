/** Profiles, on one small enough to add up by hand. */
import { expect, it } from "vitest";
import { flameGraph } from "./flame.ts";
import { type CpuProfile, selfTimes, treeOf } from "./samples.ts";

const call = (functionName: string, url = "file:///repo/packages/kernel/src/a.ts", lineNumber = 4) => ({
  functionName,
  url,
  lineNumber,
});

const profile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: call("(root)", ""), children: [2, 5, 6] },
    { id: 2, callFrame: call("outer"), children: [3, 4] },
    { id: 3, callFrame: call("inner<T>", undefined, 9) },
    { id: 4, callFrame: call("inner<T>", undefined, 9) },
    { id: 5, callFrame: call("(idle)", "") },
    { id: 6, callFrame: call("inner<T>", undefined, 9) },
  ],
  samples: [2, 3, 4, 5, 6, 3],
  timeDeltas: [10, 20, 30, 1_000, 5, 40],
};

it("adds up a function below its caller, and leaves waiting out", () => {
  const tree = treeOf(profile, "/repo/");
  const [outer, inner] = [...tree.children.values()];
  expect(tree.totalUs).toBe(105);
  expect(outer).toMatchObject({
    name: "outer",
    place: "packages/kernel/src/a.ts:5",
    selfUs: 10,
    totalUs: 100,
  });
  expect([...(outer?.children.values() ?? [])]).toMatchObject([
    { name: "inner<T>", selfUs: 90, totalUs: 90 },
  ]);
  expect(inner).toMatchObject({ name: "inner<T>", totalUs: 5 });
});

it("lists functions by their own time, wherever they were called", () => {
  expect(selfTimes(treeOf(profile, "/repo/"))).toEqual([
    { name: "inner<T>", place: "packages/kernel/src/a.ts:10", selfUs: 95 },
    { name: "outer", place: "packages/kernel/src/a.ts:5", selfUs: 10 },
  ]);
});

it("draws every frame that can be seen, and takes no markup from names", () => {
  const svg = flameGraph(treeOf(profile, "/repo/"), "all of it");
  expect(svg.match(/<g>/g)).toHaveLength(4);
  expect(svg).toContain("inner&lt;T&gt; packages/kernel/src/a.ts:10 0.1 ms, 85.7 %");
  expect(svg).not.toContain("<T>");
});
