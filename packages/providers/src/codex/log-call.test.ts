/** Calls and their results in rollout logs, record by record. */
import { describe, expect, it } from "vitest";
import { call, done, event, item, meta, output, read, result, said, shown } from "./testing/log-records.ts";

describe("calls", () => {
  it("[X22] the event of a call wins over its output", () => {
    const folded = read([
      meta(),
      call("exec_command", { cmd: "ls" }),
      done("CommandExecution", {
        id: "c1",
        command: ["/bin/bash", "-lc", "ls"],
        cwd: "file:///w%20x",
        status: "failed",
        aggregated_output: "real\n",
        exit_code: 5,
        duration: { secs: 1, nanos: 500_000_000 },
      }),
      output("Chunk ID: a\nWall time: 9.0 seconds\nProcess exited with code 0\nOutput:\nshortened"),
    ]);
    expect(folded.blocks).toHaveLength(2);
    expect(result(folded)).toMatchObject({
      kind: "command",
      text: "real\n",
      status: "error",
      metadata: {
        command: "ls",
        exitCode: 5,
        cwd: "/w x",
        durationMs: 1500,
        toolName: "exec_command",
        toolUseId: "c1",
      },
    });
  });

  it.each([
    ["exec_command", { cmd: "ls -1" }],
    ["shell_command", { command: "ls -1" }],
    ["shell", { command: ["bash", "-lc", "ls -1"] }],
  ])("[X22] %s without an event is derived from its output", (name, input) => {
    const folded = read([
      meta(),
      call(name, input),
      output("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nx\n"),
    ]);
    expect(result(folded)).toMatchObject({
      kind: "command",
      text: "x\n",
      metadata: { command: "ls -1", exitCode: 1, isError: true },
    });
    expect(folded.blocks[0]?.metadata).toMatchObject({ compactParams: "ls -1", shortResult: "exit 1" });
  });

  it("[X22] a command that runs on, and what is typed into it", () => {
    const folded = read([
      meta(),
      call("exec_command", { cmd: "read n" }, "c1"),
      output("Chunk ID: a\nWall time: 0.5 seconds\nProcess running with session ID 7\nOutput:\nname? ", "c1"),
      call("write_stdin", { session_id: 7, chars: "Ada\n" }, "c2"),
      output("Chunk ID: b\nWall time: 0.0 seconds\nProcess exited with code 0\nOutput:\nhi Ada\n", "c2"),
    ]);
    const commands = folded.blocks.filter((block) => block.kind === "command");
    expect(
      commands.map(({ text, metadata }) => [text, metadata.command, metadata.exitCode, metadata.background]),
    ).toEqual([
      ["name? ", "read n", null, true],
      ["hi Ada\n", "read n", 0, undefined],
    ]);
  });

  it.each([
    ["exec_command", "exec_command failed: rejected: no pushing", "command", "denied"],
    ["exec_command", "aborted by user after 3.2s", "command", "interrupted"],
    ["nosuchtool", "unsupported call: nosuchtool", "tool_result", "failed"],
    ["update_plan", "unsupported call: update_plan", "tool_result", "failed"],
    ["view_image", "unable to locate image at `/w/x.png`", "tool_result", "failed"],
    ["mcp__lab__crash", 'err: "tool call \\"x\\" failed"', "tool_result", "failed"],
  ])("[X24] %s: %s", (name, text, kind, reason) => {
    const folded = read([meta(), call(name, { cmd: "x" }), output(text)]);
    expect(result(folded)).toMatchObject({ kind, status: "error", metadata: { isError: true, reason } });
    expect(result(folded).text).toBe(text.startsWith("err: ") ? 'tool call "x" failed' : text);
  });

  it.each(["__proto__", "constructor", "toString"])("[X22] a tool named %s is an ordinary one", (name) => {
    expect(result(read([meta(), call(name, {}), output("x")]))).toMatchObject({
      kind: "tool_result",
      text: "x",
    });
  });

  it("[X24] arguments that are no JSON stay as the model wrote them", () => {
    const folded = read([
      meta(),
      call("exec_command", '{"cmd": bad'),
      output("failed to parse function arguments: expected value"),
    ]);
    expect(folded.blocks[0]).toMatchObject({
      text: '{"cmd": bad',
      status: "error",
      metadata: { input: '{"cmd": bad' },
    });
  });

  const patch =
    "*** Begin Patch\n*** Update File: a.js\n@@\n-one\n+two\n*** Add File: b.js\n+new\n*** End Patch\n";
  const changed = [
    "--- a.js\n+++ a.js\n@@ -0 +0 @@\n-one\n+two\n",
    "--- /dev/null\n+++ b.js\n@@ -0,0 +1 @@\n+new\n",
  ];

  it.each([
    ["as a tool", item({ type: "custom_tool_call", name: "apply_patch", input: patch, call_id: "c1" })],
    ["as a function", call("apply_patch", { input: patch })],
    ["as a program", call("shell", { command: ["apply_patch", patch] })],
    ["inside a shell command", call("exec_command", { cmd: `apply_patch <<'EOF'\n${patch}EOF\n` })],
  ])("[X25] apply_patch %s", (_, made) => {
    const folded = read([
      meta(),
      made,
      item({
        type: "custom_tool_call_output",
        call_id: "c1",
        output: '{"output":"Success.","metadata":{"exit_code":0}}',
      }),
    ]);
    expect(result(folded)).toMatchObject({
      kind: "file_change",
      text: changed.join(""),
      metadata: {
        changes: [
          { path: "a.js", kind: "modify", diff: changed[0] },
          { path: "b.js", kind: "add", diff: changed[1] },
        ],
      },
    });
  });

  it("[X25] the event has line numbers, contents and moves", () => {
    const changes = {
      "/w/a.js": { type: "update", unified_diff: "@@ -8 +8 @@\n-one\n+two\n", move_path: "/w/c.js" },
      "/w/gone": { type: "delete", content: "x\ny" },
    };
    const folded = read([
      meta(),
      item({ type: "custom_tool_call", name: "apply_patch", input: patch, call_id: "c1" }),
      event("patch_apply_end", { call_id: "c1", success: true, changes }),
      item({
        type: "custom_tool_call_output",
        call_id: "c1",
        output: "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n",
      }),
    ]);
    expect(result(folded).metadata.changes).toEqual([
      {
        path: "/w/a.js",
        kind: "modify",
        movedTo: "/w/c.js",
        diff: "--- /w/a.js\n+++ /w/c.js\n@@ -8 +8 @@\n-one\n+two\n",
      },
      {
        path: "/w/gone",
        kind: "delete",
        diff: "--- /w/gone\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n\\ No newline at end of file\n",
      },
    ]);
  });

  it("[X25] a patch that was not applied changes nothing", () => {
    const folded = read([
      meta(),
      item({ type: "custom_tool_call", name: "apply_patch", input: patch, call_id: "c1" }),
      output("apply_patch verification failed: no such line"),
    ]);
    expect(result(folded)).toMatchObject({
      kind: "tool_result",
      text: "apply_patch verification failed: no such line",
      status: "error",
    });
  });

  it("[X26] a plan has the model's states", () => {
    const plan = [
      { step: "a", status: "completed" },
      { step: "b", status: "in_progress" },
      { step: "c", status: "pending" },
    ];
    const folded = read([meta(), call("update_plan", { plan }), output("Plan updated")]);
    expect(result(folded)).toMatchObject({ kind: "todo", text: "- [x] a\n- [ ] b\n- [ ] c" });
    expect(result(folded).metadata.items).toEqual(
      plan.map(({ step, status }) => ({ content: step, status })),
    );
    expect(folded.blocks[0]?.metadata.shortResult).toBe("1/3 done");
  });

  it("[X20] raw reasoning that an event repeats exists once", () => {
    const content = ["one", "two"].map((text) => ({ type: "reasoning_text", text }));
    const folded = read([
      meta(),
      said("user", "hi"),
      item({ type: "reasoning", summary: [], content, encrypted_content: null }),
      event("agent_reasoning_raw_content", { text: "one" }),
      event("agent_reasoning_raw_content", { text: "two" }),
    ]);
    expect(shown(folded)).toEqual([
      ["text", "user", "hi"],
      ["thinking", "model", "one\ntwo"],
    ]);
  });

  it("[X32] an answer may be a plain text, and a part of it may be new", () => {
    const folded = read([
      meta(),
      item({ type: "message", role: "assistant", content: "plain" }),
      item({ type: "message", role: "assistant", content: [{ type: "output_hologram", beam: 1 }] }),
    ]);
    expect(shown(folded)[0]).toEqual(["text", "model", "plain"]);
    expect(folded.unknown).toEqual({ "response_item/message/output_hologram": 1 });
  });

  it("[X27] reasoning keeps its encrypted form", () => {
    const folded = read([
      meta(),
      item({
        type: "reasoning",
        id: "r1",
        summary: [{ type: "summary_text", text: "Why" }],
        encrypted_content: "AAA=",
      }),
      item({ type: "reasoning", id: "r2", summary: [], encrypted_content: "BBB=" }),
      item({ type: "reasoning", id: "r3", summary: [], content: [{ type: "reasoning_text", text: "raw" }] }),
      item({ type: "reasoning", id: "r4", summary: [] }),
    ]);
    expect(folded.blocks.map(({ text, metadata }) => [text, metadata.opaque, metadata.redacted])).toEqual([
      ["Why", "AAA=", undefined],
      ["", "BBB=", true],
      ["raw", undefined, undefined],
    ]);
  });

  it("[X28] calls inside another tool are below it", () => {
    const folded = read([
      meta(),
      item({
        type: "custom_tool_call",
        name: "exec",
        input: "await tools.exec_command({ cmd: 'ls' })",
        call_id: "c1",
      }),
      done("CommandExecution", {
        id: "exec-1",
        command: ["bash", "-lc", "ls"],
        status: "completed",
        aggregated_output: "x",
        exit_code: 0,
      }),
      item({
        type: "custom_tool_call_output",
        call_id: "c1",
        output: [
          { type: "input_text", text: "Script completed\nWall time 0.3 seconds\nOutput:\n" },
          { type: "input_text", text: "{}" },
        ],
      }),
    ]);
    expect(folded.blocks.map(({ id, parent, kind }) => [id, parent, kind])).toEqual([
      ["run/c1", null, "tool_call"],
      ["run/exec-1", "run/c1", "tool_call"],
      ["run/exec-1/result", "run/exec-1", "command"],
      ["run/c1/result", "run/c1", "tool_result"],
    ]);
  });
});
