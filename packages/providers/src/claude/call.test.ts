/** Calls: one start, one end, approvals, sub-agents, background. */
import { describe, expect, it } from "vitest";
import {
  answer,
  blockStart,
  blockStop,
  briefs,
  call,
  delta,
  done,
  event,
  eventsOf,
  foldLines,
  init,
  only,
  opening,
  reply,
  say,
  system,
} from "../../../../test/claude-lines.ts";

const bash = (id: string, extra = {}) => call(id, "Bash", { command: "ls", description: "List" }, extra);
const below = (parent: string) => ({ parent_tool_use_id: parent });

function metadataOf(lines: Parameters<typeof foldLines>[0], id: string) {
  return foldLines(lines).blocks.find((block) => block.id === `run/c:${id}`)?.metadata;
}

describe("the life of a call", () => {
  it("[C11] start, pure deltas, running with the input, end", () => {
    const lines = [
      opening("m1"),
      blockStart(0, { type: "tool_use", id: "t1", name: "Bash", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: "" }),
      delta(0, { type: "input_json_delta", partial_json: '{"command":' }),
      delta(0, { type: "input_json_delta", partial_json: '"ls"}' }),
      call("t1", "Bash", { command: "ls" }),
      blockStop(0),
      event({ type: "message_stop" }),
      reply("t1", "a\nb", { tool_use_result: { stdout: "a\nb" } }),
    ];
    const own = eventsOf(lines).filter((one) => "key" in one && one.key === "run/c:t1");
    expect(own.map((one) => (one.type === "block-append" ? one.text : one.type))).toEqual([
      "block-start",
      '{"command":',
      '"ls"}',
      "block-meta",
      "block-end",
    ]);
    expect(own[3]).toMatchObject({
      metadata: { stage: "running", input: { command: "ls" }, compactParams: "ls" },
    });
    expect(own[4]).toMatchObject({ status: "done", metadata: { success: true, shortResult: "2 lines" } });
  });

  it("[C11] an id that is repeated in another message, after its call has ended, is another call", () => {
    const named = (id: string, command: string) =>
      answer(id, [{ type: "tool_use", id: "call_0", name: "Bash", input: { command } }]);
    const folded = foldLines([
      named("m1", "one"),
      reply("call_0", "1"),
      named("m1", "one"),
      named("m2", "two"),
      reply("call_0", "2"),
    ]);
    expect(folded.blocks.map(({ kind, text }) => [kind, text])).toEqual([
      ["tool_call", '{"command":"one"}'],
      ["command", "1"],
      ["tool_call", '{"command":"two"}'],
      ["command", "2"],
    ]);
    expect(folded.blocks.map(({ parent }) => parent)).toEqual([
      null,
      folded.blocks[0]?.id,
      null,
      folded.blocks[2]?.id,
    ]);
  });

  it("[C11] a call without input deltas has the input {}", () => {
    const lines = [
      opening("m1"),
      blockStart(0, { type: "tool_use", id: "t1", name: "TaskList", input: {} }),
      blockStop(0),
      event({ type: "message_stop" }),
    ];
    expect(metadataOf(lines, "t1")?.input).toEqual({});
  });

  it("[C11] the same call again, or its input again, is the same call", () => {
    const lines = [bash("t1"), bash("t1"), reply("t1", "x"), bash("t1")];
    expect(foldLines(lines).stages.get("run/c:t1")).toEqual(["start", "streaming", "running", "end"]);
  });

  it("[C12] an unparsable input leaves the raw text", () => {
    const lines = [
      call("t1", "Bash", { __unparsedToolInput: { raw: "not json", len: 8 } }),
      reply("t1", "<tool_use_error>InputValidationError: no JSON</tool_use_error>", {}, true),
    ];
    const block = only(lines, "tool_call");
    expect([block.text, block.metadata.input, block.metadata.error]).toEqual([
      "not json",
      undefined,
      "InputValidationError: no JSON",
    ]);
  });

  it("[C13] results inside the open message, in the order of completion", () => {
    const lines = [
      opening("m1"),
      ...["a", "b"].flatMap((id, i) => [
        blockStart(i, { type: "tool_use", id, name: "Bash", input: {} }),
        bash(id),
        ...(i === 1 ? [reply("b", "second"), reply("a", "first")] : []),
        blockStop(i),
      ]),
      event({ type: "message_stop" }),
      { ...reply("a", "first"), isReplay: true },
    ];
    const results = foldLines(lines).blocks.filter((block) => block.role === "tool");
    expect(results.map((block) => [block.parent, block.text])).toEqual([
      ["run/c:b", "second"],
      ["run/c:a", "first"],
    ]);
  });

  it("[C15] a call without a result ends with its turn", () => {
    const lines = [
      init(),
      bash("t1"),
      done({ subtype: "error_max_budget_usd", is_error: true, errors: ["Budget"] }),
    ];
    expect(metadataOf(lines, "t1")).toMatchObject({
      reason: "cancelled",
      success: false,
      input: { command: "ls" },
    });
    expect(
      metadataOf([init(), bash("t1"), done({ is_error: true, terminal_reason: "aborted_tools" })], "t1"),
    ).toMatchObject({
      reason: "interrupted",
    });
  });

  it("[C16] progress shows while the call runs", () => {
    const beat = {
      type: "tool_progress",
      tool_use_id: "t1-heartbeat-0",
      parent_tool_use_id: "t1",
      heartbeat: true,
      elapsed_time_seconds: 30,
    };
    const running = [bash("t1"), beat];
    const shown = eventsOf(running, false).at(-1);
    expect(shown).toEqual({
      type: "block-meta",
      key: "run/c:t1",
      metadata: { progress: "running for 30 s" },
    });
    const { blocks } = foldLines([...running, reply("t1", "x")]);
    expect(blocks).toHaveLength(2);
    expect(blocks[0]?.metadata.progress).toBeUndefined();
  });
});

