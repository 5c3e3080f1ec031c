/** The three-way merge, against a slow and obvious one, and against git's. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Text } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { linesOf } from "./line-diff.ts";
import { mergeTexts, splicesBetween } from "./three-way.ts";

/** The merged text, or undefined where both sides overlap. */
function merged(base: string, mine: string, theirs: string): string | undefined {
  const merge = mergeTexts(base, mine, theirs);
  return merge.type === "overlap" ? undefined : Text.of(mine).apply(merge.splices).toString();
}

const lines = (letters: string) =>
  [...letters].map((letter) => (letter === "." ? "" : `${letter}\n`)).join("");

describe("[F14] by lines", () => {
  const check = (base: string, mine: string, theirs: string, expected: string | undefined) =>
    it(`${base}: ${mine} and ${theirs} are ${expected ?? "a conflict"}`, () => {
      const wanted = expected === undefined ? undefined : lines(expected);
      expect(merged(lines(base), lines(mine), lines(theirs))).toBe(wanted);
      expect(merged(lines(base), lines(theirs), lines(mine))).toBe(wanted);
    });
  check("abcdefg", "abcdefg", "abcdefg", "abcdefg");
  check("abcdefg", "aXcdefg", "abcdefg", "aXcdefg");
  check("abcdefg", "aXcdefg", "abcdeYg", "aXcdeYg");
  check("abcdefg", "Xabcdefg", "abcdefgY", "XabcdefgY");
  check("abcdefg", "acdefg", "abcdfg", "acdfg");
  check("abcdefg", "aXcdefg", "aXcdefg", "aXcdefg");
  check("abcdefg", "aXcdefg", "aXcdeYg", "aXcdeYg");
  check("abcdefg", "aXcYefg", "aXcdefZ", "aXcYefZ");
  check("abc", "aXc", "aYc", undefined);
  check("abcd", "aXcd", "abYd", undefined);
  check("abcd", "abXcd", "abYcd", undefined);
  check("abcd", "abcd", "", "");
  check("abcd", "abXd", "", undefined);
  check("", "X", "Y", undefined);
  check("", "X", "X", "X");
  check("abc", "", "", "");
});

it("[F14] a missing newline at the end is a change like any other", () => {
  expect(merged("a\nb\nc", "A\nb\nc", "a\nb\nc\n")).toBe("A\nb\nc\n");
  expect(merged("a\nb\nc\n", "a\nb\nc", "a\nb\nc\nd\n")).toBeUndefined();
  expect(merged("a\r\nb\r\nc\r\n", "a\r\nb\r\nC\r\n", "A\r\nb\r\nc\r\n")).toBe("A\r\nb\r\nC\r\n");
});

it("[F15] names the lines of both sides that overlap", () => {
  const merge = mergeTexts(
    lines("abcdefghij"),
    lines("abXYdefghij"),
    lines("abcZdefghij").replace("c\n", "C\n"),
  );
  expect(merge).toEqual({ type: "overlap", regions: [{ line: 2, lines: 2, diskLine: 2, diskLines: 2 }] });
});

it("[F13] only what differs inside a line is touched, and no character is cut in two", () => {
  const between = (from: string, to: string) => splicesBetween(from, to);
  expect(between("const a = 1;\n", "const a = 12;\n")).toEqual([{ at: 11, del: "", ins: "2" }]);
  expect(between("x\u{1f600}y\n", "x\u{1f601}y\n")).toEqual([{ at: 1, del: "\u{1f600}", ins: "\u{1f601}" }]);
  expect(between("\u{1f600}\n", "\u{1f700}\n")).toEqual([{ at: 0, del: "\u{1f600}", ins: "\u{1f700}" }]);
});

it("[F14] is the slow and obvious merge, on 500 random cases", () => {
  const seen = { merged: 0, overlap: 0 };
  for (let seed = 1; seed <= 500; seed++) {
    const { base, mine, theirs } = randomCase(seed);
    const expected = slowMerge(linesOf(base), linesOf(mine), linesOf(theirs));
    expect([seed, merged(base, mine, theirs)]).toEqual([seed, expected]);
    seen[expected === undefined ? "overlap" : "merged"]++;
  }
  expect(Math.min(seen.merged, seen.overlap)).toBeGreaterThan(50);
});

