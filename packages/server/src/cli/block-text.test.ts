/** Blocks as terminal text: a long one shows its ends and counts the rest. */
import type { BlockSnapshot, TurnView } from "@blockyard/kernel";
import { expect, test } from "vitest";
import { commandSummary, timeline } from "../export/timeline.ts";
import type { ExportNode } from "../export/tree.ts";
import { blockText, itemText, nodeText, turnText } from "./block-text.ts";
import { styleFor } from "./terminal.ts";

const options = { style: styleFor({ isTTY: false } as typeof process.stdout), width: 80, isFull: false };

function blockOf(kind: string, content: string, metadata: object = {}, status = "done"): BlockSnapshot {
  return { kind, content, metadata, status, role: "tool" } as unknown as BlockSnapshot;
}

function shownOf(block: BlockSnapshot, call?: BlockSnapshot): readonly string[] {
  return blockText(block, options, call)
    .trimEnd()
    .split("\n")
    .map((line) => line.trim());
}

const numbered = (count: number, mark = "") =>
  Array.from({ length: count }, (_, i) => `${mark}line ${i + 1}\n`).join("");
const every = (count: number, from = 1) =>
  Array.from({ length: count - from + 1 }, (_, i) => `line ${from + i}`);
const ENDS = ["line 1", "line 2", "line 3", "line 4", "… 5 more lines", "line 10", "line 11", "line 12"];

test.each<[string, BlockSnapshot, readonly string[]]>([
  ["a result of ten lines", blockOf("tool_result", numbered(10)), every(10)],
  ["a result of twelve", blockOf("tool_result", numbered(12)), ENDS],
  ["code", blockOf("code", numbered(12)), ENDS],
  ["a result that is an error", blockOf("tool_result", numbered(20), { isError: true }), every(20, 9)],
  ["a command", blockOf("command", numbered(12), { command: "seq", exitCode: 0 }), ["$ seq", ...ENDS]],
  [
    "a command that failed",
    blockOf("command", numbered(20), { command: "seq", exitCode: 3 }),
    ["$ seq", ...every(20, 9), "exit 3"],
  ],
  [
    "a command that was run again",
    blockOf("command", numbered(12), { command: "seq", notice: "rerun" }),
    ["$ seq", ...every(12)],
  ],
])("[V25] [V40] of %s it shows the ends", (_, block, expected) => {
  expect(shownOf(block)).toEqual(expected);
});

test("[V122] a command whose output was cut shows its size, not the last line that was kept", () => {
  const kept = "line 1\nline 2\nli";
  expect(commandSummary(blockOf("command", kept, { exitCode: 0 }))).toBe("li");
  expect(commandSummary(blockOf("command", kept, { truncatedChars: 508_894 }))).toBe("508,910 characters");
});

test("[V40] a line wider than the terminal says that it is cut", () => {
  const wide = options.width - 2;
  expect(shownOf(blockOf("tool_result", `${"x".repeat(wide)}\n${"y".repeat(wide + 1)}\n`))).toEqual([
    "x".repeat(wide),
    `${"y".repeat(wide - 1)}…`,
  ]);
});

test("[U64] a warning is whole: broken between words on a terminal, in one piece in a pipe", () => {
  const words =
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen";
  const warning = blockOf("error", words, { notice: "warning", code: "x" });
  const said = `· warning ${words}`;
  expect(shownOf(warning).join(" ")).toBe(said);
  expect(shownOf(warning).length).toBeGreaterThan(1);
  const piped = { ...options, lineWidth: Number.POSITIVE_INFINITY };
  expect(blockText(warning, piped)).toBe(`${said}\n`);
  const failed = { status: "error", error: words } as TurnView;
  expect(turnText(failed, piped)).toContain("fifteen sixteen");
});

test("[V25] a result whose call a person allowed is whole, and so is a diff of thirty lines", () => {
  const call = blockOf("tool_call", "{}", {
    toolName: "Bash",
    ask: { id: "a", kind: "permission", state: "allowed", answeredBy: "ann" },
  });
  expect(shownOf(blockOf("tool_result", numbered(12)), call)).toEqual(every(12));
  const diff = (count: number) => {
    const changes = [{ path: "a.txt", kind: "add", diff: numbered(count, "+") }];
    return blockOf("file_change", "", { changes });
  };
  expect(shownOf(diff(30))).toHaveLength(31);
  // A longer one begins with its first thirty.
  expect(shownOf(diff(40)).slice(1)).toEqual(every(30).map((line) => `+${line}`));
  const result = {
    block: blockOf("tool_result", numbered(12)),
    work: [],
    results: [],
    nested: [],
    branches: [],
  };
  expect(nodeText({ ...result, block: call, results: [result] }, options)).toContain("line 7");
  const read = blockOf("tool_call", "{}", {
    toolName: "Read",
    compactParams: "a.txt",
    shortResult: "12 lines",
  });
  const quiet = { ...result, block: read, results: [result] };
  expect(nodeText(quiet, options)).toBe("● Read a.txt · 12 lines\n");
  expect(nodeText(quiet, { ...options, isFull: true })).toContain("line 7");
});