describe("permissions", () => {
  const ask = {
    type: "control_request",
    request_id: "req-1",
    request: {
      subtype: "can_use_tool",
      tool_name: "Bash",
      tool_use_id: "t1",
      input: { command: "rm x" },
      description: "Remove x",
      permission_suggestions: [{ type: "addRules" }],
    },
  };
  const answered = (response: object) => ({
    type: "control_response",
    response: { subtype: "success", request_id: "req-1", response },
  });

  it("[C14] asked, with the id to answer to", () => {
    const asked = eventsOf([bash("t1"), ask], false).at(-1);
    expect(asked).toMatchObject({
      metadata: {
        ask: { id: "req-1", kind: "permission", state: "asked", title: "Remove x" },
      },
    });
  });

  it.each<[string, object, string | undefined]>([
    ["Edit", { file_path: "a.ts", old_string: "one", new_string: "two" }, "-one\n+two"],
    ["Write", { file_path: "a.ts", content: "whole\n" }, "+whole"],
    ["Write", { file_path: "a.ts", content: "x".repeat(100_000) }, undefined],
    ["Bash", { command: "rm x", file_path: "a.ts" }, undefined],
  ])("[C14] %s asks with its change, if that is known and short", (tool_name, input, diff) => {
    const request = { ...ask.request, tool_use_id: "t2", tool_name, input };
    const asked = only([{ ...ask, request }], "tool_call").metadata.ask as { subject?: { diff?: string } };
    if (diff === undefined) expect(asked.subject).not.toHaveProperty("diff");
    else expect(asked.subject?.diff).toContain(diff);
  });

  it("[C14] a request may be the first that is seen of its call", () => {
    expect(only([ask], "tool_call").metadata).toMatchObject({
      toolUseId: "t1",
      toolName: "Bash",
      input: { command: "rm x" },
    });
  });

  it.each([
    ["allowed by an answer", [answered({ behavior: "allow" }), reply("t1", "")], "allowed"],
    ["denied by an answer", [answered({ behavior: "deny", message: "No" })], "denied"],
    ["allowed where we cannot see it", [reply("t1", "")], "allowed"],
    ["withdrawn", [{ type: "control_cancel_request", request_id: "req-1" }], "expired"],
    ["never answered", [], "expired"],
  ])("[C14] %s", (_, after, state) => {
    expect(metadataOf([bash("t1"), ask, ...after], "t1")?.ask).toMatchObject({ id: "req-1", state });
  });

  it.each([
    [
      "by a person or mode",
      { permission_decision: { decision: "reject" }, non_execution_kind: "user-rejected" },
      "denied",
    ],
    ["by a rule", { non_execution_kind: "permission-rule" }, "denied"],
    ["by interrupting it", { non_execution_kind: "user-rejected" }, "cancelled"],
    ["because it failed", { permission_decision: { decision: "accept" } }, "failed"],
  ])("[C14] refused %s", (_, meta, reason) => {
    const lines = [bash("t1"), reply("t1", "No.", { tool_result_meta: [{ id: "t1", ...meta }] }, true)];
    expect(metadataOf(lines, "t1")?.reason).toBe(reason);
  });

  it.each([
    ["This command requires approval"],
    ["Claude requested permissions to write to /w/x, but you haven't granted it yet."],
    ["touch in '/w/x' was blocked. For security, Claude Code may only create files in …"],
    ["Permission to use Bash with command curl x has been denied."],
  ])("[C14] old versions say it in words: %s", (words) => {
    const lines = [bash("t1"), reply("t1", words, { tool_use_result: `Error: ${words}` }, true)];
    expect(metadataOf(lines, "t1")).toMatchObject({
      reason: "denied",
      ask: { state: "denied", message: words },
    });
  });

  it("[C5] a call that is dropped with its answer is retracted, and has not run", () => {
    const lines = [bash("t1"), reply("t1", "Streaming fallback triggered", {}, true)];
    expect(metadataOf(lines, "t1")?.reason).toBe("retracted");
    expect(only(lines, "tool_result").text).toBe("Streaming fallback triggered");
  });

  it("[C14] a denial that comes before its result", () => {
    const denied = system("permission_denied", { tool_name: "Bash", tool_use_id: "t1", message: "No rm" });
    expect(eventsOf([bash("t1"), denied], false).at(-1)).toMatchObject({
      metadata: { ask: { state: "denied" } },
    });
    expect(briefs([denied])).toEqual(['text system done permission_denied "No rm"']);
  });

  it("[C14] what hosts and CLI tell each other otherwise makes no block, an error of it does", () => {
    const quiet = ["hook_callback", "mcp_message"].map((subtype) => ({
      type: "control_request",
      request: { subtype },
    }));
    const failed = {
      type: "control_response",
      response: { subtype: "error", request_id: "c", error: "Unsupported" },
    };
    expect(briefs([...quiet, answered({}), failed])).toEqual([
      'text system done control_error "Unsupported"',
    ]);
  });
});