const hasGit = spawnSync("git", ["--version"]).status === 0;

it.skipIf(!hasGit)("[F14] is git's merge, on 100 random cases", { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "blockyard-merge-"));
  try {
    for (let seed = 1_001; seed <= 1_100; seed++) {
      const texts = randomCase(seed);
      const paths = (["mine", "base", "theirs"] as const).map((name) => {
        writeFileSync(join(folder, name), texts[name]);
        return join(folder, name);
      });
      const git = spawnSync("git", ["merge-file", "-p", ...paths], { encoding: "utf8" });
      const expected = git.status === 0 ? git.stdout : undefined;
      expect([seed, merged(texts.base, texts.mine, texts.theirs)]).toEqual([seed, expected]);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it("[F13] turns any text into any other, also with repeated lines", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const next = random(seed);
    const text = () =>
      Array.from({ length: next(40) }, () => `${"abc"[next(3)]}\n`).join("") + (next(2) ? "end" : "");
    const [from, to] = [text(), text()];
    expect(Text.of(from).apply(splicesBetween(from, to)).toString()).toBe(to);
    expect(merged(from, from, to)).toBe(to);
    expect(merged(from, to, from)).toBe(to);
    expect(merged(from, to, to)).toBe(to);
  }
});

it("two large texts without anything in common take no time", () => {
  const text = (sign: string) =>
    Array.from({ length: 100_000 }, (_, i) => `${i % 2 ? "}" : sign + (i % 977)}\n`).join("");
  const began = performance.now();
  const [from, to] = [text("a"), text("b")];
  expect(Text.of(from).apply(splicesBetween(from, to)).toString()).toBe(to);
  expect(performance.now() - began).toBeLessThan(10_000);
});

// ---------------------------------------------------------------------------------------------------------------------

/** Small whole numbers below `most`, decided by the seed. */
function random(seed: number): (most: number) => number {
  let state = seed * 2_654_435_761;
  return (most) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % most;
  };
}

/** Every line is unique, so that there is one way to see what was changed. */
function randomCase(seed: number): { base: string; mine: string; theirs: string } {
  const next = random(seed);
  const base = Array.from({ length: 3 + next(30) }, (_, i) => `line ${i}\n`);
  const common = changed(base, next, "same ", next(2));
  const side = (name: string) => changed(next(4) === 0 ? common : base, next, `${name} `, 1 + next(3));
  return { base: base.join(""), mine: side("mine").join(""), theirs: side("theirs").join("") };
}

function changed(
  of: readonly string[],
  next: (most: number) => number,
  name: string,
  times: number,
): string[] {
  const result = [...of];
  for (let i = 0; i < times; i++) {
    const at = next(result.length + 1);
    const fresh = Array.from({ length: next(3) }, (_, each) => `${name}${i}.${each}\n`);
    result.splice(at, next(3), ...fresh);
  }
  return result;
}

/** Between lines that both sides have kept are sections; in each, at most one side may have changed. */
function slowMerge(base: string[], mine: string[], theirs: string[]): string | undefined {
  const kept = base.filter((line) => mine.includes(line) && theirs.includes(line));
  const cut = (of: string[]) => {
    const parts: string[][] = [[]];
    for (const line of of) {
      if (kept.includes(line)) parts.push([]);
      else parts.at(-1)?.push(line);
    }
    return parts.map((part) => part.join(""));
  };
  const [inBase, inMine, inTheirs] = [cut(base), cut(mine), cut(theirs)];
  let text = "";
  for (const [i, part] of inBase.entries()) {
    const [own, other] = [inMine[i] as string, inTheirs[i] as string];
    if (own !== part && other !== part && own !== other) return undefined;
    text += (own === part ? other : own) + (kept[i] ?? "");
  }
  return text;
}
