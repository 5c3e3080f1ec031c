/** The command that resumes a session: pasting it into a shell runs nothing else. */
import { expect, test } from "vitest";
import { resumeLine } from "./resume-line.ts";

const CASES: readonly (readonly [string, string, string | undefined, string | undefined])[] = [
  ["claude", "01d8-5b34", "/home/me/shop", "cd /home/me/shop && claude --resume 01d8-5b34"],
  ["codex", "019a", undefined, "codex resume 019a"],
  ["claude", "x", "/home/me/my shop", "cd '/home/me/my shop' && claude --resume x"],
  ["claude", "x", "/it's; rm -rf ~", `cd '/it'\\''s; rm -rf ~' && claude --resume x`],
  ["claude", "x; rm -rf ~", "/it", undefined],
  ["claude", "--dangerously-skip-permissions", "/it", undefined],
  ["codex", "-c", undefined, undefined],
  ["claude", "x\ny", "/it", undefined],
  ["claude", "x", "-P", undefined],
  ["claude", "x", "relative", undefined],
  ["claude", "x", "/it\n/x", undefined],
  ["claude", "x", "/it\u001b[201~", undefined],
  ["anthropic", "x", undefined, undefined],
  ["claude", "", undefined, undefined],
];
for (const [provider, session, folder, expected] of CASES)
  test(`[V104] ${expected ?? `${provider} has none for ${JSON.stringify([session, folder])}`}`, () =>
    expect(resumeLine(provider, session, folder)).toBe(expected));
