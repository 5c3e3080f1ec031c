/** Codex's output and logs before 0.44: each shape is from a recorded run of the version that it names. */
import { type BlockEvent, checkMetadata, isProblem, type Json, type JsonObject } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { type Folded, fold } from "../fold.ts";
import { logFile } from "../log.ts";
import { recognise } from "../recognise.ts";
import { codexAdapter } from "./adapter.ts";
import { importCodexLog } from "./log.ts";
import { readOutput } from "./log-output.ts";

function run(events: readonly Json[]): Folded {
  let state = codexAdapter.start("r");
  const out: BlockEvent[] = [];
  for (const event of events) {
    const [next, given] = codexAdapter.step(state, event);
    state = next;
    out.push(...given);
  }
  return checked(fold([...out, ...codexAdapter.end(state)]));
}

function checked(folded: Folded): Folded {
  expect(folded.faults).toEqual([]);
  for (const block of folded.blocks) {
    const found = checkMetadata(block.kind, block.metadata);
    if (isProblem(found)) throw new Error(`${block.id}: ${found.message}`);
  }
  return folded;
}

const msg = (type: string, fields: JsonObject = {}): JsonObject => ({ id: "1", msg: { type, ...fields } });
const head = { workdir: "/w", model: "m", sandbox: "read-only", "reasoning effort": "low" };
const started = msg("task_started");
const said = msg("agent_message", { message: "Yes" });
const shown = ({ blocks }: Folded) =>
  blocks.map(({ kind, role, status, text }) => `${kind} ${role} ${status} ${text}`);

describe("[X80] events of the inner protocol", () => {
  it("the lines in front are the session and the prompt", () => {
    const { sessions, blocks, unknown } = run([head, { prompt: "Go" }, started, said]);
    expect(sessions).toMatchObject([{ cwd: "/w", model: "m", details: { sandbox: "read-only" } }]);
    expect(blocks.map(({ role, text }) => `${role} ${text}`)).toEqual(["user Go", "model Yes"]);
    expect(unknown).toEqual({});
    for (const line of [head, started]) {
      expect(recognise(`${JSON.stringify(line)}\n`)).toEqual({ provider: "codex", source: "stream" });
    }
  });

  it.each<[string, readonly JsonObject[], readonly string[]]>([
    [
      "a command, whose end does not repeat it",
      [
        msg("exec_command_begin", { call_id: "c", command: ["bash", "-lc", "ls"], cwd: "/w" }),
        msg("exec_command_output_delta", { call_id: "c", stream: "stdout", chunk: "YQo=" }),
        msg("exec_command_end", { call_id: "c", stdout: "a\n", stderr: "b\n", exit_code: 3 }),
      ],
      ['tool_call model error {"command":"bash -lc ls"}', "command tool error a\nb\n"],
    ],
    [
      "an output that was put together",
      [
        msg("exec_command_begin", { call_id: "c", command: ["ls"] }),
        msg("exec_command_end", { call_id: "c", stdout: "a\n", aggregated_output: "a\nb\n", exit_code: 0 }),
      ],
      ['tool_call model done {"command":"ls"}', "command tool done a\nb\n"],
    ],
    [
      "a server's tool",
      [
        msg("mcp_tool_call_begin", {
          call_id: "c",
          invocation: { server: "s", tool: "t", arguments: { a: 1 } },
        }),
        msg("mcp_tool_call_end", {
          call_id: "c",
          invocation: { server: "s", tool: "t", arguments: { a: 1 } },
          result: { Ok: { content: [{ type: "text", text: "x" }], isError: true } },
        }),
      ],
      ['tool_call model error {"a":1}', "tool_result tool error x"],
    ],
    [
      "one that could not be called",
      [
        msg("mcp_tool_call_begin", { call_id: "c", invocation: { server: "s", tool: "t", arguments: {} } }),
        msg("mcp_tool_call_end", { call_id: "c", result: { Err: "gone" } }),
      ],
      ["tool_call model error {}", "tool_result tool error gone"],
    ],
    [
      "a search",
      [msg("web_search_begin", { call_id: "c" }), msg("web_search_end", { call_id: "c", query: "x" })],
      ['tool_call model done {"query":"x"}'],
    ],
    [
      "thoughts",
      [msg("agent_reasoning_section_break"), msg("agent_reasoning", { text: "Hm" })],
      ["thinking model done Hm"],
    ],
  ])("%s", (_, events, expected) => {
    const folded = run([started, ...events, said]);
    expect(shown(folded)).toEqual([...expected, "text model done Yes"]);
    expect(folded.unknown).toEqual({});
    expect(folded.turns).toMatchObject([{ status: "done" }]);
  });

  it("patches have their diffs, under either way of writing a kind", () => {
    const changes = {
      "/w/a": { add: { content: "x\n" } },
      "/w/b": { update: { unified_diff: "@@ -1 +1 @@\n-a\n+b\n", move_path: "/w/c" } },
      "/w/d": "delete",
      "/w/e": { delete: { content: "y\n" } },
    };
    const { blocks } = run([
      started,
      msg("patch_apply_begin", { call_id: "p", auto_approved: true, changes }),
      msg("patch_apply_end", { call_id: "p", stdout: "Success", stderr: "", success: true }),
      msg("turn_diff", { unified_diff: "x" }),
      said,
    ]);
    expect(blocks[1]?.metadata.changes).toMatchObject([
      { path: "/w/a", kind: "add" },
      { path: "/w/b", kind: "modify", movedTo: "/w/c" },
      { path: "/w/d", kind: "delete" },
      { path: "/w/e", kind: "delete" },
    ]);
  });

  it("a plan is one list from its first update to the turn's end", () => {
    const plan = (...statuses: string[]) =>
      msg("plan_update", { plan: statuses.map((status, i) => ({ step: `s${i}`, status })) });
    const { blocks } = run([started, plan("in_progress", "pending"), plan("completed", "in_progress"), said]);
    expect(blocks.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      "tool_call done",
      "todo done",
      "text done",
    ]);
    expect(blocks[1]?.metadata.items).toMatchObject([{ status: "completed" }, { status: "in_progress" }]);
  });

  const count = (input: number) => ({ input_tokens: input, output_tokens: 1, cached_input_tokens: 2 });

  it.each([
    ["of each request (0.20)", [msg("token_count", count(10)), msg("token_count", count(20))]],
    [
      "of the thread (0.36)",
      [
        msg("token_count", { info: { total_token_usage: { ...count(10), output_tokens: 1 } } }),
        msg("token_count", { info: null }),
        msg("token_count", {
          info: { total_token_usage: { input_tokens: 30, output_tokens: 2, cached_input_tokens: 4 } },
        }),
      ],
    ],
  ])("tokens %s", (_, counts) => {
    expect(run([started, said, ...counts]).turns).toMatchObject([
      { status: "done", usage: { input: 30, output: 2, cacheRead: 4 } },
    ]);
  });

  it("a turn is complete if its answer was the last event", () => {
    const begun = msg("exec_command_begin", { call_id: "c", command: ["ls"] });
    const ended = msg("exec_command_end", { call_id: "c", exit_code: 0 });
    const status = (...events: JsonObject[]) => run([started, ...events]).turns.map((turn) => turn.status);
    expect(status(said)).toEqual(["done"]);
    expect(status(said, begun, ended)).toEqual(["error"]);
    expect(status(begun)).toEqual(["error"]);
    expect(status()).toEqual(["error"]);
    expect(status(said, started, said)).toEqual(["done", "done"]);
    expect(status(said, msg("task_complete"))).toEqual(["done"]);
    expect(status(msg("turn_aborted", { reason: "interrupted" }))).toEqual(["error"]);
  });

  it("failures and retries", () => {
    const failed = run([
      started,
      msg("stream_error", { message: "again" }),
      msg("error", { message: "Broke" }),
    ]);
    expect(shown(failed)).toEqual(["error system done again", "error system error Broke"]);
    expect(failed.turns).toMatchObject([{ status: "error", reason: "failed", error: "Broke" }]);
  });

  it("a viewed picture is a call", () => {
    const folded = run([started, msg("view_image_tool_call", { call_id: "v", path: "/w/a.png" })]);
    const metadata = { toolName: "view_image", compactParams: "/w/a.png" };
    expect(folded.blocks).toMatchObject([{ kind: "tool_call", status: "done", metadata }]);
  });

  it("unknown events are unknown", () => {
    expect(run([msg("sparkle", { a: 1 })]).unknown).toEqual({ "msg/sparkle": 1 });
  });
});