describe("sub-agents", () => {
  const agent = (id: string, extra = {}) =>
    call(id, "Agent", { description: "Look", prompt: "Look around" }, extra);
  const launched = { status: "async_launched", agentId: "a1", outputFile: "/tmp/o" };

  it("[C17] their lines are below the call", () => {
    const lines = [
      agent("a"),
      { type: "user", message: { content: [{ type: "text", text: "Look around" }] }, ...below("a") },
      bash("b", below("a")),
      reply("b", "out", below("a")),
      reply("a", "report", {
        tool_use_result: { status: "completed", content: [{ type: "text", text: "All well." }] },
      }),
    ];
    expect(
      foldLines(lines).blocks.map((block) => [block.kind, block.role, block.parent, block.text.slice(0, 11)]),
    ).toEqual([
      ["tool_call", "model", null, '{"descripti'],
      ["text", "user", "run/c:a", "Look around"],
      ["tool_call", "model", "run/c:a", '{"command":'],
      ["command", "tool", "run/c:b", "out"],
      ["tool_result", "tool", "run/c:a", "All well."],
    ]);
  });

  it("[C17] below an unknown call they are labelled", () => {
    const [block] = foldLines(
      [say("m1", "Report", { ...below("gone"), task_description: "Look" })].flat(),
    ).blocks;
    expect([block?.parent, block?.metadata.label]).toEqual([null, "Look"]);
  });

  it("[C17] an agent inside an agent is made of its tasks", () => {
    const lines = [
      agent("a"),
      system("task_started", { task_id: "k1", tool_use_id: "a", task_type: "local_agent" }),
      system("task_started", {
        task_id: "k2",
        parent_task_id: "k1",
        tool_use_id: "inner",
        task_type: "local_agent",
        description: "Deeper",
        prompt: "Dig",
        spawn_depth: 2,
      }),
      system("task_progress", { tool_use_id: "inner", description: "Reading a file" }),
    ];
    const inner = foldLines(lines).blocks.find((block) => block.id === "run/c:inner");
    expect(inner).toMatchObject({
      parent: "run/c:a",
      metadata: { toolName: "Agent", compactParams: "Deeper" },
    });
  });

  it("[C15] a background agent's open blocks outlive the turn, and its text comes later", () => {
    const lines = [
      init(),
      agent("a"),
      reply("a", "Async agent launched", { tool_use_result: launched }),
      bash("b", below("a")),
      done({ result_index: 0 }),
      reply("b", "out", below("a")),
      say("m9", "Found it.", below("a")),
    ];
    const { blocks } = foldLines(lines);
    expect(blocks.find((block) => block.id === "run/c:b")?.status).toBe("done");
    expect(blocks.at(-1)).toMatchObject({ parent: "run/c:a", text: "Found it.", status: "done" });
  });

  it("[C23] [C33] a background agent's report is its result; the model's message at the launch is none", () => {
    const ended = system("task_notification", {
      task_id: "k",
      tool_use_id: "a",
      status: "completed",
      summary: "Two exports",
    });
    const quiet = [agent("a"), ended, reply("a", "Two exports")];
    expect(foldLines(quiet).blocks.filter((block) => block.metadata.notice === "task")).toEqual([]);
    const loud = [agent("a"), reply("a", "Launched", { tool_use_result: launched }), ended];
    expect(foldLines(loud).blocks.slice(1)).toMatchObject([
      {
        kind: "tool_result",
        parent: "run/c:a",
        text: "Two exports",
        metadata: { toolName: "Agent", result: { taskId: "k", status: "completed" } },
      },
    ]);
    const failed = [
      agent("a"),
      reply("a", "Launched", { tool_use_result: launched }),
      { ...ended, status: "failed" },
    ];
    expect(foldLines(failed).blocks.map(({ text, status }) => [text, status])).toEqual([
      [expect.any(String), "error"],
      ["Two exports", "done"],
    ]);
  });
});
