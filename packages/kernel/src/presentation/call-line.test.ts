/** What the line of a call and of a thought says. */
import { expect, it } from "vitest";
import { callLine, firstSentence } from "./call-line.ts";
import type { Facts } from "./loudness.ts";

const call = (metadata: Record<string, unknown>): Facts => ({
  kind: "tool_call",
  role: "model",
  status: "done",
  metadata,
});
const ran = (metadata: Record<string, unknown>): Facts => ({
  kind: "command",
  role: "tool",
  status: "done",
  metadata,
});

it.each([
  [call({ toolName: "Read", compactParams: "src/a.ts" }), [], "Read: src/a.ts"],
  [call({ toolName: "mcp__lab__add", compactParams: "1" }), [], "lab · add: 1"],
  [
    call({ toolName: "Bash", compactParams: "List", input: { command: "ls -la", description: "List" } }),
    [],
    "$ ls -la (List)",
  ],
  [call({ toolName: "exec_command", input: { cmd: ["ls", "-la"] } }), [], "$ ls -la"],
  [call({ toolName: "Bash", compactParams: "x" }), [ran({ command: "a &&\n  b" })], "$ a && ↵ b"],
  [call({ toolName: "command_execution", compactParams: "ls" }), [], "command_execution: ls"],
  [call({ toolName: "mcp__my__runner" }), [ran({ command: "make" })], "$ make"],
  [call({ toolName: "Edit", compactParams: "a.ts", input: { command: "no" } }), [], "Edit: a.ts"],
])("[V122] %j with %j: %s", (block, results, expected) => {
  const { name, subject, isCommand, purpose } = callLine(block, results);
  const said = isCommand
    ? `$ ${subject}${purpose === undefined ? "" : ` (${purpose})`}`
    : `${name}: ${subject}`;
  expect(said).toBe(expected);
});

it.each([
  ["The user wants X. Then Y.", "The user wants X."],
  ["\n\n**Looking**\n\nList files.", "**Looking**"],
  ["no end here", "no end here"],
  ["version 1.2.3 is out. Good", "version 1.2.3 is out."],
  ["“Is it?” she said", "“Is it?”"],
  ["", ""],
  ["y".repeat(500), "y".repeat(160)],
])("[V126] of %j: %j", (text, sentence) => {
  expect(firstSentence(text)).toBe(sentence);
});
