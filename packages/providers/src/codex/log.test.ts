/**
 * The importer of rollout logs, record by record; and over all recordings of Codex: the log of a run against its stream.
 */
import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { bytesOf, logFilesOf, logs, type Recording, streams } from "../../../../test/recordings.ts";
import { type Folded, type FoldedBlock, fold } from "../fold.ts";
import { logFile } from "../log.ts";
import { normalize } from "../normalize.ts";
import { providers } from "../registry.ts";
import { codexParentThread, findCodexLogs, importCodexLog } from "./log.ts";

function eventsOf(
  records: readonly Json[],
  ...sidecars: readonly (readonly Json[])[]
): readonly BlockEvent[] {
  const text = (lines: readonly Json[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const main = logFile("main.jsonl", text(records));
  return importCodexLog(
    { main, sidecars: sidecars.map((lines, i) => logFile(`${i}.jsonl`, text(lines))) },
    "run",
  );
}

function read(records: readonly Json[], ...sidecars: readonly (readonly Json[])[]): Folded {
  const folded = fold(eventsOf(records, ...sidecars));
  expect(folded.faults).toEqual([]);
  return folded;
}

const meta = (id = "t1", more: JsonObject = {}): Json => ({
  type: "session_meta",
  payload: { id, cwd: "/w", cli_version: "0.1", ...more },
});
const item = (payload: JsonObject, more: JsonObject = {}): Json => ({
  type: "response_item",
  payload,
  ...more,
});
const event = (type: string, more: JsonObject = {}): Json => ({
  type: "event_msg",
  payload: { type, ...more },
});
const done = (type: string, more: JsonObject): Json => event("item_completed", { item: { type, ...more } });
const said = (role: string, text: string, more: JsonObject = {}): Json =>
  item({
    type: "message",
    role,
    content: [{ type: role === "assistant" ? "output_text" : "input_text", text }],
    ...more,
  });
const prompt = (text: string): Json => event("user_message", { message: text });
const call = (name: string, input: JsonObject | string, id = "c1"): Json =>
  item({
    type: "function_call",
    name,
    arguments: typeof input === "string" ? input : JSON.stringify(input),
    call_id: id,
  });
const output = (text: Json, id = "c1"): Json =>
  item({ type: "function_call_output", call_id: id, output: text });
const tokens = (input: number, out: number): Json =>
  event("token_count", { info: { total_token_usage: { input_tokens: input, output_tokens: out } } });

function shown(folded: Folded): (string | undefined)[][] {
  return folded.blocks.map(({ kind, role, text }) => [kind, role, text]);
}

function result(folded: Folded): FoldedBlock {
  return folded.blocks.at(-1) as FoldedBlock;
}

describe("what counts", () => {
  it("[X20] a text stands once, whichever record says it, in whatever order", () => {
    const folded = read([
      meta(),
      said("user", "Hi"),
      prompt("Hi"),
      event("agent_reasoning", { text: "One" }),
      event("agent_reasoning", { text: "Two" }),
      event("agent_message", { message: "A" }),
      item({
        type: "reasoning",
        summary: [
          { type: "summary_text", text: "One" },
          { type: "summary_text", text: "Two" },
        ],
      }),
      said("assistant", "A"),
      said("assistant", "B"),
      event("agent_message", { message: "B" }),
      event("agent_message", { message: "only shown" }),
    ]);
    expect(shown(folded)).toEqual([
      ["text", "user", "Hi"],
      ["thinking", "model", "One\nTwo"],
      ["text", "model", "A"],
      ["text", "model", "B"],
      ["text", "model", "only shown"],
    ]);
  });

  it("[X20] the same text said twice stands twice", () => {
    const again = [event("agent_message", { message: "A" }), said("assistant", "A")];
    expect(shown(read([meta(), ...again, ...again]))).toEqual([
      ["text", "model", "A"],
      ["text", "model", "A"],
    ]);
  });

  it("[X21] only prompts of the user are shown", () => {
    const folded = read([
      meta(),
      said("developer", "be good"),
      said("user", "<environment_context>x</environment_context>"),
      said("user", "# AGENTS.md instructions for /w\n\nrules"),
      said("user", "<b>is this bold?</b>"),
      prompt("<b>is this bold?</b>"),
      said("user", "<turn_aborted>\nwhy\n</turn_aborted>"),
    ]);
    expect(shown(folded)).toEqual([["text", "user", "<b>is this bold?</b>"]]);
    const noEvents = [
      meta(),
      said("user", "<environment_context>x</environment_context>"),
      said("user", "Hi there"),
    ];
    expect(shown(read(noEvents))).toEqual([["text", "user", "Hi there"]]);
  });

  it("[X21] images of a prompt are blocks, without the tags around them", () => {
    const content = [
      { type: "input_text", text: '<image name=[Image #1] path="logo.png">' },
      { type: "input_image", image_url: "data:image/png;base64,aGk=" },
      { type: "input_text", text: "</image>" },
      { type: "input_text", text: "What is it?" },
    ];
    const folded = read([
      meta(),
      item({ type: "message", id: "m1", role: "user", content }),
      prompt("What is it?"),
    ]);
    expect(folded.blocks.map(({ kind, text, metadata }) => [kind, text, metadata])).toEqual([
      ["text", "What is it?", {}],
      ["image", "", { data: "aGk=", mediaType: "image/png" }],
    ]);
  });
});

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
  ])("[X22] %s without an event is told from its output", (name, input) => {
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

  it.each(["__proto__", "constructor", "toString"])("[X22] a tool named %s is one like others", (name) => {
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

  it("[X26] a plan has the states that the model gave", () => {
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

  it("[X20] raw reasoning that an event repeats stands once", () => {
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

  it("[X28] what runs inside another tool stands below it", () => {
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

describe("threads and turns", () => {
  const child = [
    meta("t2", { source: { subagent: { thread_spawn: { parent_thread_id: "t1", agent_nickname: "Ada" } } } }),
    prompt("count"),
    said("assistant", "Two."),
    tokens(50, 5),
    event("token_count", { info: null }),
  ];

  it("[X29] a sub-agent's thread stands below its call, its tokens are a message of it", () => {
    const folded = read(
      [
        meta(),
        prompt("go"),
        call("spawn_agent", { message: "count" }),
        output('{"agent_id":"t2","nickname":"Ada"}'),
        said("assistant", "Done."),
        tokens(10, 1),
      ],
      child,
      [meta("t9"), said("assistant", "somebody else")],
    );
    const spawn = folded.blocks.find((block) => block.kind === "tool_call")?.id;
    expect(folded.blocks.map(({ parent, text, metadata }) => [parent, text, metadata.label])).toEqual([
      [null, "go", undefined],
      [null, '{"message":"count"}', undefined],
      [spawn, '{"agent_id":"t2","nickname":"Ada"}', undefined],
      [spawn, "count", "Ada"],
      [spawn, "Two.", "Ada"],
      [null, "Done.", undefined],
    ]);
    expect(folded.turns).toHaveLength(1);
    expect(folded.turns[0]?.usage?.input).toBe(10);
    expect(folded.messages).toEqual([
      {
        messageId: "t2",
        parent: spawn,
        turn: folded.turns[0]?.turn,
        usage: { input: 50, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 },
      },
    ]);
  });

  it("[X29] a reviewer's thread stands below the notice", () => {
    const reviewer = [
      meta("t3", { parent_thread_id: "t1", source: { subagent: "review" } }),
      said("assistant", "{}"),
    ];
    const folded = read(
      [
        meta(),
        event("entered_review_mode", { user_facing_hint: "current changes" }),
        event("exited_review_mode", { review_output: { findings: [] } }),
      ],
      reviewer,
    );
    expect(folded.blocks.map(({ id, parent, text }) => [id, parent, text])).toEqual([
      ["run/review-1", null, "Review of current changes"],
      ["run/t3/message-1", "run/review-1", "{}"],
      ["run/review-2", null, "Review finished"],
    ]);
  });

  it("[X29] each review has its own reviewer, and a thread that is named again is shown once", () => {
    const reviewer = (id: string) => [
      meta(id, { parent_thread_id: "t1", source: { subagent: "review" } }),
      said("assistant", `from ${id}`),
    ];
    const enter = event("entered_review_mode", { user_facing_hint: "changes" });
    const folded = read(
      [
        meta(),
        enter,
        enter,
        enter,
        call("spawn_agent", { message: "count" }, "c1"),
        output('{"agent_id":"t2"}', "c1"),
        call("resume_agent", { id: "t2" }, "c2"),
        output('{"agent_id":"t2"}', "c2"),
      ],
      reviewer("t3"),
      reviewer("t4"),
      child,
    );
    const texts = folded.blocks.filter(({ kind }) => kind === "text").map(({ text }) => text);
    const review = "Review of changes";
    expect(texts).toEqual([review, "from t3", review, "from t4", review, "count", "Two."]);
  });

  it("[X29] a log says who started its thread", () => {
    const file = (lines: readonly Json[]) =>
      logFile("x.jsonl", lines.map((line) => JSON.stringify(line)).join("\n"));
    expect(codexParentThread(file(child))).toBe("t1");
    expect(codexParentThread(file([meta()]))).toBeUndefined();
    expect(codexParentThread(file([]))).toBeUndefined();
  });

  it("[X30] marked turns, their usage, and how they end", () => {
    const folded = read([
      meta(),
      event("task_started", { turn_id: "a" }),
      { type: "turn_context", payload: { model: "m1" } },
      tokens(100, 10),
      event("task_complete", { turn_id: "a", duration_ms: 7 }),
      event("task_started", { turn_id: "b" }),
      tokens(250, 30),
      event("task_complete", {
        turn_id: "b",
        error: { message: "Quota.", codex_error_info: "usage_limit_exceeded" },
      }),
      event("task_started", { turn_id: "c" }),
      call("exec_command", { cmd: "x" }),
      event("turn_aborted", { reason: "interrupted" }),
      event("task_started", { turn_id: "d" }),
    ]);
    expect(
      folded.turns.map(({ turn, status, reason, usage, model, durationMs }) => [
        turn,
        status,
        reason,
        usage?.input,
        model,
        durationMs,
      ]),
    ).toEqual([
      ["run/a", "done", undefined, 100, "m1", 7],
      ["run/b", "error", "failed", 150, "m1", undefined],
      ["run/c", "error", "interrupted", 0, "m1", undefined],
      ["run/d", "error", "interrupted", 0, "m1", undefined],
    ]);
    expect(
      folded.blocks.map(({ kind, status, text, metadata }) => [
        kind,
        status,
        text,
        metadata.code ?? metadata.reason,
      ]),
    ).toEqual([
      ["error", "error", "Quota.", "usage_limit_exceeded"],
      ["tool_call", "error", '{"cmd":"x"}', "interrupted"],
    ]);
  });

  it("[X30] without marks a prompt begins a turn", () => {
    const folded = read([
      meta(),
      prompt("one"),
      said("assistant", "1"),
      tokens(10, 1),
      prompt("two"),
      call("shell", { command: ["x"] }),
      output("aborted by user"),
      tokens(30, 3),
      prompt("three"),
    ]);
    expect(folded.turns.map(({ status, reason, usage }) => [status, reason, usage?.input])).toEqual([
      ["done", undefined, 10],
      ["error", "interrupted", 20],
      ["error", "interrupted", 0],
    ]);
  });

  it("[X31] a longer log names the same blocks, a torn line is not read", () => {
    const records = [
      meta(),
      prompt("a"),
      said("assistant", "b"),
      call("exec_command", { cmd: "x" }),
      output("Exit code: 0\nWall time: 0 seconds\nOutput:\n"),
      prompt("c"),
      said("assistant", "d"),
    ];
    const whole = fold(eventsOf(records)).blocks.map((block) => block.id);
    for (let n = 0; n <= records.length; n++) {
      const ids = fold(eventsOf(records.slice(0, n))).blocks.map((block) => block.id);
      expect(whole.slice(0, ids.length)).toEqual(ids);
    }
    const text = `${JSON.stringify(meta())}\n${JSON.stringify(said("assistant", "b"))}\n{"type":"response_it`;
    const torn = fold(importCodexLog({ main: logFile("m.jsonl", text), sidecars: [] }, "run"));
    expect(shown(torn)).toEqual([["text", "model", "b"]]);
  });

  it("[X31] a text keeps its name when the log says it a second time", () => {
    const early = [
      meta(),
      prompt("a"),
      event("agent_reasoning", { text: "r" }),
      event("agent_message", { message: "b" }),
    ];
    const late = [
      ...early,
      item({ type: "reasoning", summary: [{ type: "summary_text", text: "r" }] }),
      said("assistant", "b"),
    ];
    const ids = (records: readonly Json[]) => fold(eventsOf(records)).blocks.map((block) => block.id);
    expect(ids(late)).toEqual(ids(early));
  });

  it("[X31] ids that a log uses twice name two blocks", () => {
    const once = [
      call("exec_command", { cmd: "x" }),
      output("Exit code: 0\nWall time: 0 seconds\nOutput:\n"),
    ];
    expect(read([meta(), ...once, ...once]).blocks.map((block) => block.id)).toEqual([
      "run/c1",
      "run/c1/result",
      "run/c1~2",
      "run/c1~2/result",
    ]);
  });

  it("[X31] a call that is said again before its output ends once", () => {
    const folded = read([
      meta(),
      call("exec_command", { cmd: "x" }),
      call("exec_command", { cmd: "x" }),
      output("unsupported call: x"),
    ]);
    expect(folded.blocks.map(({ id, status }) => [id, status])).toEqual([
      ["run/c1", "error"],
      ["run/c1~2", "error"],
      ["run/c1~2/result", "error"],
    ]);
  });

  it("[X32] notices, bookkeeping, and what nobody knows", () => {
    const folded = read([
      meta(),
      { type: "world_state", payload: {} },
      item({ type: "ghost_snapshot" }),
      event("thread_settings_applied"),
      said("assistant", "SUM", { id: "m1" }),
      { type: "compacted", payload: { message: "Another language model started this.\nSUM" } },
      done("ContextCompaction", { id: "x" }),
      event("context_compacted"),
      event("stream_error", { message: "lost" }),
      event("warning", { message: "careful" }),
      event("hologram", { beam: 1 }),
      item({ type: "hologram" }),
      { type: "hologram", payload: {} },
    ]);
    expect(
      folded.blocks.slice(0, 4).map(({ kind, text, metadata }) => [kind, text, metadata.notice]),
    ).toEqual([
      ["text", "SUM", "compaction"],
      ["text", "", "compaction"],
      ["error", "lost", "retry"],
      ["error", "careful", "warning"],
    ]);
    expect(folded.unknown).toEqual({ "event_msg/hologram": 1, hologram: 1, "response_item/hologram": 1 });
  });

  it("[X15] [X32] reconnections that follow each other are one line that counts, with the words of the last", () => {
    const lost = (n: number) => event("stream_error", { message: `Reconnecting... ${n}/5` });
    const folded = read([meta(), lost(1), lost(2), lost(3), said("assistant", "Back."), lost(1), lost(2)]);
    expect(folded.blocks.map(({ text, status, metadata }) => [text, status, metadata.times])).toEqual([
      ["Reconnecting... 3/5", "done", 3],
      ["Back.", "done", undefined],
      ["Reconnecting... 2/5", "done", 2],
    ]);
    expect(folded.blocks[0]?.metadata).toMatchObject({ notice: "retry", retryable: true });
  });

  it("[E22] citations of an answer stand at their places", () => {
    const text = "😀 Found it.";
    const cited = { type: "url_citation", start_index: 2, end_index: 11, url: "https://u.example" };
    const content = [{ type: "output_text", text, annotations: [cited] }];
    const folded = read([meta(), said("assistant", text, { content })]);
    expect(folded.blocks[0]?.metadata.citations).toEqual([{ url: "https://u.example", start: 3, end: 12 }]);
  });

  it("[X32] lines that are no records are kept", () => {
    const text = `${JSON.stringify(meta())}\nnot json\n${JSON.stringify(said("assistant", "b"))}\n`;
    const folded = fold(importCodexLog({ main: logFile("m.jsonl", text), sidecars: [] }, "run"));
    expect(folded.unknown).toEqual({ "(not JSON)": 1 });
  });

  it("[X34] rollouts are found by day, with their neighbours", () => {
    const tree: Record<string, readonly string[]> = {
      sessions: ["2026/", "notes.txt", "old/"],
      "sessions/2026": ["11/"],
      "sessions/2026/11": ["14/", "15/", "17/"],
      "sessions/2026/11/14": ["rollout-a.jsonl"],
      "sessions/2026/11/15": ["rollout-b.jsonl", "rollout-c.jsonl", "other.jsonl"],
      "sessions/2026/11/17": ["rollout-d.jsonl"],
    };
    const list = (path: string) =>
      (tree[path] ?? []).map((name) => ({ name: name.replace("/", ""), isFolder: name.endsWith("/") }));
    const found = findCodexLogs(list).map(({ path, sidecars }) =>
      [path, sidecars]
        .flat()
        .map((each) => each.replace(/^.*rollout-(.).*$/, "$1"))
        .join(""),
    );
    expect(found).toEqual(["abc", "bacd", "cabd", "dbc"]);
    expect(findCodexLogs(() => [])).toEqual([]);
  });
});

/** Tools of which the stream shows nothing, also where they succeed. */
const HIDDEN = new Set([
  "write_stdin",
  "view_image",
  "exec",
  "tool_search",
  "image_generation",
  "update_plan",
  "local_shell",
]);

interface Display {
  readonly kind: string;
  readonly about: string;
  readonly text: string | undefined;
  readonly failed: boolean;
  readonly hidden: boolean;
}

/** A call and its result, as far as the stream and the log can both tell it. */
function displaysOf(folded: Folded): Display[] {
  const calls = folded.blocks.filter((block) => block.kind === "tool_call" && !isNested(folded, block));
  return calls.map((block) => {
    const found = folded.blocks.find(
      (other) => other.parent === block.id && other.role === "tool" && other.kind !== "image",
    );
    const kind = found?.kind ?? (block.metadata.toolName === "web_search" ? "search" : "command");
    return {
      kind,
      about: aboutOf(kind, block, found),
      text:
        found === undefined || kind === "file_change" || found.metadata.interrupted === true
          ? undefined
          : found.text,
      failed: block.status === "error",
      hidden: HIDDEN.has(String(block.metadata.toolName)),
    };
  });
}

/** A sub-agent's call: its thread is not in the stream. Calls inside code mode are. */
function isNested(folded: Folded, block: FoldedBlock): boolean {
  const parent = folded.blocks.find((other) => other.id === block.parent);
  return parent !== undefined && parent.metadata.toolName !== "exec";
}

function aboutOf(kind: string, block: FoldedBlock, found: FoldedBlock | undefined): string {
  if (kind === "command") return String(found?.metadata.command ?? block.metadata.compactParams);
  if (kind === "search") return String(block.metadata.compactParams);
  if (kind !== "file_change") return String(block.metadata.toolName).replace(/^wait_agent$/, "wait");
  const changes = (found?.metadata.changes ?? []) as readonly { path: string; kind: string }[];
  return changes
    .map(({ path, kind: how }) => `${how} ${path.replace("/workspace/demo/", "")}`)
    .sort()
    .join("\n");
}

function spoken(folded: Folded, kind: string): string[] {
  const own = folded.blocks.filter(
    (block) => block.kind === kind && block.role === "model" && block.parent === null,
  );
  return own.map((block) => block.text).filter((text) => text !== "");
}

function todoOf(folded: Folded): Json | undefined {
  const last = folded.blocks.filter((block) => block.kind === "todo").at(-1);
  const items = (last?.metadata.items ?? []) as readonly { content: string; status: string }[];
  return last === undefined
    ? undefined
    : items.map(({ content, status }) => [content, status === "completed"]);
}

function scenarioOf(name: string): string {
  return name
    .replace("-sessions", "")
    .replace(/^(codex(?:-older\/[^/]+)?\/[^/]+).*$/, "$1")
    .replace(/(\.run\d)?\.jsonl$/, "");
}

const logged = new Map<string, Recording>();
for (const log of logs.filter(({ provider }) => provider === "codex")) {
  const file = log.name.split("/").at(-1) ?? "";
  const parent = codexParentThread(logFile(file, new TextDecoder().decode(bytesOf(log))));
  if (parent === undefined && !logged.has(scenarioOf(log.name))) logged.set(scenarioOf(log.name), log);
}
const pairs = [...logged].flatMap(([scenario, log]) => {
  const runs = streams.filter(
    (stream) => stream.provider === "codex" && scenarioOf(stream.name) === scenario,
  );
  return runs.length === 0 ? [] : [[scenario, runs, log] as const];
});

function streamed(runs: readonly Recording[]): Folded {
  const provider = providers.get("codex");
  if (provider === undefined) throw new Error("no codex");
  return normalize(
    provider,
    runs.map((run) => bytesOf(run)),
  );
}

describe("stream = log", () => {
  it("[X33] there are runs to compare", () => {
    expect(pairs.length).toBeGreaterThan(60);
  });

  it.each(pairs)("[X33] %s", (_, runs, log) => {
    const live = streamed(runs);
    const stored = fold(importCodexLog(logFilesOf(log), "run"));
    expect(stored.faults).toEqual([]);
    expect(stored.unknown).toEqual({});
    expect(spoken(stored, "text")).toEqual(spoken(live, "text"));
    if (!log.name.includes("raw-reasoning")) {
      expect(spoken(stored, "thinking").join("\n")).toBe(spoken(live, "thinking").join("\n"));
    }
    const left = displaysOf(stored).filter((display) => display.kind !== "todo");
    for (const display of displaysOf(live)) {
      if (display.kind === "todo" || isBeforeLog(log, display)) continue;
      const at = left.findIndex(
        (other) =>
          other.kind === display.kind &&
          other.about === display.about &&
          (display.about === "spawn_agent" || sameText(other.text, display.text)),
      );
      expect(
        at,
        `${JSON.stringify(display)} is not in the log: ${JSON.stringify(left)}`,
      ).toBeGreaterThanOrEqual(0);
      left.splice(at, 1);
    }
    expect(left.filter((display) => !display.failed && !display.hidden)).toEqual([]);
    if (todoOf(live) !== undefined) expect(todoOf(stored)).toEqual(todoOf(live));
    checkTurns(live, stored);
  });
});

/** 0.47 writes no searches, and of a turn that was cut no calls. */
function isBeforeLog(log: Recording, display: Display): boolean {
  return (
    log.version === "0.47.0" && (display.kind === "search" || (display.failed && display.text === undefined))
  );
}

/** The log keeps the beginning and the end of a very long output. */
function sameText(logText: string | undefined, streamText: string | undefined): boolean {
  if (logText === undefined || streamText === undefined || logText === streamText) return true;
  const [head, tail] = logText.split("\n... command output truncated for persistence ...\n");
  return tail !== undefined && streamText.startsWith(head as string) && streamText.endsWith(tail);
}

function checkTurns(live: Folded, stored: Folded): void {
  const told = live.turns.filter((turn) => turn.usage !== undefined && turn.usage.input > 0);
  const sum = (turns: Folded["turns"]) => turns.reduce((total, turn) => total + (turn.usage?.input ?? 0), 0);
  if (told.length === live.turns.length) expect(sum(stored.turns)).toBe(sum(live.turns));
  expect(stored.turns.map((turn) => turn.status)).toEqual(live.turns.map((turn) => turn.status));
  const fatal = (folded: Folded) =>
    folded.blocks
      .filter((block) => block.kind === "error" && block.status === "error")
      .map((block) => block.text);
  if (fatal(stored).length > 0) expect(fatal(stored)).toEqual(fatal(live));
}

it.each(logs.filter(({ provider }) => provider === "codex").map((log) => [log.name, log] as const))(
  "[X31] %s imported twice gives the same",
  (_, log) => {
    expect(importCodexLog(logFilesOf(log), "run")).toEqual(importCodexLog(logFilesOf(log), "run"));
  },
);
