/** The adapter of Gemini CLI, event by event. */
import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { type Folded, type FoldedBlock, fold } from "../fold.ts";
import { geminiAdapter } from "./adapter.ts";

function run(...lines: readonly Json[]): Folded {
  const state = geminiAdapter.start("run");
  const events: BlockEvent[] = lines.flatMap((line) => [...geminiAdapter.step(state, line)[1]]);
  const folded = fold([...events, ...geminiAdapter.end(state)]);
  expect(folded.faults).toEqual([]);
  return folded;
}

const at = "2026-11-15T19:02:34.368Z";
const init: Json = { type: "init", timestamp: at, session_id: "s1", model: "gemini-2.5-pro" };
const say = (content: string, more: JsonObject = { delta: true }): Json => ({
  type: "message",
  timestamp: at,
  role: "assistant",
  content,
  ...more,
});
const use = (tool_name: string, parameters: JsonObject, tool_id = "t1"): Json => ({
  type: "tool_use",
  timestamp: at,
  tool_name,
  tool_id,
  parameters,
});
const got = (more: JsonObject = {}, tool_id = "t1"): Json => ({
  type: "tool_result",
  timestamp: at,
  tool_id,
  status: "success",
  ...more,
});
const stats = {
  total_tokens: 960,
  input_tokens: 900,
  output_tokens: 40,
  cached: 128,
  input: 772,
  duration_ms: 326,
  models: { "gemini-2.5-pro": {} },
};
const end: Json = { type: "result", timestamp: at, status: "success", stats };

function result(tool: string, input: JsonObject, more?: JsonObject): FoldedBlock {
  return run(init, use(tool, input), got(more), end).blocks.find(
    (block) => block.role === "tool",
  ) as FoldedBlock;
}

it("[X53] the one value of --output-format json: an answer with the tokens of every model, or an error", () => {
  const tokens = { prompt: 900, candidates: 30, total: 940, cached: 128, thoughts: 10, tool: 0 };
  const models = { "gemini-2.5-pro": { tokens }, "gemini-2.5-flash": { tokens } };
  const said = run({ session_id: "s", response: "Paris", stats: { models } });
  expect(said.blocks).toMatchObject([{ kind: "text", role: "model", text: "Paris", status: "done" }]);
  expect(said.turns).toMatchObject([
    {
      status: "done",
      sessionId: "s",
      models: Object.keys(models),
      usage: { input: 1800, cacheRead: 256, output: 80, reasoning: 20 },
    },
  ]);
  const failed = run({ session_id: "s", error: { type: "ApiError", message: "No key", code: 401 } });
  expect(failed.blocks).toMatchObject([{ kind: "error", text: "No key" }]);
  expect(failed.turns).toMatchObject([{ status: "error", reason: "failed" }]);
  expect([said.unknown, failed.unknown]).toEqual([{}, {}]);
});

it("[X50] deltas of one role that follow each other are one block", () => {
  const folded = run(
    init,
    say("Do it", { role: "user" }),
    say("Let me "),
    say("look."),
    say(" "),
    use("x", {}),
    got(),
    say("Done"),
    say("Whole", {}),
    say("Next"),
    end,
  );
  expect(
    folded.blocks
      .filter((block) => block.kind === "text")
      .map(({ role, text, status }) => [role, text, status]),
  ).toEqual([
    ["user", "Do it", "done"],
    ["model", "Let me look. ", "done"],
    ["model", "Done", "done"],
    ["model", "Whole", "done"],
    ["model", "Next", "done"],
  ]);
});

it("[X50] a text that is cut is interrupted", () => {
  const folded = run(init, say("Half"));
  expect(folded.blocks[0]).toMatchObject({
    text: "Half",
    status: "error",
    metadata: { reason: "interrupted" },
  });
  expect(folded.turns).toMatchObject([{ status: "error", reason: "interrupted" }]);
});

it("[X51] commands have no exit code", () => {
  const block = result(
    "run_shell_command",
    { command: "node test.js", description: "Run tests", dir_path: "/w" },
    { output: "ok" },
  );
  expect(block).toMatchObject({
    kind: "command",
    text: "ok",
    metadata: { command: "node test.js", description: "Run tests", cwd: "/w" },
  });
  expect(block.metadata).not.toHaveProperty("exitCode");
});

it("[X51] changes, as far as the parameters tell", () => {
  expect(result("write_file", { file_path: "/w/a", content: "n\n" })).toMatchObject({
    kind: "file_change",
    text: "--- /w/a\n+++ /w/a\n@@ -0,0 +1 @@\n+n\n",
    metadata: { changes: [{ path: "/w/a", kind: "modify", unverified: true }] },
  });
  expect(
    result(
      "write_file",
      { file_path: "/w/a", content: "n\n" },
      { output: "Successfully created and wrote to new file: /w/a" },
    ),
  ).toMatchObject({
    text: "--- /dev/null\n+++ /w/a\n@@ -0,0 +1 @@\n+n\n",
    metadata: { changes: [{ path: "/w/a", kind: "add" }] },
  });
  expect(result("replace", { file_path: "/w/a", old_string: "x\ny", new_string: "z" })).toMatchObject({
    text: "--- /w/a\n+++ /w/a\n@@ -0,2 +0 @@\n-x\n-y\n+z\n",
  });
});

