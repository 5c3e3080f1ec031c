/** What is grouped, with which words, and which to-do list of a turn is shown. */
import { expect, it } from "vitest";
import { gather, gatheredWords, livingTodos } from "./gather.ts";
import type { Entry } from "./loudness.ts";
import { cutSummary, outputSummary } from "./output-summary.ts";
import { speakerOf } from "./speaker.ts";

it.each([
  ["", []],
  ["q", ["q"]],
  ["qq", ["q+q"]],
  ["nqqnqn", ["n", "q+q", "n", "q", "n"]],
  ["qqnqqq", ["q+q", "n", "q+q+q"]],
])("[V121] %j is gathered as %j", (items, expected) => {
  const found = gather([...items], (item) => item === "q");
  expect(found.map((each) => (typeof each === "string" ? each : each.join("+")))).toEqual(expected);
});

const entry = (name: string): Entry => {
  const isThought = name === "thinking";
  const [toolName = "", state = "done"] = name.split(":");
  const metadata = { toolName, ...(state === "failed" ? { success: false } : {}) };
  return {
    block: {
      kind: isThought ? "thinking" : "tool_call",
      role: "model",
      status: state === "failed" ? "error" : "done",
      metadata: isThought ? {} : metadata,
    },
    results: [],
  };
};

it.each([
  ["Read Read Read Read Grep Grep", 3_100, "Read 4 files, searched twice · 3.1 s"],
  ["Read Grep", 20, "Read 1 file, searched"],
  ["Grep Grep Grep Glob LS", 0, "Searched 3 times, listed 2 folders"],
  ["thinking Bash Bash", 0, "Thought, ran 2 commands"],
  ["thinking thinking", 0, "Thought twice"],
  ["Read Read:failed", 0, "Read 2 files, 1 failed"],
  ["WebSearch WebFetch", 65_000, "Searched the web, fetched 1 page · 1 min 5 s"],
  ["TodoWrite TodoWrite Read", 0, "Updated the to-do list, read 1 file"],
  ["mcp__lab__add mcp__lab__add", 0, "Used lab: add twice"],
  ["KillShell Read KillShell", 0, "Stopped a command twice, read 1 file"],
  ["mcp__lab__add Skill", 0, "Used 2 tools"],
])("[V121] %s: %s ms: %j", (names, tookMs, words) => {
  expect(gatheredWords(names.split(" ").map(entry), tookMs)).toBe(words);
});

it("[V123] a turn has one list, at its first place, with its last content", () => {
  const steps = "1p 2t 3 4t 5p 6t 7t".split(" ").map((step) => ({
    id: step[0] as string,
    turn: Number(step[0]) < 5 ? "a" : "b",
    isPrompt: step.endsWith("p"),
    todo: step.endsWith("t") ? `list ${step[0]}` : undefined,
  }));
  expect([...livingTodos(steps)]).toEqual([
    ["2", "list 4"],
    ["6", "list 7"],
  ]);
});

it("[V123] without a prompt between them two turns have two lists", () => {
  const step = (id: string, turn: string | undefined) => ({ id, turn, isPrompt: false, todo: `list ${id}` });
  expect(livingTodos([step("1", "a"), step("2", "b")]).size).toBe(2);
  expect(livingTodos([step("1", undefined), step("2", undefined)]).size).toBe(1);
});

it.each([
  [["a", "b", ""], "b"],
  [[], ""],
  [["Test Files  2 passed (2)", "     Tests  12 passed (12)", "  Duration  1.2s"], "Tests 12 passed (12)"],
  [
    ["test result: ok. 5 passed; 0 failed; finished in 0.1s", ""],
    "test result: ok. 5 passed; 0 failed; finished in 0.1s",
  ],
  [["===== 3 passed in 0.12s =====", "", "------"], "===== 3 passed in 0.12s ====="],
  [["built in 3s", "======"], "built in 3s"],
  [["# tests 5", "# pass 5", "# fail 0", "# cancelled 0", "# duration_ms 61"], "5 passed"],
  [["ℹ tests 5", "ℹ pass 3", "ℹ fail 2", "ℹ duration_ms 61"], "3 passed, 2 failed"],
  [["x".repeat(500)], `${"x".repeat(119)}…`],
  [["  diff: 'simple'", "}"], "diff: 'simple'"],
  [["ℹ fail 0", "ℹ todo 0", "ℹ duration_ms 115.42"], "0 failed"],
])("[V122] %j is remembered by %j", (lines, summary) => {
  expect(outputSummary(lines)).toBe(summary);
});

it.each([
  [30_000, 508_894, "538,894 characters"],
  [30_000, undefined, undefined],
  [30_000, 0, undefined],
] as const)(
  "[V122] %d characters of an output, and %j that were not kept, are remembered by %j",
  (chars, left, words) => {
    expect(cutSummary(chars, left)).toBe(words);
  },
);

it.each([
  [
    { role: "user", agent: "ann", side: false },
    { createdBy: "ann", provider: "claude", self: "ann" },
    "person You",
  ],
  [
    { role: "user", agent: "bob", side: false },
    { createdBy: "ann", provider: "claude", self: "ann" },
    "person bob",
  ],
  [{ role: "user", agent: "claude", side: false }, { createdBy: "ann", provider: "claude" }, "person ann"],
  [
    { role: "user", agent: "claude", side: true },
    { createdBy: "ann", provider: "claude" },
    "person Claude Code",
  ],
  [{ role: "model", agent: "codex", side: false }, { createdBy: "ann", provider: "claude" }, "agent Codex"],
  [
    { role: "model", agent: "ann", side: false, metadata: { author: "codex" } },
    { createdBy: "ann", provider: undefined },
    "agent Codex",
  ],
  [
    { role: "user", agent: "ann", side: false, metadata: { author: "blockyard" } },
    { createdBy: "ann", provider: "claude" },
    "person Blockyard",
  ],
  [
    { role: "tool", agent: "own-loop", side: true },
    { createdBy: "ann", provider: undefined },
    "agent own-loop",
  ],
  [
    { role: "system", agent: "claude", side: false },
    { createdBy: "ann", provider: "claude" },
    "undefined undefined",
  ],
] as const)("[V124] %j in %j is said by %s", (block, told, expected) => {
  const speaker = speakerOf(block, told);
  expect(`${speaker?.side} ${speaker?.name}`).toBe(expected);
});
