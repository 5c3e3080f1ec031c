/** The Codex adapter, event by event: items, tools, turns and errors. Whole recordings are compared elsewhere. */
import type { BlockEvent, Json, JsonObject, Usage } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { type Folded, type FoldedBlock, fold } from "../fold.ts";
import { codexAdapter } from "./adapter.ts";
import type { CodexStart } from "./state.ts";

function eventsOf(lines: readonly Json[], before?: CodexStart): BlockEvent[] {
  const state = codexAdapter.start("run", before);
  const events = lines.flatMap((line) => [...codexAdapter.step(state, line)[1]]);
  return [...events, ...codexAdapter.end(state)];
}

/** The blocks of a stream; what breaks the contract fails every test. */
function run(...lines: readonly Json[]): Folded {
  const folded = fold(eventsOf(lines));
  expect(folded.faults).toEqual([]);
  for (const stages of folded.stages.values()) {
    expect([stages[0], stages.at(-1)]).toEqual(["start", "end"]);
    expect(stages.filter((stage) => stage === "end")).toHaveLength(1);
  }
  return folded;
}

const thread = (id = "t1"): Json => ({ type: "thread.started", thread_id: id });
const turn: Json = { type: "turn.started" };
const started = (item: JsonObject): Json => ({ type: "item.started", item });
const updated = (item: JsonObject): Json => ({ type: "item.updated", item });
const completed = (item: JsonObject): Json => ({ type: "item.completed", item });
const finished = (usage: JsonObject = { input_tokens: 10, output_tokens: 1 }): Json => ({
  type: "turn.completed",
  usage,
});
const message = (id: string, text: string): Json => completed({ id, type: "agent_message", text });

function command(id: string, more: JsonObject = {}): JsonObject {
  return {
    id,
    type: "command_execution",
    command: "/bin/bash -lc 'ls -1'",
    aggregated_output: "",
    exit_code: null,
    status: "in_progress",
    ...more,
  };
}

function shape(folded: Folded): string[] {
  return folded.blocks.map((block) => `${block.kind} ${block.status}`);
}

function only(folded: Folded, kind: string): FoldedBlock {
  const found = folded.blocks.filter((block) => block.kind === kind);
  expect(found).toHaveLength(1);
  return found[0] as FoldedBlock;
}

