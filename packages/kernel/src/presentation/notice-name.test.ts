/** Names of notices. */
import { expect, it } from "vitest";
import { isNoticeLine, noticeName } from "./notice-name.ts";

const NAMES: readonly (readonly [string | undefined, string, string | undefined])[] = [
  ["retry", "Retrying: overloaded 529", undefined],
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
