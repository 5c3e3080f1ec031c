/** The lines of calls and of thoughts. */
import { expect, it } from "vitest";
import { callLine, cameWords, errorBelow, firstSentence, onlyChange } from "./call-line.ts";
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
  [call({ toolName: "mcp__lab__add", compactParams: "1" }), [], "lab: add: 1"],
  [
    call({ toolName: "Bash", compactParams: "List", input: { command: "ls -la", description: "List" } }),
    [],
    "$ ls -la (List)",
  ],
  [call({ toolName: "exec_command", input: { cmd: ["ls", "-la"] } }), [], "$ ls -la"],
  [call({ toolName: "Bash", compactParams: "x" }), [ran({ command: "a &&\n  b" })], "$ a && ↵ b"],
  [call({ toolName: "command_execution", compactParams: "ls" }), [], "Run: ls"],
  [
    call({
      toolName: "command_execution",
      compactParams: "echo $'hi'",
      input: { command: `/bin/bash -lc "echo \\$'hi'"` },
    }),
    [],
    "$ echo $'hi'",
  ],
  [
    call({ toolName: "Bash", compactParams: "bash -c 'ls'", input: { command: "bash -c 'ls'" } }),
    [],
    "$ bash -c 'ls'",
  ],
  [call({ toolName: "command_execution", input: { command: "bash -lc ls" } }), [], "$ bash -lc ls"],
  [call({ toolName: "AskUserQuestion", compactParams: "Which?" }), [], "Asked a question: Which?"],
  [
    call({
      toolName: "AskUserQuestion",
      compactParams: "Which?",
      ask: {
        id: "a",
        kind: "question",
        state: "asked",
        questions: [
          { id: "1", text: "Which?" },
          { id: "2", text: "Why?" },
        ],
      },
    }),
    [],
    "Asked 2 questions: Which?",
  ],
  [call({ toolName: "ExitPlanMode", compactParams: "# Plan" }), [], "Plan: "],
  [call({ toolName: "ExitPlanMode", compactParams: "## Round prices" }), [], "Plan: Round prices"],
  [
    call({
      toolName: "ExitPlanMode",
      compactParams: "# Round prices",
      ask: { id: "a", kind: "plan", state: "asked", plan: "c/1" },
    }),
    [],
    "Plan: ",
  ],
  [call({ toolName: "read", displayName: "Read a.ts", compactParams: "Read a.ts" }), [], "Read: a.ts"],
  [
    call({ toolName: "other", displayName: "Look around", compactParams: "Look around" }),
    [],
    "Look around: ",
  ],
  [call({ toolName: "TodoWrite", compactParams: "4 items" }), [], "Updated the to-do list: 4 items"],
  [
    call({ toolName: "TodoWrite", compactParams: "4 items", shortResult: "1/4 done" }),
    [],
    "Updated the to-do list: ",
  ],
  [call({ toolName: "mcp__my__runner" }), [ran({ command: "make" })], "$ make"],
  [call({ toolName: "Edit", compactParams: "a.ts", input: { command: "no" } }), [], "Edit: a.ts"],
])("[V122] %j with %j: %s", (block, results, expected) => {
  const { name, subject, isCommand, purpose } = callLine(block, results);
  const said = isCommand
    ? `$ ${subject}${purpose === undefined ? "" : ` (${purpose})`}`
    : `${name}: ${subject}`;
  expect(said).toBe(expected);
});

const changed = (...changes: readonly object[]): Facts => ({
  kind: "file_change",
  role: "tool",
  status: "done",
  metadata: { changes } as Facts["metadata"],
});

it.each([
  [[changed({ path: "a.ts", kind: "modify" })], "a.ts"],
  [[changed({ path: "a.ts", kind: "modify", movedTo: "b.ts" })], undefined],
  [[changed({ path: "a.ts", kind: "modify" }, { path: "b.ts", kind: "add" })], undefined],
  [[changed({ path: "a.ts", kind: "add" }), changed({ path: "b.ts", kind: "add" })], undefined],
  [[changed({ path: "a.ts", kind: "add" }), ran({ command: "make" })], undefined],
  [[changed()], undefined],
  [[], undefined],
])("[V122] of %j the line names the file %s", (results, path) => {
  expect(onlyChange(results)?.path).toBe(path);
});

it.each([
  [[changed({ path: "a.ts", kind: "add" })], "new"],
  [[changed({ path: "a.ts", kind: "delete" })], "deleted"],
  [[changed({ path: "a.ts", kind: "modify" })], undefined],
  [[changed({ path: "a.ts", kind: "add", movedTo: "b.ts" })], "1 file"],
  [[], "1 file"],
])("[V122] of %j the line does not count the file that it names, but says %s", (results, expected) => {
  expect(cameWords(call({ toolName: "Edit", shortResult: "1 file" }), results)).toBe(expected);
});

it("[V129] a call whose question was answered shows the answer", () => {
  const asked = {
    id: "a",
    kind: "question",
    questions: [{ id: "1", question: "Which?", multiple: false, options: [] }],
  };
  const raw = 'User has answered your questions: "Which?"="Half up". You can now continue';
  const with_ = (ask: object): Facts =>
    call({ toolName: "AskUserQuestion", shortResult: raw, ask: { ...asked, ...ask } });
  const answer = { questions: { 1: { chosen: ["Half up"] } } };
  expect(cameWords(with_({ state: "answered", answer }), [])).toBeUndefined();
  expect(cameWords(with_({ state: "answered" }), [])).toBe(raw);
  expect(cameWords(call({ toolName: "Read", shortResult: "2 lines" }), [])).toBe("2 lines");
});

it("[V122] that a call failed is shown once, at the end of its line", () => {
  const failed = { toolName: "mcp__lab__fail", success: false };
  expect(cameWords(call({ ...failed, shortResult: "failed" }), [])).toBeUndefined();
  expect(cameWords(call({ ...failed, shortResult: "no such file" }), [])).toBe("no such file");
  const stopped = {
    ...call({ toolName: "Bash", reason: "cancelled", shortResult: "interrupted" }),
    status: "error",
  } as const;
  expect(cameWords(stopped, [])).toBeUndefined();
});

it("[V122] an error that no result tells is shown below, and not in the line", () => {
  const failed = { toolName: "mcp__lab__fail", success: false, error: "no such tool" };
  expect(errorBelow(call(failed), [])).toBe("no such tool");
  expect(errorBelow(call(failed), [ran({ command: "make" })])).toBeUndefined();
  expect(errorBelow(call({ ...failed, reason: "cancelled" }), [])).toBeUndefined();
  const ask = { id: "a", kind: "permission", state: "denied" };
  expect(errorBelow(call({ ...failed, ask }), [])).toBeUndefined();
});

it.each([
  ["The user wants X. Then Y.", "The user wants X."],
  ["\n\n**Looking at the test**\n\nList files.", "Looking at the test"],
  ["**Look.** Then list.", "**Look.**"],
  ["**a** and **b**", "**a** and **b**"],
  ["****", "****"],
  ["no end here", "no end here"],
  ["version 1.2.3 is out. Good", "version 1.2.3 is out."],
  ["“Is it?” she said", "“Is it?”"],
  ["", ""],
  ["y".repeat(500), "y".repeat(160)],
])("[V126] of %j: %j", (text, sentence) => {
  expect(firstSentence(text)).toBe(sentence);
});