describe("items", () => {
  it("[X1] messages, reasoning and warnings are whole blocks", () => {
    const folded = run(
      thread(),
      turn,
      completed({ id: "item_0", type: "reasoning", text: "**Think**\nhard" }),
      message("item_1", "Hello\n"),
      completed({ id: "item_2", type: "error", message: "Careful." }),
      finished(),
    );
    expect(folded.blocks.map(({ kind, role, text }) => [kind, role, text])).toEqual([
      ["thinking", "model", "**Think**\nhard"],
      ["text", "model", "Hello\n"],
      ["error", "system", "Careful."],
    ]);
    expect(folded.blocks[2]?.metadata.notice).toBe("warning");
    expect(folded.sessions).toEqual([{ provider: "codex", sessionId: "t1" }]);
  });

  it("[X1] a message that grows is appended to, one that changes is replaced", () => {
    const say = (text: string): JsonObject => ({ id: "item_0", type: "agent_message", text });
    const events = eventsOf([turn, started(say("He")), updated(say("Hello")), completed(say("Hello!"))]);
    expect(events.filter((event) => event.type === "block-append").map((event) => event.text)).toEqual([
      "llo",
      "!",
    ]);
    expect(only(run(turn, started(say("He")), completed(say("Bye"))), "text").text).toBe("Bye");
  });

  it("[X2] a call starts, runs and ends once, with and without item.started", () => {
    const done = command("item_0", { aggregated_output: "a\n", exit_code: 0, status: "completed" });
    for (const lines of [[started(command("item_0")), completed(done)], [completed(done)]]) {
      const folded = run(turn, ...lines, finished());
      expect(shape(folded)).toEqual(["tool_call done", "command done"]);
      expect([...folded.stages.values()]).toEqual([["start", "running", "end"]]);
      const [call, result] = folded.blocks;
      expect(result?.parent).toBe(call?.id);
      expect(call?.text).toBe(`{"command":"/bin/bash -lc 'ls -1'"}`);
      expect(result?.text).toBe("a\n");
    }
  });

  it("[X2] each tool item has the result of its kind", () => {
    const folded = run(
      turn,
      completed(command("i0", { status: "completed", exit_code: 0 })),
      completed({ id: "i1", type: "file_change", changes: [], status: "completed" }),
      completed({ id: "i2", type: "todo_list", items: [] }),
      completed({
        id: "i3",
        type: "mcp_tool_call",
        server: "s",
        tool: "t",
        arguments: {},
        result: null,
        error: null,
        status: "completed",
      }),
      completed({ id: "i4", type: "collab_tool_call", tool: "wait", agents_states: {}, status: "completed" }),
      completed({ id: "i5", type: "web_search", query: "q" }),
      finished(),
    );
    expect(folded.blocks.map((block) => block.kind)).toEqual([
      ...["tool_call", "command"],
      ...["tool_call", "file_change"],
      ...["tool_call", "todo"],
      ...["tool_call", "tool_result"],
      ...["tool_call", "tool_result"],
      "tool_call",
    ]);
    expect(folded.unknown).toEqual({});
  });

  it("[X3] a search with two ids is one call, whichever of them is read", () => {
    const line = (event: string, query: string) =>
      `{"type":"item.${event}","item":{"id":"item_6","type":"web_search","id":"ws_0a","query":"${query}","action":{"type":"${query === "" ? "other" : "search"}","query":"${query}"}}}`;
    const last = [line("started", ""), line("completed", "node")].map((text) => JSON.parse(text) as Json);
    const mixed = [
      started({ id: "item_6", type: "web_search", query: "" }),
      completed({
        id: "ws_0a",
        type: "web_search",
        query: "node",
        action: { type: "search", query: "node" },
      }),
    ];
    for (const lines of [last, mixed]) {
      const call = only(run(turn, ...lines, finished()), "tool_call");
      expect(call.metadata).toMatchObject({ compactParams: "node", success: true, remote: true });
      expect(JSON.parse(call.text)).toMatchObject({ query: "node" });
    }
  });

  it("[X3] parallel items with other ids are told apart by what they are about", () => {
    const one = { type: "command_execution", command: "sleep 1" };
    const two = { type: "command_execution", command: "sleep 2" };
    const end = { aggregated_output: "x", exit_code: 0, status: "completed" };
    const folded = run(
      turn,
      started({ id: "a", ...one }),
      started({ id: "b", ...two }),
      completed({ id: "c", ...two, ...end }),
      completed({ id: "d", ...one, ...end }),
      finished(),
    );
    expect(
      folded.blocks.map(({ kind, metadata }) => [kind, metadata.compactParams ?? metadata.command]),
    ).toEqual([
      ["tool_call", "sleep 1"],
      ["tool_call", "sleep 2"],
      ["command", "sleep 2"],
      ["command", "sleep 1"],
    ]);
  });

  it("[X3] what starts again under another id is another call", () => {
    const folded = run(
      turn,
      started(command("item_1")),
      started(command("item_3")),
      completed(command("item_3", { aggregated_output: "one", exit_code: 0, status: "completed" })),
      finished(),
    );
    expect(shape(folded)).toEqual(["tool_call error", "tool_call done", "command done"]);
  });

  it("[X4] what is sent again, or starts after its end, adds nothing", () => {
    const done = completed(command("item_0", { aggregated_output: "a", exit_code: 0, status: "completed" }));
    const folded = run(
      turn,
      done,
      done,
      started(command("item_0")),
      message("item_1", "x"),
      message("item_1", "x"),
      finished(),
    );
    expect(shape(folded)).toEqual(["tool_call done", "command done", "text done"]);
  });

  it("[X4] a resumed thread on the same stream counts its items anew", () => {
    const folded = run(
      thread(),
      turn,
      message("item_0", "a"),
      finished(),
      thread(),
      turn,
      message("item_0", "a"),
      finished(),
    );
    expect(folded.blocks.map((block) => block.text)).toEqual(["a", "a"]);
    expect(folded.turns).toHaveLength(2);
  });

  it("[X4] an id that two types share names two items", () => {
    const folded = run(
      turn,
      started(command("x")),
      completed({ id: "x", type: "reasoning", text: "t" }),
      finished(),
    );
    expect(shape(folded)).toEqual(["tool_call error", "thinking done"]);
  });

  it.each([
    ["the turn ends", [finished()], "done"],
    ["the turn fails", [{ type: "turn.failed", error: { message: "no" } }], "error"],
    ["another turn begins", [turn], "error"],
    ["another thread begins", [thread("t2")], "error"],
    ["the stream stops", [], "error"],
  ] as const)("[X5] what is open when %s is interrupted", (_, lines, status) => {
    const folded = run(
      turn,
      started(command("item_0")),
      started({ id: "item_1", type: "todo_list", items: [{ text: "a", completed: false }] }),
      updated({ id: "item_1", type: "todo_list", items: [{ text: "a", completed: true }] }),
      ...lines,
    );
    const open = folded.blocks.slice(0, 3);
    expect(open.map((block) => [block.kind, block.status, block.metadata.reason])).toEqual([
      ["tool_call", "error", "interrupted"],
      ["tool_call", "error", "interrupted"],
      ["todo", "error", "interrupted"],
    ]);
    expect(open[2]?.text).toBe("- [x] a");
    expect(folded.turns[0]?.status).toBe(status);
  });

  it("[X6] what is not known is kept, with its last state", () => {
    const folded = run(
      turn,
      started({ id: "item_0", type: "hologram", beam: 1 }),
      completed({ id: "item_0", type: "hologram", beam: 2 }),
      completed({ id: "item_1", type: "hologram", beam: 3 }),
      started({ id: "item_2", type: "hologram", beam: 4 }),
      { type: "thread.archived", why: "old" },
      { type: "item.completed", item: 7 },
      ["no", "object"],
      finished(),
    );
    expect(folded.unknown).toEqual({
      "item/hologram": 3,
      "thread.archived": 1,
      "item.completed": 1,
      "(array)": 1,
    });
    expect(folded.blocks.map((block) => block.text)[0]).toContain('"beam": 2');
    expect(folded.blocks.every((block) => block.kind === "unknown")).toBe(true);
  });
});

