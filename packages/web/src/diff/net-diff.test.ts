/** Several diffs of one file as one. */
import { createPatch } from "diff";
import { expect, test } from "vitest";
import { netRows } from "./net-diff.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`);
const textOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
const SIGNS = { same: " ", add: "+", delete: "-", hunk: "@", note: "\\" } as const;

/** The net change of a file that had each of these contents in turn. */
function net(versions: readonly (readonly string[])[]): readonly string[] | undefined {
  const diffs = versions
    .slice(1)
    .map((lines, i) => createPatch("f", textOf(versions[i] ?? []), textOf(lines)).replace(/^[^@]*/, ""));
  return netRows(diffs)?.map(
    ({ type, old, new: now, text }) => `${SIGNS[type]}${old ?? ""}:${now ?? ""} ${text}`,
  );
}

test("[V105] a line that was changed twice is one change", () => {
  const [before, between, after] = [numbered(9), numbered(9), numbered(9)];
  between[4] = "five";
  after[4] = "FIVE";
  expect(net([before, between, after])).toEqual([
    "@: ",
    " 2:2 line 2",
    " 3:3 line 3",
    " 4:4 line 4",
    "-5: line 5",
    "+:5 FIVE",
    " 6:6 line 6",
    " 7:7 line 7",
    " 8:8 line 8",
  ]);
});

test("[V105] an addition that was removed again is no change", () => {
  const before = numbered(9);
  expect(net([before, [...before.slice(0, 4), "new", ...before.slice(4)], before])).toEqual([]);
  expect(net([before, before.with(3, "other"), before])).toEqual([]);
});

test("[V105] places that are far apart keep their numbers, in whichever order they were changed", () => {
  const before = numbered(60);
  const first = before.with(49, "fifty");
  const second = ["top", ...first];
  const third = second.toSpliced(30, 2);
  expect(net([before, first, second, third])).toEqual([
    "+:1 top",
    ...[1, 2, 3].map((i) => ` ${i}:${i + 1} line ${i}`),
    "@: ",
    ...[27, 28, 29].map((i) => ` ${i}:${i + 1} line ${i}`),
    "-30: line 30",
    "-31: line 31",
    ...[32, 33, 34].map((i) => ` ${i}:${i - 1} line ${i}`),
    "@: ",
    ...[47, 48, 49].map((i) => ` ${i}:${i - 1} line ${i}`),
    "-50: line 50",
    "+:49 fifty",
    ...[51, 52, 53].map((i) => ` ${i}:${i - 1} line ${i}`),
  ]);
});

test("[V105] a new file is its final content", () => {
  expect(net([[], ["a", "b", "c"], ["a", "B", "c", "d"]])).toEqual(["+:1 a", "+:2 B", "+:3 c", "+:4 d"]);
});

test("[V105] a diff without a place, or one that does not fit, has no net change", () => {
  const fits = "@@ -1,2 +1,2 @@\n-one\n+two\n three\n";
  expect(netRows([fits, "@@ -1,2 +1,2 @@\n-two\n+four\n three\n"])).toBeDefined();
  expect(netRows([fits, "@@ -1,2 +1,2 @@\n-one\n+four\n three\n"])).toBeUndefined();
  expect(netRows([fits, "@@ -0,1 +0,1 @@\n-two\n+four\n"])).toBeUndefined();
  expect(netRows([fits, ""])).toBeUndefined();
  // Added lines have a place without any lines around them.
  expect(netRows([fits, "@@ -1,0 +2 @@\n+x\n"])?.map(({ text }) => text)).toEqual([
    "one",
    "two",
    "x",
    "three",
  ]);
});

test("[V105] the net change of random edits turns the first file into the last", () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  let told = 0;
  for (let round = 0; round < 300; round++) {
    const versions = [numbered(5 + random(40))];
    for (let edit = 0; edit < 1 + random(5); edit++) {
      const lines = [...(versions.at(-1) ?? [])];
      for (let i = 0; i < 1 + random(3); i++)
        lines.splice(
          random(lines.length + 1),
          random(4),
          ...numbered(random(3)).map((word) => `${word} ${round}:${edit}`),
        );
      versions.push(lines);
    }
    const rows = net(versions);
    if (rows === undefined) continue;
    told++;
    const file: string[] = [...(versions[0] ?? [])];
    const deleted = rows.filter((row) => row.startsWith("-")).map((row) => Number(/\d+/.exec(row)?.[0]));
    for (const at of deleted.toReversed()) file.splice(at - 1, 1);
    for (const row of rows.filter((each) => each.startsWith("+"))) {
      const [, at, text = ""] = /^\+:(\d+) (.*)$/.exec(row) ?? [];
      file.splice(Number(at) - 1, 0, text);
    }
    expect(file).toEqual(versions.at(-1));
  }
  // An edit that changed nothing has no diff.
  expect(told).toBeGreaterThan(250);
});
