/** The importer of rollout logs, record by record: what counts, threads and turns. */
import type { Json } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { fold } from "../fold.ts";
import { logFile } from "../log.ts";
import { codexParentThread, findCodexLogs, importCodexLog } from "./log.ts";
import {
  call,
  done,
  event,
  eventsOf,
  item,
  meta,
  output,
  prompt,
  read,
  said,
  shown,
  tokens,
} from "./testing/log-records.ts";

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

describe("threads and turns", () => {
  const child = [
    meta("t2", { source: { subagent: { thread_spawn: { parent_thread_id: "t1", agent_nickname: "Ada" } } } }),
    prompt("count"),
    said("assistant", "Two."),
    tokens(50, 5),
    event("token_count", { info: null }),
  ];

  it("[X29] an agent's thread is found by the event of the call that started it; what agents write to each other is shown", () => {
    const wrote = (author: string, recipient: string, text: string) => ({
      type: "response_item",
      payload: {
        type: "agent_message",
        author,
        recipient,
        content: [
          {
            type: "input_text",
            text: `Message Type: X\nTask name: ${recipient}\nSender: ${author}\nPayload:\n${text}`,
          },
        ],
      },
    });
    const activity = {
      type: "SubAgentActivity",
      id: "c1",
      kind: "started",
      agent_thread_id: "t2",
      agent_path: "/root/a",
    };
    const folded = read(
      [
        meta(),
        prompt("go"),
        call("spawn_agent", { task_name: "a" }, "c1"),
        event("item_completed", { item: activity }),
        output('{"task_name":"/root/a"}', "c1"),
        { type: "inter_agent_communication_metadata", payload: { trigger_turn: false } },
        wrote("/root/a", "/root", "Two."),
        said("assistant", "Done."),
      ],
      [
        meta("t2", { parent_thread_id: "t1", agent_nickname: "Ada" }),
        wrote("/root", "/root/a", "count"),
        wrote("/root", "/root/a", ""),
        said("assistant", "Two."),
      ],
    );
    const spawn = folded.blocks.find((block) => block.kind === "tool_call")?.id;
    expect(folded.unknown).toEqual({});
    expect(folded.blocks.map(({ parent, role, text }) => [parent, role, text])).toEqual([
      [null, "user", "go"],
      [null, "model", '{"task_name":"a"}'],
      [spawn, "tool", '{"task_name":"/root/a"}'],
      [spawn, "user", "count"],
      [spawn, "model", "Two."],
      [null, "system", "Agent /root/a: Two."],
      [null, "model", "Done."],
    ]);
  });

  it("[X20] a plan inside an answer is shown once, as the item that tells it", () => {
    const plan = event("item_completed", { item: { type: "Plan", id: "p", text: "# Plan\n- a\n" } });
    const words = "Here.\n\n<proposed_plan>\n# Plan\n- a\n</proposed_plan>\n\nShall I?";
    const shown = event("agent_message", { message: "Here.\n\n\nShall I?" });
    const texts = (...records: Json[]) => read([meta(), ...records]).blocks.map(({ text }) => text);
    expect(texts(plan, shown, said("assistant", words))).toEqual(["# Plan\n- a\n", "Here.\n\n\nShall I?"]);
    expect(texts(plan, said("assistant", words.slice(7, -10)))).toEqual(["# Plan\n- a\n"]);
    expect(texts(said("assistant", words))).toEqual([words]);
  });

  it("[X22] what a tool of the client gave, and answers that are kept", () => {
    const item = {
      type: "DynamicToolCall",
      id: "c1",
      tool: "lookup",
      status: "failed",
      content_items: [
        { type: "inputText", text: "no eight" },
        { type: "inputImage", imageUrl: "data:image/png;base64,aGk=" },
      ],
      success: false,
    };
    const folded = read([
      meta(),
      prompt("go"),
      call("lookup", { id: 8 }, "c1"),
      event("item_completed", { item }),
      output("no eight", "c1"),
      { type: "retained_context", payload: { type: "verified_answer", call_id: "c0" } },
    ]);
    expect(folded.unknown).toEqual({});
    expect(folded.blocks.slice(1)).toMatchObject([
      { kind: "tool_call", status: "error", metadata: { toolName: "lookup", error: "no eight" } },
      { text: "no eight", metadata: { isError: true, images: [{ data: "aGk=", mediaType: "image/png" }] } },
    ]);
  });

  it("[X21] what Codex puts before the model by itself is not shown", () => {
    const goal = {
      type: "function_call_output",
      name: "goal_objective",
      namespace: "agent",
      output: "Ship it",
    };
    const update = { type: "configuration_update", reasoning: { effort: "high" } };
    const folded = read([
      meta(),
      prompt("go"),
      ...[goal, update].map((payload) => ({ type: "response_item", payload })),
    ]);
    expect(folded.unknown).toEqual({});
    expect(folded.blocks.map(({ text }) => text)).toEqual(["go"]);
  });

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

  it("[X30] a turn that was completed without a message, and in which nothing was said or done, has failed", () => {
    const { turns } = read([
      meta(),
      event("task_started", { turn_id: "a" }),
      event("task_complete", { turn_id: "a", last_agent_message: null }),
      event("task_started", { turn_id: "b" }),
      call("exec_command", { cmd: "x" }),
      event("task_complete", { turn_id: "b", last_agent_message: null }),
      event("task_started", { turn_id: "c" }),
      { type: "compacted", payload: { message: "" } },
      event("task_complete", { turn_id: "c", last_agent_message: null }),
      event("task_started", { turn_id: "d" }),
      tokens(250, 30),
      event("task_complete", { turn_id: "d", last_agent_message: null }),
    ]);
    expect(turns.map(({ status, reason }) => [status, reason])).toEqual([
      ["error", "failed"],
      ["done", undefined],
      ["done", undefined],
      ["done", undefined],
    ]);
    expect(turns[0]?.error).toContain("without an answer");
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
