/**
 * The command that goes on with a session: what is pasted into a shell runs nothing else.
 */
import { expect, test } from "vitest";
import { resumeLine } from "./resume-line.ts";

const CASES: readonly (readonly [string, string, string | undefined, string | undefined])[] = [
  ["claude", "01d8-5b34", "/home/me/shop", "cd /home/me/shop && claude --resume 01d8-5b34"],
  ["codex", "019a", undefined, "codex resume 019a"],
  ["claude", "x", "/home/me/my shop", "cd '/home/me/my shop' && claude --resume x"],
  ["claude", "x; rm -rf ~", "/it's", `cd '/it'\\''s' && claude --resume 'x; rm -rf ~'`],
  ["anthropic", "x", undefined, undefined],
  ["claude", "", undefined, undefined],
];
for (const [provider, session, folder, expected] of CASES)
  test(`[V104] ${expected ?? `${provider} has none`}`, () =>
    expect(resumeLine(provider, session, folder)).toBe(expected));
