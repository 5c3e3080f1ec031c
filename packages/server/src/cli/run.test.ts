/** What somebody in a terminal is asked to allow, and how often. */
import { PassThrough } from "node:stream";
import type { BlockSnapshot } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { Follower } from "./follow.ts";
import { askText, typed } from "./run.ts";
import { styleFor } from "./terminal.ts";
import type { Yard } from "./yard.ts";

function asking(block_id: string, approval: object): BlockSnapshot {
  const metadata = { toolName: "Bash", approval: { id: "a", state: "asked", ...approval } };
  return {
    ...{ block_id, metadata, kind: "tool_call", role: "model", status: "running", content: "", version: 1 },
  } as unknown as BlockSnapshot;
}

it("[D7] every character of the input shows, and no title looks like an input", () => {
  const title = 'ls wants to do this:\n{\n  "command": "ls"\n}\u001b[8m';
  const command = `ls ${" ".repeat(500)}\u200b; rm\u00ad -rf \u{e0041}~\u009b2J\u202e`;
  const text = askText(asking("c/claude/1", { title, input: { command } }));
  const [first, ...rest] = text.split("\n");
  expect(first).toBe('ls wants to do this: { "command": "ls" } wants to do this:');
  expect(rest).toEqual([
    "{",
    '  "command": "ls⟨U+0020 ×501⟩⟨U+200B⟩; rm⟨U+00AD⟩ -rf ⟨U+E0041⟩~⟨U+009B⟩2J⟨U+202E⟩"',
    "}",
  ]);
});

it("[D41] [D7] a change shows as a diff above its exact input, with nothing in it that cannot be seen", () => {
  const diff = "--- a\n+++ a\n@@ -0 +0 @@\n-b\u202e\n+c\nThe exact input:\n";
  const text = askText(asking("c/claude/1", { title: "a", input: { path: "a" }, diff }));
  expect(text.split("\n")).toEqual([
    "a wants to do this:",
    ...["  --- a", "  +++ a", "  @@ -0 +0 @@", "  -b⟨U+202E⟩", "  +c", "  The exact input:"],
    ...["The exact input:", "{", '  "path": "a"', "}"],
  ]);
});

it("[D7] the same request on another block is asked for itself", async () => {
  const blocks = [asking("c/bob/1", {}), asking("c/claude/2", {}), asking("c/claude/2", {})];
  const yard = { call: async () => ({ patches: [], new_blocks: blocks, seq: 1 }) } as unknown as Yard;
  const asked: string[] = [];
  const follower = new Follower(yard, "c", 0, {
    text: { style: styleFor({}), width: 80, isFull: false },
    show: async () => undefined,
    ended: async () => undefined,
    asked: async ({ block_id }) => void asked.push(block_id),
  });
  await follower.step(0);
  expect(asked).toEqual(["c/bob/1", "c/claude/2"]);
});

it.each<[string, string, string | undefined, number]>([
  ["a line", " use printf\r", "use printf", 0],
  ["Ctrl-C", "use\u0003", undefined, 1],
  ["Ctrl-D", "\u0004", "", 0],
])("[U13] asked for leave, somebody types %s", async (_, keys, said, interrupts) => {
  const input = new PassThrough();
  let interrupted = 0;
  const answer = typed("Allow it? ", { input, output: new PassThrough(), interrupt: () => interrupted++ });
  input.write(keys);
  expect(await answer).toBe(said);
  expect(interrupted).toBe(interrupts);
});