test("[V25] a file that was moved is shown with its new place", () => {
  const changes = [{ path: "a.txt", kind: "modify", diff: "", movedTo: "lib/b.txt" }];
  expect(shownOf(blockOf("file_change", "", { changes }))).toEqual(["modify a.txt", "moved to lib/b.txt"]);
});

test("[V121] consecutive quiet ones are one line, and every one of them in full", () => {
  const part = { work: [], results: [], nested: [], branches: [] };
  const nodes = ["a.txt", "b.txt"].map((compactParams) => ({
    ...part,
    block: blockOf("tool_call", "{}", { toolName: "Read", compactParams }),
  }));
  const shown = (isFull: boolean) =>
    timeline(nodes, undefined).map((item) => itemText(item, { ...options, isFull }));
  expect(shown(false)).toEqual(["▸ Read 2 files\n"]);
  expect(shown(true)).toEqual(["● Read a.txt\n● Read b.txt\n"]);
});

test("[V133] what an agent's own command answers is whole, other notices are one line", () => {
  const text = `Total cost:  $0.02\n${"wide ".repeat(30).trim()}`;
  const noted = (notice: string) => shownOf(blockOf("text", text, { notice }));
  expect(noted("local_command")).toEqual(text.split("\n"));
  expect(noted("warning")).toHaveLength(1);
});

test("[E15] the report of a sub-agent is shown once, behind its work", () => {
  const node = (block: BlockSnapshot, more: object = {}) =>
    ({ block, work: [], results: [], nested: [], branches: [], ...more }) as ExportNode;
  const said = (content: string) => node({ ...blockOf("text", content), role: "model" } as BlockSnapshot);
  const call = blockOf("tool_call", "{}", { toolName: "Agent", compactParams: "Count" });
  const shown = (report: string) =>
    nodeText(
      node(call, {
        work: [said("I look."), said("Five files.")],
        results: [node(blockOf("tool_result", report, { toolName: "Agent" }))],
      }),
      options,
    );
  expect(shown("Five files.\n").match(/Five files\./g)).toHaveLength(1);
  expect(shown("Five files.\n")).toContain("I look.");
  expect(shown("Five files, all small.").match(/Five files/g)).toHaveLength(2);
});

test("[U13] why a turn failed is shown once", () => {
  const turn = { status: "error", reason: "failed", error: "It died.", model: "m" } as TurnView;
  const error = blockOf("error", "It died.");
  const other = blockOf("error", "Another thing");
  expect(turnText(turn, options, [error])).toBe("── failed · m\n\n");
  expect(turnText(turn, options, [error, other])).toBe("── failed · m\n\n");
  expect(turnText(turn, options, [other])).toBe("── ended: It died. · m\n\n");
  expect(turnText(turn, options)).toBe("── ended: It died. · m\n\n");
});

test("[V124] a prompt is under the name of its author, as on the page", () => {
  const prompt = (metadata: object) => ({ ...blockOf("text", "Hi", metadata), role: "user", agent: "ann" });
  const heads = [{}, { author: "blockyard" }, { author: "bob" }].map(
    (metadata) => shownOf(prompt(metadata) as BlockSnapshot)[0],
  );
  expect(heads).toEqual(["❯ ann", "❯ Blockyard", "❯ bob"]);
});

test("[U92] the foot of a turn says that no usage was reported, and nothing of one that failed", () => {
  const turn = { turn: "t", provider: "kimi", agent: "kimi", started_at: 0, model: "k2" };
  const foot = (more: object) => turnText({ ...turn, ...more } as unknown as TurnView, options).trim();
  expect(foot({ status: "done" })).toBe("── k2 · usage not reported");
  expect(foot({ status: "done", cost_usd: 0.5 })).toBe("── k2 · $0.50");
  expect(foot({ status: "done", messages: { m: {} } })).toBe("── k2");
  expect(foot({ status: "error", error: "no login" })).toBe("── ended: no login · k2");
});
