/** Whether a session's file says that another process has gone on with it. The real Claude Code is in test/e2e/clis. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bounds } from "../limits.ts";
import { type AddedMessages, saidElsewhere } from "./session-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "blockyard-session-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const record = (type: string, uuid: string, more: object = {}) => ({
  ...{ type, uuid, sessionId: "s", isSidechain: false },
  ...{ message: { role: type, content: [{ type: "text", text: `"uuid":"${uuid}"` }] }, ...more },
});
const ours = [record("user", "u1"), record("assistant", "a1")];
const bookkeeping = { type: "last-prompt", lastPrompt: "x", sessionId: "s" };

it.each<[string, readonly (object | string)[], AddedMessages | undefined]>([
  ["nothing since", [...ours, bookkeeping], undefined],
  [
    "words of another process",
    [...ours, bookkeeping, record("user", "u2"), record("assistant", "x")],
    { prompts: 1, answers: 1 },
  ],
  [
    "calls, commands and an answer in two lines",
    [
      ...ours,
      record("user", "c", { message: { role: "user", content: "<command-name>/model</command-name>" } }),
      record("user", "m", { isMeta: true }),
      record("user", "u2", { message: { role: "user", content: "Go on" } }),
      record("assistant", "x", { message: { role: "assistant", id: "m1", content: [] } }),
      record("assistant", "y", { message: { role: "assistant", id: "m1", content: [] } }),
      record("user", "r", { message: { role: "user", content: [{ type: "tool_result", content: "x" }] } }),
      record("assistant", "z", { message: { role: "assistant", id: "m2", content: [] } }),
    ],
    { prompts: 1, answers: 2 },
  ],
  ["a prompt that nobody has answered", [...ours, record("user", "u2")], undefined],
  ["a sub-agent's words", [...ours, record("assistant", "x", { isSidechain: true })], undefined],
  ["our words are not written yet", [record("assistant", "a0"), record("user", "u1")], undefined],
  ["a line that is torn or no JSON", [...ours, '{"type":"assistant","mess', "noise"], undefined],
  [
    "more than is read",
    [...ours, record("assistant", "x", { filler: "x".repeat(bounds.sessionTailBytes) })],
    undefined,
  ],
])("[D56] %s", async (_, lines, expected) => {
  const place = join(folder, "projects", "-home-ann-shop");
  mkdirSync(place, { recursive: true });
  mkdirSync(join(folder, "projects", "other"));
  writeFileSync(
    join(place, "s.jsonl"),
    lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"),
  );
  const env = { CLAUDE_CONFIG_DIR: folder };
  for (const cwd of ["/home/ann/shop", "/elsewhere"])
    expect(await saidElsewhere({ env, cwd, session: "s" }, "a1")).toEqual(expected);
  expect(await saidElsewhere({ env, cwd: "/home/ann/shop", session: "t" }, "a1")).toBeUndefined();
});