it.each<[JsonObject, readonly string[]]>([
  [{ type: "browser_call", action: { url: "a" }, output: "Page" }, ["tool_call done", "tool_result done"]],
  [
    { type: "browser_call", url: "a", result: { content: [{ type: "text", text: "Page" }] } },
    ["tool_call done", "tool_result done"],
  ],
  [
    { type: "sparkle", tool: "glow", status: "failed", error: { message: "Dark" } },
    ["tool_call error", "tool_result error"],
  ],
  [{ type: "page_view" }, ["tool_call done"]],
])("[X6] an item that is like a tool is a call: %j", (item, expected) => {
  const whole = { id: "i", status: "completed", ...item };
  const folded = run(
    thread(),
    turn,
    started({ ...whole, status: "in_progress" }),
    completed(whole),
    finished(),
  );
  expect(shape(folded)).toEqual(expected);
  expect(folded.unknown).toEqual({});
  expect(folded.blocks[0]?.metadata.toolName).toBe(item.tool ?? item.type);
});

it("[X6] what is not known and never completes keeps its last state too", () => {
  const item = (state: number): JsonObject => ({ id: "i", type: "hologram", state });
  const folded = run(thread(), turn, started(item(1)), updated(item(2)), finished());
  expect(folded.blocks).toMatchObject([{ kind: "unknown", status: "error" }]);
  expect(JSON.parse(folded.blocks[0]?.text ?? "")).toEqual(item(2));
});

