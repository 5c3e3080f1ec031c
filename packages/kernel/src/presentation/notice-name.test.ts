/** Names of notices. */
import { expect, it } from "vitest";
import { isNoticeLine, isNoticeOpen, noticeName, noticePieces } from "./notice-name.ts";

const NAMES: readonly (readonly [string | undefined, string, string | undefined])[] = [
  ["retry", "Retrying: overloaded (529)", undefined],
  ["retry", "Reconnecting... 2/5", "retry"],
  ["rate_limit", "Rate limit reached", undefined],
  ["rate_limit", "80 % used", "rate limit"],
  ["warning", "", "warning"],
  ["elicitation", "A few details", "form"],
  [undefined, "Said in passing", undefined],
];
for (const [notice, text, name] of NAMES)
  it(`[V133] a notice ${notice} that says "${text}" is named ${name}`, () =>
    expect(noticeName(notice, text)).toBe(name));

const LINES: readonly (readonly ["system" | "model", string | undefined, string, boolean])[] = [
  ["system", "local_command", "Set model to opus", true],
  ["system", "local_command", "a\nb", true],
  ["system", "local_command", "## Context Usage\n\n| a | b |\n|---|---|\n", false],
  ["system", "rate_limit", "# 80 %\nused", true],
  ["system", undefined, "short", true],
  ["system", undefined, "x".repeat(200), false],
  ["model", undefined, "short", false],
];
for (const [role, notice, text, isLine] of LINES)
  it(`[V133] ${role} ${notice} "${text.slice(0, 20)}" is ${isLine ? "" : "not "}the line of a notice`, () => {
    const newlines = text.split("\n").length - 1;
    expect(isNoticeLine({ role, chars: text.length, newlines, metadata: { notice } }, text)).toBe(isLine);
  });

it("[V133] what an agent's own command answers is open, with its code as code; other notices are one line, as written", () => {
  const cost = "Total cost:  $0.02\nTotal duration:  1 s";
  expect(isNoticeOpen("local_command", cost)).toBe(true);
  expect(isNoticeOpen("local_command", "Set model to opus")).toBe(false);
  expect(isNoticeOpen("local_command", "a\n".repeat(4_000))).toBe(false);
  expect(isNoticeOpen("retry", cost)).toBe(false);
  expect(noticePieces("local_command", "Set model to `sonnet` for `a\nb`")).toEqual([
    { isCode: false, text: "Set model to " },
    { isCode: true, text: "sonnet" },
    { isCode: false, text: " for `a\nb`" },
  ]);
  expect(noticePieces("warning", "see `a`")).toEqual([{ isCode: false, text: "see `a`" }]);
});
