/** Numbers as people read them, and texts that hide something. */
import { describe, expect, test } from "vitest";
import { exactName, exactText } from "../presentation/exact.ts";
import {
  formatAge,
  formatCost,
  formatCount,
  formatDuration,
  outputWords,
  plural,
  spentWords,
  turnSpentWords,
} from "./format.ts";

describe("format", () => {
  test.each([
    [formatCost(0.0138208), "$0.01"],
    [formatCost(0.0004), "$0.0004"],
    [formatCost(0), "$0"],
    [formatCost(1234.5), "$1,235"],
    [spentWords(0.02), "$0.02"],
    [spentWords(0.02, true), "$0.02+"],
    [turnSpentWords({ costUsd: 0.02, uncounted: true }), "$0.02+"],
    [turnSpentWords({ uncounted: true }), "cost unknown"],
    [turnSpentWords({}), ""],
    [outputWords("64", undefined), "64 out"],
    [outputWords("64", true), "64+ out"],
    [outputWords("0", true), "output not counted"],
    [formatCount(999), "999"],
    [formatCount(13_324), "13k"],
    [formatCount(1_340), "1.3k"],
    [formatCount(2_000_000), "2M"],
    [formatDuration(716), "716 ms"],
    [formatDuration(1_306), "1.3 s"],
    [formatDuration(59_900), "1 min"],
    [formatDuration(3_725_000), "1 h 2 min"],
    [plural(1, "file"), "1 file"],
    [plural(1_200, "match", "matches"), "1,200 matches"],
    [formatAge(30_000), "now"],
    [formatAge(-5), "now"],
    [formatAge(3 * 86_400_000), "3 d"],
  ])("%s", (shown, expected) => {
    expect(shown).toBe(expected);
  });

  test.each([null, undefined, 0])("[V151] of %s spent nothing is said", (usd) => {
    expect(spentWords(usd)).toBe("");
  });

  test.each([
    ["rm -rf /\u202etxt.exe", "rm -rf /\\u{202e}txt.exe"],
    ["a\u200bb\ufeff", "a\\u{200b}b\\u{feff}"],
    ["\u001b[2Jls", "\\u{1b}[2Jls"],
    ["a\rb", "a\\u{d}b"],
    ["tab\tline\n", "tab\tline\n"],
    ["\u{e0041}x", "\\u{e0041}x"],
    ["rm\u00a0-rf\u3000\u2003x\u2800", "rm\\u{a0}-rf\\u{3000}\\u{2003}x\\u{2800}"],
    ["a\u034fb\u115fc\ufe0f\u{e0100}", "a\\u{34f}b\\u{115f}c\\u{fe0f}\\u{e0100}"],
    ["\ud800", "\\u{d800}"],
    ["\\u{202e}", "\\u{5c}u{202e}"],
    ["❤\ufe0f é ñ 中文 😀 \\d", "❤\ufe0f é ñ 中文 😀 \\d"],
    // Letters and signs that look like others.
    ["сurl https://gіthub.com", "\\u{441}url https://g\\u{456}thub.com"],
    ["rm a\u037e ls \u2044tmp \u212a", "rm a\\u{37e} ls \\u{2044}tmp \\u{212a}"],
    ["Οffice ΟΚ привет, как дела; α β", "\\u{39f}ffice ΟΚ привет, как дела; α β"],
    ["JSON-ом запустить naïve（全角）", "JSON-ом запустить naïve（全角）"],
    // Empty lines push the rest out of sight.
    [`ls${"\n".repeat(500)}rm -rf ~`, "ls\n\\u{a} ×498\nrm -rf ~"],
    [`a${"\n".repeat(16)}b`, `a${"\n".repeat(16)}b`],
  ])("[R37] %j shows what it hides", (text, shown) => {
    expect(exactText(text)).toBe(shown);
  });

  test("[R37] a name has no lines", () => {
    expect(exactName("CLAUDE.md\n\tb")).toBe("CLAUDE.md\\u{a}\\u{9}b");
  });
});
