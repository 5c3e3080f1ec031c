/** The rules of what is loud, normal and quiet, and of what is open before anybody opens it, as a table. */
import { describe, expect, it } from "vitest";
import { DEEDS, deedOf } from "./deed.ts";
import {
  type Facts,
  formOf,
  inShownOrder,
  isGathered,
  loudnessOf,
  type Result,
  startLines,
  tailLines,
} from "./loudness.ts";

const call = (
  toolName: string,
  status: Facts["status"] = "done",
  more: Record<string, unknown> = {},
): Facts => ({
  kind: "tool_call",
  role: "model",
  status,
  metadata: { toolName, ...more },
});
const result = (
  kind: Facts["kind"],
  more: Record<string, unknown> = {},
  status: Facts["status"] = "done",
): Facts => ({ kind, role: "tool", status, metadata: more });
const said = (kind: Facts["kind"], role: Facts["role"], metadata: Record<string, unknown> = {}): Facts => ({
  kind,
  role,
  status: "done",
  metadata,
});

const PLAN = { path: "/home/dev/.claude/plans/round-up.md", kind: "add" };
const asked = { ask: { kind: "permission", state: "asked" } };
const allowed = { ask: { kind: "permission", state: "allowed", answeredBy: "ann" } };
const answered = {
  ask: {
    kind: "question",
    state: "answered",
    questions: [{ id: "1", question: "Which?", multiple: false, options: [] }],
    answer: { questions: { 1: { chosen: ["Half up"] } } },
  },
};
const approved = { ask: { kind: "plan", state: "allowed", answeredBy: "ann", plan: "c/1" } };
const cutOff = { ask: { kind: "permission", state: "expired" }, reason: "interrupted" };
const failed = { success: false, reason: "failed" };

describe("[V120] how loud", () => {
  it.each([
    ["a prompt", said("text", "user"), [], "normal"],
    ["an answer", said("text", "model"), [], "normal"],
    ["what the system notes", said("text", "system", { notice: "compaction" }), [], "quiet"],
    ["a thought", said("thinking", "model"), [], "quiet"],
    ["what was asked when a restart cut it off", call("Read", "error", cutOff), [], "normal"],
    ["a picture", said("image", "model"), [], "normal"],
    ["what nobody understands", said("unknown", "system"), [], "quiet"],
    ["an error", said("error", "system"), [], "loud"],
    ["a warning", said("error", "system", { notice: "warning", code: "x" }), [], "quiet"],
    ["a failure that is noted", said("error", "system", { notice: "compaction" }), [], "loud"],
    ["a retry", said("error", "system", { notice: "retry", retryable: true }), [], "quiet"],
    ["a call that asks", call("Bash", "running", asked), [], "loud"],
    ["a read", call("Read"), [result("code")], "quiet"],
    ["a read that runs", call("Read", "running"), [], "quiet"],
    [
      "a read that failed",
      call("Read", "error", failed),
      [result("tool_result", { isError: true })],
      "quiet",
    ],
    ["a search", call("grep_search"), [result("tool_result")], "quiet"],
    ["a list", call("list_directory"), [result("tool_result")], "quiet"],
    ["a form that is asked for", said("text", "system", { notice: "elicitation", ...asked }), [], "loud"],
    [
      "a form that was filled in",
      said("text", "system", { notice: "elicitation", ...allowed }),
      [],
      "normal",
    ],
    ["a notice", said("text", "system", { notice: "retry" }), [], "quiet"],
    ["a fetch", call("WebFetch"), [result("tool_result")], "quiet"],
    ["a search of the web", call("web_search"), [], "quiet"],
    ["a command that runs", call("Bash", "running"), [], "normal"],
    ["a command that succeeded", call("Bash"), [result("command", { exitCode: 0 })], "quiet"],
    ["a command that failed", call("Bash", "error", failed), [result("command", { exitCode: 1 })], "normal"],
    ["a command that was stopped", call("Bash", "error", { reason: "cancelled" }), [], "normal"],
    ["a command that a person allowed", call("Bash", "done", allowed), [result("command")], "normal"],
    ["a command that changed a file", call("Bash"), [result("command"), result("file_change")], "normal"],
    ["an edit", call("Edit"), [result("file_change")], "normal"],
    [
      "an edit that failed",
      call("Edit", "error", failed),
      [result("tool_result", { isError: true })],
      "normal",
    ],
    ["the file of a plan", call("Write"), [result("file_change", { changes: [PLAN] })], "quiet"],
    ["a sub-agent", call("Agent"), [result("tool_result")], "normal"],
    ["a plan", call("ExitPlanMode"), [result("tool_result")], "normal"],
    ["a call that was denied", call("Read", "error", { reason: "denied" }), [], "normal"],
    ["another tool", call("mcp__lab__add"), [result("tool_result")], "quiet"],
    ["another tool that failed", call("mcp__lab__fail", "error", failed), [], "normal"],
    ["another tool's picture", call("mcp__lab__picture"), [result("image")], "normal"],
    ["an update of the to-do list", call("TodoWrite"), [result("todo")], "quiet"],
  ] as const)("%s", (_, block, results, loudness) => {
    expect(loudnessOf({ block, results })).toBe(loudness);
  });

  it("the to-do list of its turn is normal; so is what somebody ran again", () => {
    expect(loudnessOf({ block: call("TodoWrite"), results: [result("todo")], isLivingTodo: true })).toBe(
      "normal",
    );
    expect(loudnessOf({ block: call("Bash"), results: [result("command")], isFollowed: true })).toBe(
      "normal",
    );
  });

  it("[V121] only calls and thoughts are gathered", () => {
    expect(isGathered({ block: said("text", "system", { notice: "retry" }), results: [] })).toBe(false);
    expect(isGathered({ block: said("unknown", "system"), results: [] })).toBe(false);
    expect(isGathered({ block: said("thinking", "model"), results: [] })).toBe(true);
    expect(isGathered({ block: call("Read"), results: [] })).toBe(true);
    expect(isGathered({ block: call("Edit"), results: [] })).toBe(false);
  });
});