describe("tools", () => {
  it.each<[string, Json, string]>([
    ["cancelled", null, "error"],
    ["timed_out", null, "error"],
    ["errored", 9, "error"],
    ["finished", 1, "error"],
    ["finished", 0, "done"],
    ["failed", "3", "error"],
    ["finished", null, "done"],
  ])("[X8] a status that is new (%s, exit %s) is %s", (status, exit_code, expected) => {
    const folded = run(thread(), turn, completed(command("i", { status, exit_code })), finished());
    expect(shape(folded)).toEqual([`tool_call ${expected}`, `command ${expected}`]);
  });

  it("[X12] an MCP result may be a text", () => {
    const call = { type: "mcp_tool_call", server: "s", tool: "t", arguments: {}, status: "completed" };
    const folded = run(
      completed({ ...call, id: "a", result: "one" }),
      completed({ ...call, id: "b", result: { content: "two" } }),
    );
    const results = folded.blocks.filter(({ kind }) => kind === "tool_result");
    expect(results.map(({ text }) => text)).toEqual(["one", "two"]);
  });

  it("[X10] [X11] a move and the steps of a plan may be written as the model was asked to", () => {
    const changes = [{ path: "/a", kind: { type: "update", move_path: "/b" } }];
    const items = [
      { step: "one", status: "completed" },
      { step: "two", status: "in_progress" },
    ];
    const folded = run(
      completed({ id: "f", type: "file_change", changes, status: "completed" }),
      completed({ id: "p", type: "todo_list", items }),
    );
    expect(only(folded, "file_change").metadata.changes).toEqual([
      { path: "/a", kind: "modify", movedTo: "/b" },
    ]);
    expect(only(folded, "todo").metadata.items).toEqual([
      { content: "one", status: "completed" },
      { content: "two", status: "in_progress" },
    ]);
  });

  it("[X7] a command shows what was asked and keeps what was printed", () => {
    const raw = String.raw`/bin/bash -lc "echo \"hi\""`;
    const folded = run(turn, completed(command("i", { command: raw, exit_code: 0, status: "completed" })));
    expect(only(folded, "command").metadata).toMatchObject({ command: 'echo "hi"', rawCommand: raw });
    expect(only(folded, "tool_call").metadata.input).toEqual({ command: raw });
    const bare = run(turn, completed(command("i", { command: "echo x", exit_code: 0, status: "completed" })));
    expect(only(bare, "command").metadata).not.toHaveProperty("rawCommand");
  });

  it.each([
    [{ exit_code: 0, status: "completed" }, { exitCode: 0 }, "done", "no output"],
    [{ exit_code: 3, status: "failed" }, { exitCode: 3, isError: true, reason: "failed" }, "error", "exit 3"],
    [
      { exit_code: null, status: "failed" },
      { exitCode: null, isError: true, reason: "failed" },
      "error",
      "failed",
    ],
    [{ status: "completed" }, {}, "done", "no output"],
    [
      { exit_code: null, status: "declined" },
      { exitCode: null, isError: true, reason: "denied" },
      "error",
      "declined",
    ],
    [{ exit_code: 2, status: null }, { exitCode: 2, isError: true, reason: "failed" }, "error", "exit 2"],
  ] as const)("[X8] %j", (fields, metadata, status, row) => {
    const { exit_code: _, status: _status, ...base } = command("i");
    const folded = run(turn, completed({ ...base, ...fields }));
    const result = only(folded, "command");
    const { toolUseId: _id, toolName: _name, command: _command, rawCommand: _raw, ...rest } = result.metadata;
    expect(rest).toEqual(metadata);
    expect(result.status).toBe(status);
    expect(only(folded, "tool_call").metadata).toMatchObject({
      shortResult: row,
      success: status === "done",
    });
  });

  it("[X9] output that grows is appended, the last event is authoritative", () => {
    const at = (aggregated_output: string): JsonObject => command("i", { aggregated_output });
    const end = command("i", { aggregated_output: "one\ntwo\nthree\n", exit_code: 0, status: "completed" });
    const lines = [
      turn,
      started(at("")),
      updated(at("one\n")),
      updated(at("one\ntwo\n")),
      completed(end),
      finished(),
    ];
    expect(
      eventsOf(lines)
        .filter((event) => event.type === "block-append")
        .map((event) => event.text),
    ).toEqual(["two\n"]);
    expect(only(run(...lines), "command").text).toBe("one\ntwo\nthree\n");
    const cut = run(...lines.slice(0, 4));
    expect(only(cut, "command")).toMatchObject({
      text: "one\ntwo\n",
      status: "error",
      metadata: { interrupted: true },
    });
  });

  it("[X10] update is modify, and there is no diff", () => {
    const changes = [
      { path: "/w/a", kind: "delete" },
      { path: "/w/b", kind: "update" },
      { path: "/w/c", kind: "add" },
    ];
    const item = { id: "i", type: "file_change", changes };
    const folded = run(
      turn,
      started({ ...item, status: "in_progress" }),
      completed({ ...item, status: "completed" }),
    );
    expect(only(folded, "file_change")).toMatchObject({
      text: "",
      metadata: {
        changes: [
          { path: "/w/a", kind: "delete" },
          { path: "/w/b", kind: "modify" },
          { path: "/w/c", kind: "add" },
        ],
      },
    });
    const failed = run(turn, completed({ ...item, status: "failed" }));
    expect(only(failed, "file_change")).toMatchObject({ status: "error", metadata: { isError: true } });
  });

  it("[X11] a to-do list is one block, updated until it ends", () => {
    const list = (...done: boolean[]): JsonObject => ({
      id: "item_4",
      type: "todo_list",
      items: done.map((completed, i) => ({ text: `step ${i}`, completed })),
    });
    const lines = [
      turn,
      started(list(false, false)),
      updated(list(true, false)),
      message("item_5", "m"),
      completed(list(true, true)),
      finished(),
    ];
    const folded = run(...lines);
    expect(folded.blocks.map((block) => block.kind)).toEqual(["tool_call", "todo", "text"]);
    expect(only(folded, "todo")).toMatchObject({
      text: "- [x] step 0\n- [x] step 1",
      metadata: {
        items: [
          { content: "step 0", status: "completed" },
          { content: "step 1", status: "completed" },
        ],
      },
    });
    expect(only(folded, "tool_call").metadata.shortResult).toBe("2/2 done");
    const live = fold(eventsOf(lines).slice(0, 7));
    expect(only(live, "todo").metadata.items).toEqual([
      { content: "step 0", status: "completed" },
      { content: "step 1", status: "pending" },
    ]);
    expect(only(live, "tool_call").metadata.shortResult).toBe("1/2 done");
  });

  it("[X12] MCP: texts, images, other parts, structured content, both kinds of failure", () => {
    const call = { type: "mcp_tool_call", server: "lab", tool: "t", arguments: { a: 1 } };
    const folded = run(
      turn,
      completed({
        id: "i0",
        ...call,
        result: {
          content: [
            { type: "text", text: "one" },
            { type: "image", data: "aGk=", mimeType: "image/png" },
            { type: "resource_link", uri: "lab://x" },
          ],
          structured_content: { n: 1 },
        },
        error: null,
        status: "completed",
      }),
      completed({
        id: "i1",
        ...call,
        result: { content: [{ type: "text", text: "bad" }], structured_content: null },
        error: null,
        status: "failed",
      }),
      completed({ id: "i2", ...call, result: null, error: { message: "RPC\nfailed" }, status: "failed" }),
    );
    const results = folded.blocks.filter((block) => block.kind === "tool_result");
    expect(results.map(({ text, status }) => [text, status])).toEqual([
      ['one\n{"type":"resource_link","uri":"lab://x"}', "done"],
      ["bad", "error"],
      ["RPC\nfailed", "error"],
    ]);
    expect(results[0]?.metadata).toMatchObject({
      toolName: "mcp__lab__t",
      images: [{ data: "aGk=", mediaType: "image/png" }],
      result: { structured_content: { n: 1 } },
    });
    expect(folded.blocks[0]?.metadata).toMatchObject({ server: "lab", displayName: "t" });
    expect(
      folded.blocks.filter((block) => block.kind === "tool_call").map((block) => block.metadata.error),
    ).toEqual([undefined, "bad", "RPC"]);
  });

  it("[X13] sub-agents: what they said", () => {
    const call = { type: "collab_tool_call", sender_thread_id: "t1" };
    const folded = run(
      turn,
      started({
        id: "i0",
        ...call,
        tool: "spawn_agent",
        receiver_thread_ids: [],
        prompt: "count",
        agents_states: {},
        status: "in_progress",
      }),
      completed({
        id: "i0",
        ...call,
        tool: "spawn_agent",
        receiver_thread_ids: ["t2"],
        prompt: "count",
        agents_states: { t2: { status: "pending_init", message: null } },
        status: "completed",
      }),
      completed({
        id: "i1",
        ...call,
        tool: "wait",
        receiver_thread_ids: ["t2"],
        prompt: null,
        agents_states: { t2: { status: "completed", message: "Two." } },
        status: "completed",
      }),
    );
    expect(
      folded.blocks.map(({ kind, text, metadata }) => [kind, metadata.toolName, text, metadata.shortResult]),
    ).toEqual([
      ["tool_call", "spawn_agent", '{"prompt":"count"}', "1 agent started"],
      ["tool_result", "spawn_agent", "", undefined],
      ["tool_call", "wait", '{"receiver_thread_ids":["t2"]}', "completed: Two."],
      ["tool_result", "wait", "completed: Two.", undefined],
    ]);
  });

  it.each([
    [command("i", { aggregated_output: "one\n", exit_code: 0, status: "completed" }), "ls -1", "one"],
    [command("i", { aggregated_output: "1\n2\n3\n", exit_code: 0, status: "completed" }), "ls -1", "3 lines"],
    [command("i", { exit_code: 127, status: "failed" }), "ls -1", "exit 127"],
    [
      {
        id: "i",
        type: "file_change",
        changes: [
          { path: "/w/src/a.js", kind: "add" },
          { path: "b.js", kind: "add" },
        ],
        status: "completed",
      },
      "a.js, b.js",
      "2 files",
    ],
    [
      {
        id: "i",
        type: "todo_list",
        items: [
          { text: "x", completed: true },
          { text: "y", completed: false },
        ],
      },
      "2 steps",
      "1/2 done",
    ],
    [
      {
        id: "i",
        type: "mcp_tool_call",
        server: "s",
        tool: "t",
        arguments: { query: "q" },
        result: { content: [{ type: "text", text: "r" }] },
        status: "completed",
      },
      "q",
      "r",
    ],
    [
      { id: "i", type: "web_search", query: "", action: { type: "find_in_page", url: "u", pattern: "p" } },
      "'p' in u",
      "searched in page",
    ],
  ])("[X14] the row of %j", (item, params, result) => {
    const call = only(run(turn, completed(item)), "tool_call");
    expect([call.metadata.compactParams, call.metadata.shortResult]).toEqual([params, result]);
  });
});