it("[X51] to-do lists, other tools, rows", () => {
  expect(
    result("write_todos", {
      todos: [
        { description: "a", status: "completed" },
        { description: "b", status: "in_progress" },
      ],
    }),
  ).toMatchObject({
    kind: "todo",
    metadata: {
      items: [
        { content: "a", status: "completed" },
        { content: "b", status: "in_progress" },
      ],
    },
  });
  expect(result("glob", { pattern: "*" }, { output: "Found 4 matching file(s)" })).toMatchObject({
    kind: "tool_result",
    text: "Found 4 matching file(s)",
  });
  const listed = run(init, use("list_directory", { dir_path: "/w/" }), got(), end).blocks[0];
  expect(listed?.metadata).toMatchObject({ compactParams: "/w/", success: true });
});

it.each(["__proto__", "constructor", "toString"])("[X51] a tool named %s is an ordinary one", (name) => {
  expect(result(name, {}, { output: "x" })).toMatchObject({ kind: "tool_result", text: "x" });
});

it("[X51] failures, parallel calls, a result without a call", () => {
  const error = { type: "file_not_found", message: "File not found: /x" };
  const folded = run(
    init,
    use("read_file", { file_path: "/x" }, "a"),
    use("glob", { pattern: "*" }, "b"),
    got({ output: "1 file" }, "b"),
    got({ status: "error", output: "File not found.", error }, "a"),
    got({ output: "stray" }, "read_file__9"),
    end,
  );
  expect(folded.blocks.map(({ kind, status, text }) => [kind, status, text])).toEqual([
    ["tool_call", "error", '{"file_path":"/x"}'],
    ["tool_call", "done", '{"pattern":"*"}'],
    ["tool_result", "done", "1 file"],
    ["tool_result", "error", "File not found: /x"],
    ["tool_result", "done", "stray"],
  ]);
  expect(folded.blocks[3]?.metadata.result).toEqual({ type: "file_not_found", output: "File not found." });
  const cut = run(init, use("glob", { pattern: "*" }), end);
  expect(cut.blocks[0]).toMatchObject({ status: "error", metadata: { reason: "interrupted" } });
  const denied = run(
    init,
    use("run_shell_command", { command: "rm" }),
    got({ status: "error", error: { type: "tool_call_denied", message: "no" } }),
    end,
  );
  expect(denied.blocks[1]).toMatchObject({ kind: "command", metadata: { reason: "denied", command: "rm" } });
});

it("[X52] the result ends the turn, with its usage", () => {
  const folded = run(init, say("Hi"), end);
  expect(folded.sessions).toEqual([{ provider: "gemini", sessionId: "s1", model: "gemini-2.5-pro" }]);
  expect(folded.turns).toEqual([
    {
      turn: "run/turn-1",
      provider: "gemini",
      model: "gemini-2.5-pro",
      sessionId: "s1",
      status: "done",
      usage: { input: 900, cacheRead: 128, cacheWrite: 0, output: 40, reasoning: 0 },
      native: { stats },
      models: ["gemini-2.5-pro"],
      durationMs: 326,
    },
  ]);
});

it("[X52] errors: at the end, and on the way", () => {
  const message = '[API Error: {"error":{"code":400,"message":"Invalid value","status":"INVALID_ARGUMENT"}}]';
  const folded = run(
    init,
    { type: "error", timestamp: at, severity: "warning", message: "Loop detected" },
    { type: "result", timestamp: at, status: "error", error: { type: "unknown", message }, stats },
  );
  expect(folded.blocks).toMatchObject([
    { kind: "error", status: "done", text: "Loop detected", metadata: { notice: "warning" } },
    {
      kind: "error",
      status: "error",
      text: "Invalid value",
      metadata: { code: "INVALID_ARGUMENT", reason: "failed" },
    },
  ]);
  expect(folded.turns).toMatchObject([{ status: "error", reason: "failed", error: "Invalid value" }]);
});

it("[X52] unknown events are kept", () => {
  const folded = run(init, say("a"), { type: "thought", timestamp: at, content: "hm" }, say("b"), null, end);
  expect(folded.unknown).toEqual({ thought: 1, "(null)": 1 });
  expect(folded.blocks.filter((block) => block.kind === "text").map((block) => block.text)).toEqual([
    "a",
    "b",
  ]);
});