describe("[V25] what is shown of a result at first", () => {
  const short = { lines: 5, chars: 200 };
  const long = { lines: 500, chars: 20_000 };
  it.each([
    ["a command that runs", result("command", {}, "running"), call("Bash", "running"), long, "tail"],
    [
      "a command that failed",
      result("command", { exitCode: 1 }, "error"),
      call("Bash", "error"),
      long,
      "tail",
    ],
    ["a command that succeeded", result("command", { exitCode: 0 }), call("Bash"), short, "line"],
    ["a command that a person allowed", result("command"), call("Bash", "done", allowed), long, "whole"],
    ["a command that a person ran again", result("command", { notice: "rerun" }), undefined, long, "whole"],
    ["a file that was read", result("code"), call("Read"), short, "line"],
    ["a read that failed", result("tool_result", { isError: true }), call("Read", "error"), short, "line"],
    ["an edit that failed", result("tool_result", { isError: true }), call("Edit", "error"), short, "tail"],
    ["what was found", result("tool_result"), call("Grep"), long, "line"],
    ["another tool's words", result("tool_result"), call("mcp__lab__add"), short, "line"],
    [
      "another tool's failure",
      result("tool_result", { isError: true }),
      call("mcp__lab__fail"),
      short,
      "tail",
    ],
    [
      "a report",
      result("tool_result", { toolName: "Agent" }),
      call("Agent"),
      { lines: 60, chars: 6_000 },
      "whole",
    ],
    [
      "an agent that was only started",
      result("tool_result"),
      call("spawn_agent"),
      { lines: 0, chars: 0 },
      "line",
    ],
    ["a long report", result("tool_result", { toolName: "Agent" }), call("Agent"), long, "ends"],
    ["a diff", result("file_change"), call("Edit"), { lines: 90, chars: 5_000, changed: 30 }, "whole"],
    ["a long diff", result("file_change"), call("Edit"), { lines: 40, chars: 900, changed: 31 }, "start"],
    ["a wide diff", result("file_change"), call("Edit"), { lines: 2, chars: 50_000, changed: 2 }, "start"],
    ["an update of the to-do list", result("todo"), call("TodoWrite"), short, "line"],
    [
      "what a person answered",
      result("tool_result"),
      call("AskUserQuestion", "done", answered),
      short,
      "line",
    ],
    ["a plan's approval", result("tool_result"), call("ExitPlanMode", "done", approved), short, "line"],
    [
      "an answer that failed",
      result("tool_result", { isError: true }),
      call("AskUserQuestion", "done", answered),
      short,
      "tail",
    ],
    [
      "an answer of a session log",
      result("tool_result", { toolName: "AskUserQuestion", result: { answers: { "Which?": "Half up" } } }),
      call("AskUserQuestion"),
      short,
      "line",
    ],
    ["an answer that no ask has", result("tool_result"), call("AskUserQuestion"), short, "whole"],
    ["the file of a plan", result("file_change", { changes: [PLAN] }), call("Write"), short, "line"],
    ["a plan that stands alone", result("todo"), undefined, short, "whole"],
    ["a picture", result("image"), call("mcp__lab__picture"), short, "whole"],
    ["a file of the workspace", result("file"), undefined, short, "whole"],
    ["a long file of the workspace", result("file"), undefined, long, "ends"],
  ] as const)("%s", (_, shown, of, extent, form) => {
    expect(formOf(shown, of, extent)).toBe(form);
  });

  it.each([
    [{ ...result("todo"), isLivingTodo: true }, short, "whole"],
    [{ ...result("command"), isFollowed: true }, short, "whole"],
    [{ ...result("command"), isFollowed: true }, long, "ends"],
    [{ ...result("command"), isOpened: true }, short, "whole"],
    [{ ...result("code"), isOpened: true }, long, "ends"],
  ] as const)("%j is shown of %j as %s", (shown, extent, form) => {
    expect(formOf(shown as Result, call("Bash"), extent)).toBe(form);
  });

  it("[V40] a tail is six lines while it runs and twelve of a failure; a diff begins with thirty changes", () => {
    const [running, failed] = [result("command", {}, "running"), result("command", {}, "error")];
    expect([tailLines(running, 100), tailLines(failed, 100)]).toEqual([6, 12]);
    // A way to open it would hide one line and take the room of one.
    expect([6, 7, 8].map((count) => tailLines(running, count))).toEqual([6, 7, 6]);
    expect([12, 13, 14].map((count) => tailLines(failed, count))).toEqual([12, 13, 12]);
    const lines = Array.from({ length: 100 }, (_, i) => i);
    expect(startLines(lines, (line) => line % 2 === 1)).toBe(60);
    expect(startLines(lines.slice(0, 20), () => true)).toBe(20);
  });
});