describe("turns and errors", () => {
  it.each([["Reconnecting... 1/5 (stream disconnected)"], ["Re-connecting... 1/1"]])(
    "[X15] %s is a notice",
    (text) => {
      const folded = run(turn, { type: "error", message: text }, message("i", "ok"), finished());
      expect(folded.blocks[0]).toMatchObject({
        kind: "error",
        status: "done",
        text,
        metadata: { notice: "retry", retryable: true },
      });
      expect(folded.turns[0]?.status).toBe("done");
    },
  );

  it("[X15] while it reconnects, only the count of the line changes: its words name no attempt", () => {
    const retry = (n: number) => ({ type: "error", message: `Reconnecting... ${n}/5 (stream closed)` });
    const [begun] = eventsOf([turn, retry(1), retry(2)]).filter(({ type }) => type === "block-start");
    expect(begun).toMatchObject({ text: "Reconnecting... (stream closed)" });
  });

  it("[X15] an error that the turn survives is a warning", () => {
    const folded = run(turn, { type: "error", message: "odd" }, message("i", "ok"), finished());
    expect(folded.blocks[0]).toMatchObject({ status: "done", text: "odd", metadata: { notice: "warning" } });
  });

  it("[X16] the message of a failed turn is shown once, unpacked", () => {
    const body = JSON.stringify({
      error: {
        message: "Invalid value",
        type: "invalid_request_error",
        param: "input",
        code: "invalid_value",
      },
    });
    const lines = [turn, { type: "error", message: body }, { type: "turn.failed", error: { message: body } }];
    const folded = run(...lines);
    expect(shape(folded)).toEqual(["error error"]);
    expect(folded.blocks[0]).toMatchObject({
      text: "Invalid value",
      metadata: {
        code: "invalid_value",
        details: { type: "invalid_request_error", param: "input" },
        reason: "failed",
      },
    });
    expect(folded.turns[0]).toMatchObject({ status: "error", reason: "failed", error: "Invalid value" });
  });

  it("[X16] a failure that no error line announced is shown, another error stays beside it", () => {
    const folded = run(
      turn,
      { type: "error", message: "first" },
      { type: "turn.failed", error: { message: "second" } },
    );
    expect(folded.blocks.map(({ text, status }) => [text, status])).toEqual([
      ["first", "done"],
      ["second", "error"],
    ]);
    expect(shape(run(turn, { type: "turn.failed", error: { message: "alone" } }))).toEqual(["error error"]);
  });

  it("[X17] an answer that comes again after a retry is marked", () => {
    const folded = run(
      turn,
      message("a", "Half."),
      { type: "error", message: "Reconnecting... 1/1" },
      message("b", "Half."),
      message("c", "Half."),
      finished(),
    );
    const texts = folded.blocks.filter((block) => block.kind === "text");
    expect(texts.map(({ text, metadata }) => [text, metadata.notice])).toEqual([
      ["Half.", undefined],
      ["Half.", "repeat"],
      ["Half.", undefined],
    ]);
  });

  const native = (input: number, output: number) => ({
    input_tokens: input,
    cached_input_tokens: input / 2,
    cache_write_input_tokens: 1,
    output_tokens: output,
    reasoning_output_tokens: output / 2,
  });
  const usage = (input: number, output: number, cacheWrite = 1): Usage => ({
    input,
    cacheRead: input / 2,
    cacheWrite,
    output,
    reasoning: output / 2,
  });

  it("[X18] a resumed thread's total is taken apart", () => {
    const lines = [thread(), turn, finished(native(8400, 192))];
    const [first] = fold(eventsOf(lines)).turns;
    expect(first?.usage).toEqual(usage(8400, 192));
    expect(first?.native).toEqual({ usage: native(8400, 192) });
    const [second] = fold(eventsOf(lines, { previousUsage: usage(4200, 96) })).turns;
    expect(second?.usage).toEqual(usage(4200, 96, 0));
  });

  it("[X18] the turns of one thread add up to its total, a review adds nothing, another thread begins at zero", () => {
    const totals = [native(100, 10), native(300, 40), native(0, 0), native(360, 44)];
    const folded = run(
      ...totals.flatMap((total) => [thread("a"), turn, finished(total)]),
      thread("b"),
      turn,
      finished(native(50, 2)),
    );
    expect(folded.turns.map((each) => [each.usage?.input, each.usage?.output])).toEqual([
      [100, 10],
      [200, 30],
      [0, 0],
      [60, 4],
      [50, 2],
    ]);
  });

  it("[X18] older versions have fewer counters", () => {
    const folded = run(turn, finished({ input_tokens: 4200, cached_input_tokens: 3072, output_tokens: 96 }));
    expect(folded.turns[0]?.usage).toEqual({
      input: 4200,
      cacheRead: 3072,
      cacheWrite: 0,
      output: 96,
      reasoning: 0,
    });
    expect(run(turn, { type: "turn.completed" }).turns[0]?.usage).toBeUndefined();
  });

  it("[X19] a turn that ends without having begun, and a warning before any turn", () => {
    const folded = run(
      thread(),
      completed({ id: "item_0", type: "error", message: "w" }),
      message("item_1", "x"),
      finished(),
    );
    expect(folded.turns).toHaveLength(1);
    expect(folded.turns[0]?.status).toBe("done");
    expect(run(thread(), { type: "turn.failed", error: {} }).turns[0]?.status).toBe("error");
  });
});

it("[P7] an item that can be read only when it ends is a call beside what could not be read", () => {
  const { blocks } = run(
    thread(),
    turn,
    started({ id: "i", type: "hologram" }),
    completed({
      id: "i",
      type: "hologram",
      tool: "scan",
      arguments: { a: 1 },
      result: "ok",
      status: "completed",
    }),
    finished(),
  );
  expect(blocks.map(({ kind }) => kind)).toEqual(["unknown", "tool_call", "tool_result"]);
  expect(blocks[0]?.metadata).not.toHaveProperty("success");
});
