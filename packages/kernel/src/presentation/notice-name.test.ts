/** Names of notices. */
import { expect, it } from "vitest";
import { noticeName } from "./notice-name.ts";

const NAMES: readonly (readonly [string | undefined, string, string | undefined])[] = [
  ["retry", "Retrying: overloaded 529", undefined],
  ["retry", "Reconnecting... 2/5", "retry"],
  ["rate_limit", "Rate limit reached", undefined],
  ["rate_limit", "80 % used", "rate limit"],
  ["warning", "", "warning"],
  [undefined, "Said in passing", undefined],
];
for (const [notice, text, name] of NAMES)
  it(`[V133] a notice ${notice} that says "${text}" is named ${name}`, () =>
    expect(noticeName(notice, text)).toBe(name));