it.each([
  ["Read", "read"],
  ["read_many_files", "read"],
  ["view_image", "read"],
  ["Grep", "search"],
  ["search_file_content", "search"],
  ["Glob", "list"],
  ["list_directory", "list"],
  ["WebFetch", "fetch"],
  ["google_web_search", "web"],
  ["command_execution", "run"],
  ["run_shell_command", "run"],
  ["apply_patch", "edit"],
  ["MultiEdit", "edit"],
  ["str_replace_based_edit_tool", "edit"],
  ["TodoWrite", "todo"],
  ["TaskUpdate", "todo"],
  ["update_plan", "todo"],
  ["Task", "agent"],
  ["spawn_agent", "agent"],
  ["AskUserQuestion", "ask"],
  ["mcp__lab__add", "other"],
  ["KillShell", "other"],
  ["constructor", "other"],
] as const)("[V120] %s does: %s", (toolName, deed) => {
  expect(deedOf(toolName)).toBe(deed);
  expect(DEEDS).toContain(deed);
});

it.each([
  ["mcp__my__runner", ["command"], "run"],
  ["Bash", ["command", "file_change"], "edit"],
  ["Read", ["tool_result"], "read"],
  ["Edit", ["tool_result"], "edit"],
  ["cell", ["todo"], "todo"],
] as const)("[V120] %s with %j did: %s", (toolName, results, deed) => {
  expect(deedOf(toolName, results)).toBe(deed);
});

it("[V4] what the line stands for comes before what is always shown, each in its order", () => {
  const forms = { image: "whole", printed: "line", other: "tail", last: "line" } as const;
  const names = Object.keys(forms) as readonly (keyof typeof forms)[];
  expect(inShownOrder(names, (name) => forms[name])).toEqual(["printed", "last", "image", "other"]);
});