describe("[X81] rollouts before 0.30", () => {
  const lines = [
    { id: "t1", timestamp: "2026-01-01T00:00:00Z", instructions: null, git: { branch: "main" } },
    { record_type: "state" },
    {
      type: "message",
      id: null,
      role: "user",
      content: [{ type: "input_text", text: "<environment_context>x" }],
    },
    { type: "message", id: null, role: "user", content: [{ type: "input_text", text: "Go" }] },
    { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: "Hm" }], encrypted_content: "E" },
    { type: "function_call", name: "shell", call_id: "c", arguments: '{"command":["ls"]}' },
    { type: "function_call_output", call_id: "c", output: '{"output":"a\\n","metadata":{"exit_code":0}}' },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Yes" }] },
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");

  it("are lines without an envelope", () => {
    expect(recognise(text)).toEqual({ provider: "codex", source: "log" });
    const folded = checked(fold(importCodexLog({ main: logFile("rollout.jsonl", text), sidecars: [] }, "r")));
    expect(folded.unknown).toEqual({});
    expect(folded.sessions).toMatchObject([{ sessionId: "t1" }]);
    expect(shown(folded)).toEqual([
      "text user done Go",
      "thinking model done Hm",
      'tool_call model done {"command":["ls"]}',
      "command tool done a\n",
      "text model done Yes",
    ]);
    expect(folded.turns).toMatchObject([{ status: "done" }]);
  });
});

describe("[X23] headers of outputs", () => {
  const rest = "Chunk ID: 1\nWall time: 0.5 seconds\nProcess exited with code 3\nOutput:\na\n";

  it.each([
    ["with the command in front (0.115)", `Command: /bin/bash -lc 'echo a\necho b'\n${rest}`],
    ["with a line that is new", rest.replace("Output:", "Peak memory: 5 MB\nOutput:")],
  ])("%s", (_, text) => {
    expect(readOutput(text)).toMatchObject({ text: "a\n", hasRun: true, exitCode: 3, durationMs: 500 });
  });

  it("a text that only looks like one is none", () => {
    expect(readOutput("Peak memory: 5 MB\nOutput:\na")).toMatchObject({ hasRun: false });
    expect(readOutput("Command: ls\nOutput:\na")).toMatchObject({ hasRun: false });
  });

  it("how many lines there were is no line (0.53)", () => {
    const wrapped = JSON.stringify({ output: "Total output lines: 9\n\na", metadata: { exit_code: 0 } });
    expect(readOutput(wrapped).text).toBe("a");
  });
});
