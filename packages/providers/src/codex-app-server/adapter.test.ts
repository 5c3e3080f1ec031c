/**
 * Rules of the app-server's adapter that the recordings show only in part, or not at all: messages out of order, cut
 * short, repeated, of sub-agents and of later versions. goldens.test.ts and equalities.test.ts check recorded traffic.
 */
import type { Json, JsonObject } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { type Folded, type FoldedBlock, fold } from "../fold.ts";
import { codexAppServerAdapter } from "./adapter.ts";

const T = "thread-1";
const TURN = "turn-1";

type Line = readonly ["in" | "out", Json];

function play(lines: readonly Line[], before?: { previousUsage: never } | object): Folded {
  let state = codexAppServerAdapter.start("run", before);
  const events = lines.flatMap(([dir, message]) => {
    const [next, out] = codexAppServerAdapter.step(state, { t: 0, dir, line: JSON.stringify(message) });
    state = next;
    return out;
  });
  const folded = fold([...events, ...codexAppServerAdapter.end(state)]);
  expect(folded.faults).toEqual([]);
  return folded;
}

const opened: Line = [
  "out",
  {
    id: 1,
    result: { thread: { id: T, name: null }, model: "gpt-5.5", cwd: "/w", sandbox: { type: "readOnly" } },
  },
];
const note = (method: string, params: JsonObject): Line => [
  "out",
  { method, params: { threadId: T, turnId: TURN, ...params } },
];
const started = (item: JsonObject, more: JsonObject = {}) => note("item/started", { item, ...more });
const completed = (item: JsonObject, more: JsonObject = {}) => note("item/completed", { item, ...more });
const turn = (status: string, more: JsonObject = {}) =>
  note("turn/completed", { turn: { id: TURN, status, ...more } });
const begun: Line = note("turn/started", { turn: { id: TURN } });
const usage = (input: number, output: number, more: JsonObject = {}): Line =>
  note("thread/tokenUsage/updated", {
    tokenUsage: { total: { inputTokens: input, outputTokens: output }, last: {}, modelContextWindow: 1000 },
    ...more,
  });
const ask = (id: number, method: string, params: JsonObject): Line => [
  "out",
  { id, method, params: { threadId: T, turnId: TURN, ...params } },
];
const reply = (id: number, result: Json): Line => ["in", { id, result }];
const command = (more: JsonObject = {}): JsonObject => ({
  ...{
    type: "commandExecution",
    id: "c",
    command: "/bin/bash -lc 'make it'",
    cwd: "/w",
    status: "inProgress",
  },
  ...more,
});

const whole = (...lines: readonly Line[]) => play([opened, begun, ...lines, turn("completed")]);
const one = ({ blocks }: Folded, kind: string): FoldedBlock => {
  const found = blocks.filter((block) => block.kind === kind);
  expect(found).toHaveLength(1);
  return found[0] as FoldedBlock;
};

describe("lines", () => {
  it("[X60] its output alone reads like both directions", () => {
    let state = codexAppServerAdapter.start("run");
    const lines = [
      opened,
      begun,
      completed({ type: "agentMessage", id: "m", text: "hi" }),
      turn("completed"),
    ];
    const events = lines.flatMap(([, message]) => {
      const [next, out] = codexAppServerAdapter.step(state, message);
      state = next;
      return out;
    });
    expect(fold([...events, ...codexAppServerAdapter.end(state)])).toEqual(play(lines));
  });

  it("[X60] noise of the client is ignored, noise of the agent is kept, half a line is a cut", () => {
    let state = codexAppServerAdapter.start("run");
    const texts: string[] = [];
    for (const [dir, line, more] of [
      ["in", "nonsense", {}],
      ["out", "nonsense", {}],
      ["out", '{"method":', { unterminated: true }],
    ] as const) {
      const [next, out] = codexAppServerAdapter.step(state, { t: 0, dir, line, ...more });
      state = next;
      texts.push(...out.flatMap((event) => (event.type === "block-start" ? [event.text ?? ""] : [])));
    }
    expect(texts).toEqual(["nonsense"]);
  });

  it("[X76] an unknown notification, item and question are shown", () => {
    const { unknown } = whole(
      note("thread/brandNew", {}),
      completed({ type: "hologram", id: "h" }),
      ask(7, "item/brandNew/ask", {}),
    );
    expect(unknown).toEqual({ "item/hologram": 1, "request/item/brandNew/ask": 1, "thread/brandNew": 1 });
  });
});

it("[X61] what versions up to 0.110 tell a second time, by the names of the inner protocol, adds nothing", () => {
  const old = (conversationId: string): Line => [
    "out",
    {
      method: "codex/event/agent_message",
      params: { id: TURN, msg: { type: "agent_message", message: "Hi." }, conversationId },
    },
  ];
  const said = completed({ type: "agentMessage", id: "m", text: "Hi." });
  const { blocks, unknown } = whole(said, old(T));
  expect([blocks.map(({ text }) => text), unknown]).toEqual([["Hi."], {}]);
  expect(whole(old("somebody else's")).unknown).toEqual({ "codex/event/agent_message": 1 });
});

it("[X76] the client's storage of a thread is not part of its conversation", () => {
  const { blocks, unknown } = whole(note("thread/section/changed", { threadId: "t", sectionId: null }));
  expect([blocks, unknown]).toEqual([[], {}]);
});

describe("items", () => {
  it("[X76] an item that is like a tool is a call", () => {
    const item = {
      type: "browserCall",
      id: "b",
      url: "https://x.example",
      status: "completed",
      result: "Page",
    };
    const { blocks, unknown } = whole(
      started({ ...item, status: "inProgress", result: null }),
      completed(item),
    );
    expect(unknown).toEqual({});
    expect(blocks).toMatchObject([
      {
        kind: "tool_call",
        status: "done",
        metadata: { toolName: "browser_call", input: { url: "https://x.example" } },
      },
      { kind: "tool_result", text: "Page" },
    ]);
  });

  it("[X61] an item that only completes, or is repeated, is one block", () => {
    const message = { type: "agentMessage", id: "m", text: "hi" };
    const { blocks } = whole(
      completed(message),
      started({ type: "agentMessage", id: "n", text: "" }),
      started({ type: "agentMessage", id: "n", text: "" }),
      completed({ ...message, id: "n", text: "ho" }),
    );
    expect(blocks.map(({ text }) => text)).toEqual(["hi", "ho"]);
  });

  it("[X62] words are appended as they come, and the whole message counts", () => {
    const folded = whole(
      started({ type: "agentMessage", id: "m", text: "" }),
      note("item/agentMessage/delta", { itemId: "m", delta: "Hel" }),
      note("item/agentMessage/delta", { itemId: "m", delta: "lo" }),
      completed({ type: "agentMessage", id: "m", text: "Hello!" }),
    );
    expect(one(folded, "text")).toMatchObject({ text: "Hello!", status: "done" });
  });

  it("[X62] a message cut by another one stays as far as it came", () => {
    const { blocks } = whole(
      started({ type: "agentMessage", id: "m", text: "" }),
      note("item/agentMessage/delta", { itemId: "m", delta: "One two" }),
      started({ type: "userMessage", id: "u", clientId: "x", content: [{ type: "text", text: "Stop" }] }),
      completed({ type: "userMessage", id: "u", clientId: "x", content: [{ type: "text", text: "Stop" }] }),
      completed({ type: "agentMessage", id: "n", text: "Yes" }),
    );
    expect(blocks.map(({ role, text, status }) => [role, text, status])).toEqual([
      ["model", "One two", "error"],
      ["user", "Stop", "done"],
      ["model", "Yes", "done"],
    ]);
  });

  it("[X63] output is shown live and replaced by the whole", () => {
    const folded = whole(
      started(command()),
      note("item/commandExecution/outputDelta", { itemId: "c", delta: "two\n" }),
      completed(command({ status: "completed", exitCode: 0, aggregatedOutput: "one\ntwo\n" })),
    );
    expect(one(folded, "command").text).toBe("one\ntwo\n");
    expect(one(folded, "command").metadata).toMatchObject({ command: "make it", exitCode: 0 });
  });

  it("[X63] if the whole omits its middle and the deltas have more, the deltas stay", () => {
    const long = "x".repeat(100);
    const folded = whole(
      started(command()),
      note("item/commandExecution/outputDelta", { itemId: "c", delta: long }),
      completed(
        command({ status: "completed", exitCode: 0, aggregatedOutput: "x ... 98 bytes omitted ... x" }),
      ),
    );
    expect(one(folded, "command").text).toBe(long);
  });

  it("[X63] a command outlives its turn, and one that never ends is cut with the stream", () => {
    const { blocks } = play([
      opened,
      begun,
      started(command()),
      started(command({ id: "d" })),
      turn("completed"),
      completed(command({ status: "failed", exitCode: -1 })),
    ]);
    const calls = blocks.filter(({ kind }) => kind === "tool_call");
    expect(calls.map(({ metadata }) => metadata.reason)).toEqual(["failed", "interrupted"]);
  });

  it("[X64] diffs of all kinds are unified diffs", () => {
    const changes = [
      { path: "/w/a", kind: { type: "add" }, diff: "one\n" },
      { path: "/w/d", kind: { type: "delete" }, diff: "gone" },
      {
        path: "/w/m",
        kind: { type: "update", move_path: "/w/n" },
        diff: "@@ -1 +1 @@\n-a\n+b\n\n\nMoved to: /w/n",
      },
    ];
    const folded = whole(completed({ type: "fileChange", id: "f", changes, status: "completed" }));
    expect(one(folded, "file_change").text).toBe(
      [
        "--- /dev/null\n+++ /w/a\n@@ -0,0 +1 @@\n+one\n",
        "--- /w/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n\\ No newline at end of file\n",
        "--- /w/m\n+++ /w/n\n@@ -1 +1 @@\n-a\n+b\n",
      ].join(""),
    );
    expect(one(folded, "file_change").metadata.changes).toMatchObject([
      { kind: "add" },
      { kind: "delete" },
      { kind: "modify", movedTo: "/w/n" },
    ]);
  });

  it("[X65] summaries are the text, raw thoughts are beside them, hidden ones show as hidden", () => {
    const { blocks } = whole(
      started({ type: "reasoning", id: "r", summary: [], content: [] }),
      note("item/reasoning/summaryTextDelta", { itemId: "r", summaryIndex: 0, delta: "A" }),
      note("item/reasoning/summaryTextDelta", { itemId: "r", summaryIndex: 1, delta: "B" }),
      note("item/reasoning/textDelta", { itemId: "r", contentIndex: 0, delta: "raw" }),
      completed({ type: "reasoning", id: "r", summary: ["A", "B"], content: ["raw"] }),
      completed({ type: "reasoning", id: "s", summary: [], content: ["only raw"] }),
      completed({ type: "reasoning", id: "t", summary: [], content: [] }),
    );
    expect(blocks.map(({ text }) => text)).toEqual(["A\nB", "only raw", ""]);
    expect(blocks[0]?.metadata).toEqual({ extra: { raw: "raw" } });
    expect(blocks[2]?.metadata).toEqual({ redacted: true });
  });

  it("[X66] the plan is one list that ends with its turn", () => {
    const plan = (status: string) => note("turn/plan/updated", { plan: [{ step: "a", status }] });
    expect(one(whole(plan("pending"), plan("inProgress"), plan("completed")), "todo")).toMatchObject({
      status: "done",
      text: "- [x] a",
    });
    const cut = play([opened, begun, plan("inProgress"), turn("interrupted")]);
    expect(one(cut, "todo")).toMatchObject({
      status: "error",
      metadata: { items: [{ content: "a", status: "in_progress" }] },
    });
  });

  it("[X61] a failed hook shows why, and a tool's picture keeps its type", () => {
    const run = {
      id: "h",
      eventName: "preToolUse",
      status: "failed",
      entries: [{ kind: "error", text: "no" }],
    };
    expect(one(whole(note("hook/completed", { run })), "error").text).toBe("Hook preToolUse: failed\nno");
    const imageUrl = "data:image/png;base64,iVBORw0KGgo=";
    const item = { type: "dynamicToolCall", id: "d", tool: "t", arguments: {}, status: "completed" };
    const picture = completed({ ...item, contentItems: [{ type: "inputImage", imageUrl }] });
    expect(one(whole(picture), "tool_result").metadata).toMatchObject({
      images: [{ mediaType: "image/png", data: "iVBORw0KGgo=" }],
    });
  });

  it("[X74] prompts are placed where they were read, except those that the caller has written already", () => {
    const said = (clientId: string | null) =>
      started({
        type: "userMessage",
        id: `u${clientId}`,
        clientId,
        content: [{ type: "text", text: `${clientId}` }],
      });
    expect(whole(said("blockyard:p"), said("steer-1"), said(null)).blocks.map(({ text }) => text)).toEqual([
      "steer-1",
      "null",
    ]);
    const content = [{ type: "text", text: "Go on" }];
    const sent: Line = [
      "in",
      { id: 9, method: "turn/steer", params: { clientUserMessageId: "blockyard:p", input: content } },
    ];
    // Up to 0.135 an item has no clientId.
    const old = started({ type: "userMessage", id: "u", content });
    const again = started({ type: "userMessage", id: "v", content });
    expect(whole(sent, old, again).blocks.map(({ text }) => text)).toEqual(["Go on"]);
  });
});

describe("turns", () => {
  it("[X67] a turn is begun by its first event, has two names in a review, and late events begin none", () => {
    const { turns } = play([
      opened,
      completed({ type: "enteredReviewMode", id: "e", review: "x" }),
      note("turn/started", { turn: { id: "other" } }),
      turn("completed"),
      completed({ type: "agentMessage", id: "late", text: "late" }),
    ]);
    expect(turns.map(({ status }) => status)).toEqual(["done"]);
  });

  it("[X67] interrupted and failed turns say so, with model and duration", () => {
    expect(play([opened, begun, turn("interrupted", { durationMs: 5 })]).turns).toMatchObject([
      { status: "error", reason: "interrupted", durationMs: 5, model: "gpt-5.5" },
    ]);
  });

  it("[X68] a turn's tokens are the growth of the thread's counter; old turns only state its value", () => {
    const { turns } = play([
      opened,
      usage(100, 10, { turnId: "old" }),
      begun,
      usage(150, 15),
      usage(150, 15),
      usage(180, 20),
      turn("completed"),
      usage(180, 20),
    ]);
    expect(turns[0]?.usage).toMatchObject({ input: 80, output: 10 });
    expect(turns[0]?.native).toMatchObject({ modelContextWindow: 1000 });
  });

  it("[X68] a resumed thread that does not state its counter is not counted again", () => {
    const resumed = (total: number, last: number) =>
      note("thread/tokenUsage/updated", {
        tokenUsage: {
          total: { inputTokens: total, outputTokens: total / 10 },
          last: { inputTokens: last, outputTokens: last / 10, totalTokens: 700 },
        },
      });
    const used = (...lines: readonly Line[]) =>
      play([opened, begun, ...lines, turn("completed")]).turns[0]?.usage;
    expect(used(resumed(3300, 1200), resumed(4000, 700))).toMatchObject({ input: 1900, output: 190 });
    expect(used(resumed(1200, 1200))).toMatchObject({ input: 1200, output: 120 });
    // A compaction first reports its summary.
    expect(used(resumed(2100, 0), resumed(2200, 100))).toMatchObject({ input: 100, output: 10 });
  });

  it("[X68] a thread that went back counts from where it went back to", () => {
    const answered = (total: number, last: number) =>
      note("thread/tokenUsage/updated", {
        tokenUsage: {
          total: { inputTokens: total, outputTokens: total / 10 },
          last: { inputTokens: last, outputTokens: last / 10 },
        },
      });
    const { turns } = play([
      opened,
      begun,
      answered(100, 100),
      answered(250, 150),
      turn("completed"),
      note("thread/reverted", {}),
      note("turn/started", { turn: { id: "turn-b" }, turnId: "turn-b" }),
      note("thread/tokenUsage/updated", {
        turnId: "turn-b",
        tokenUsage: {
          total: { inputTokens: 160, outputTokens: 16 },
          last: { inputTokens: 60, outputTokens: 6 },
        },
      }),
      note("turn/completed", { turn: { id: "turn-b", status: "completed" }, turnId: "turn-b" }),
    ]);
    expect(turns.map(({ usage }) => [usage?.input, usage?.output])).toEqual([
      [250, 25],
      [60, 6],
    ]);
  });

  it("[X69] a retry is a notice that counts, an error that ends the turn is shown once, with its kind", () => {
    const failure = { message: "no", codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 401 } } };
    const { blocks, turns } = play([
      opened,
      begun,
      note("error", { error: { message: "Reconnecting... 1/5", codexErrorInfo: "other" }, willRetry: true }),
      note("error", { error: { message: "Reconnecting... 2/5", codexErrorInfo: "other" }, willRetry: true }),
      note("error", { error: failure, willRetry: false }),
      turn("failed", { error: failure }),
    ]);
    expect(blocks.map(({ text, status, metadata }) => [text, status, metadata.times, metadata.code])).toEqual(
      [
        ["Reconnecting... 2/5", "done", 2, undefined],
        ["no", "error", undefined, "httpConnectionFailed"],
      ],
    );
    expect(turns).toMatchObject([{ reason: "failed", error: "no" }]);
  });

  it("[X69] why a thread could not be opened is shown", () => {
    const { blocks } = play([
      ["in", { id: 1, method: "thread/resume", params: {} }],
      ["out", { id: 1, error: { code: -32600, message: "no rollout found for thread id x" } }],
    ]);
    expect(blocks).toMatchObject([{ kind: "error", text: "no rollout found for thread id x" }]);
  });

  it("[X75] calls that others show, or that had asks, do not count as those that left no item", () => {
    const missing = (...lines: readonly Line[]) =>
      whole(...lines).blocks.filter(({ text }) => text.startsWith("At least 1 call ")).length;
    const run = (id: string) => completed(command({ id, status: "completed" }));
    const question = ask(7, "item/commandExecution/requestApproval", { itemId: "c", command: "rm a" });
    const approved = [started(command()), question, reply(7, { decision: "accept" }), run("c")];
    expect(missing(...approved, usage(1, 1), usage(2, 2), usage(3, 3))).toBe(1);
    expect(missing(run("a"), run("b"), usage(1, 1), usage(2, 2), usage(3, 3))).toBe(1);
    expect(missing(...approved, run("b"), usage(1, 1), usage(2, 2))).toBe(0);
    const prompt = completed({ type: "userMessage", id: "u", content: [{ type: "text", text: "And?" }] });
    expect(missing(usage(1, 1), prompt, usage(2, 2))).toBe(0);
    expect(missing(usage(1, 1), run("a"), usage(2, 2), prompt, usage(3, 3))).toBe(1);
  });

  it("[X75] calls that left no item are counted, and an empty answer is reported", () => {
    const texts = whole(usage(1, 1), usage(2, 2), usage(3, 3)).blocks.map(({ text }) => text);
    expect(texts).toHaveLength(1);
    expect(texts[0]).toContain("At least 2 calls of this turn are missing here: Codex did not report them.");
    expect(texts[0]).toMatch(/open the thread's file in Codex's sessions folder$/);
    const kept: Line = note("thread/started", { thread: { id: T, path: "/c/sessions/rollout-t.jsonl" } });
    const [told] = whole(kept, usage(1, 1), usage(2, 2)).blocks;
    expect(told?.text).toMatch(/At least 1 call .* open \/c\/sessions\/rollout-t\.jsonl$/);
    const shown = whole(usage(1, 1), completed(command({ status: "completed" })), usage(2, 2));
    expect(shown.blocks.filter(({ kind }) => kind === "error")).toEqual([]);
    const refused = whole(started({ type: "agentMessage", id: "m", text: "" }), usage(1, 1));
    expect(refused.blocks).toMatchObject([{ kind: "error", status: "done" }]);
    expect(refused.blocks[0]?.text).toContain("gave no text");
  });
});

describe("sub-agents", () => {
  const child = (method: string, params: JsonObject): Line => [
    "out",
    { method, params: { threadId: "child", turnId: "ct", ...params } },
  ];
  const spawn = (receiverThreadIds: readonly string[], id = "s", prompt = "count") => ({
    type: "collabAgentToolCall",
    id,
    tool: "spawnAgent",
    status: "completed",
    receiverThreadIds,
    prompt,
    agentsStates: {},
  });
  const words = { type: "userMessage", id: "cu", clientId: null, content: [{ type: "text", text: "count" }] };

  it.each([
    ["after", [completed(spawn(["child"])), child("item/started", { item: words })]],
    [
      "before",
      [
        started(spawn([], "s0", "other")),
        started(spawn([])),
        child("item/started", { item: words }),
        completed(spawn(["child"])),
      ],
    ],
  ] as const)("[X70] a child that outputs %s its start is confirmed is below the call", (_, lines) => {
    const { blocks, messages, turns } = whole(
      ...lines,
      child("item/completed", { item: { type: "agentMessage", id: "cm", text: "two" } }),
      [
        "out",
        {
          method: "thread/tokenUsage/updated",
          params: {
            threadId: "child",
            turnId: "ct",
            tokenUsage: { total: { inputTokens: 9, outputTokens: 1 } },
          },
        },
      ],
      child("turn/completed", { turn: { id: "ct", status: "completed" } }),
    );
    const call = blocks.find(({ kind, metadata }) => kind === "tool_call" && metadata.toolUseId === "run:s");
    expect(blocks.filter(({ text }) => text === "two").map(({ parent }) => parent)).toEqual([call?.id]);
    expect(messages).toMatchObject([{ messageId: "child", parent: call?.id, usage: { input: 9 } }]);
    expect(turns).toHaveLength(1);
  });
});

describe("asks", () => {
  const request = ask(0, "item/commandExecution/requestApproval", {
    itemId: "c",
    command: "/bin/bash -lc 'make it'",
    cwd: "/w",
    reason: "Need it",
    proposedExecpolicyAmendment: ["make", "it"],
  });
  const always = { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["make", "it"] } };
  const asking = (...after: readonly Line[]) =>
    one(whole(started(command()), request, ...after), "tool_call").metadata.ask as JsonObject;

  it.each([
    ["accept", "allowed", undefined],
    ["acceptForSession", "allowed", "session"],
    [always, "allowed", "always"],
    ["decline", "denied", undefined],
    ["cancel", "denied", "stop"],
    ["yes please", "denied", undefined],
  ] as const)("[X72] %j is %s", (decision, state, suggestion) => {
    const answer = asking(reply(0, { decision }), note("serverRequest/resolved", { requestId: 0 }));
    expect(answer).toMatchObject({ id: "run:0", kind: "permission", state });
    expect((answer.answer as JsonObject | undefined)?.suggestion).toBe(suggestion);
  });

  const command2 = ask(1, "item/commandExecution/requestApproval", { itemId: "c", command: "rm -rf /" });
  const question = ask(0, "item/tool/requestUserInput", { itemId: "i", questions: [] });
  const output = note("item/commandExecution/outputDelta", { itemId: "c", delta: "words" });
  it.each<[string, Line[], Record<string, string>]>([
    ["a number that is open", [request, request, question], { 0: "expired" }],
    ["a number that is open, of a call of its own", [question, question], { 0: "expired" }],
    ["a number that was answered", [request, reply(0, { decision: "accept" }), request], { 0: "expired" }],
    ["another question about one call", [request, command2], { 0: "expired", 1: "expired" }],
    ["and its answer", [request, command2, reply(1, { decision: "accept" })], { 0: "expired", 1: "allowed" }],
    ["a call that ends unanswered", [request, completed(command())], { 0: "expired" }],
    [
      "one that ends as something else",
      [request, output, completed({ id: "c", type: "x" })],
      { 0: "expired" },
    ],
  ])("[X72] %s: nothing stays open", (_, lines, states) => {
    const { asks, faults } = whole(started(command()), ...lines);
    expect(Object.fromEntries([...asks].map(([name, state]) => [name.split(":")[1], state]))).toEqual(states);
    expect(faults).toEqual([]);
  });

  it("[X72] a number that is open means the question that was asked first", () => {
    expect(asking(ask(0, "item/commandExecution/requestApproval", { itemId: "c", command: "rm" }))).toEqual(
      asking(),
    );
  });

  it("[X71] it shows the command with its folder, and its reason", () => {
    expect(asking()).toMatchObject({
      state: "expired",
      title: "Need it",
      subject: { type: "command", command: "make it", cwd: "/w" },
    });
  });

  it("[X73] the rule for all projects is offered in those words only", () => {
    const labels = (asking().suggestions as JsonObject[])
      .filter(({ scope }) => scope === "always")
      .map(({ label }) => String(label));
    expect(labels).toHaveLength(1);
    expect(labels[0]).toContain('"make it"');
    expect(labels[0]).toContain("in all projects (saved in Codex's rules)");
  });

  it("[X72] an error is a refusal, an unrelated answer is ignored, and each side numbers its own", () => {
    expect(asking(["in", { id: 0, error: { code: 1, message: "no" } }])).toMatchObject({
      state: "denied",
      message: "no",
    });
    expect(asking(reply(3, { decision: "accept" }))).toMatchObject({ state: "expired" });
    expect(
      asking(["in", { id: 0, method: "thread/list", params: {} }], reply(0, { decision: "accept" })),
    ).toMatchObject({ state: "allowed" });
    expect(
      asking(note("serverRequest/resolved", { requestId: 0 }), reply(0, { decision: "accept" })),
    ).toMatchObject({ state: "expired" });
  });

  it("[X71] a patch shows its diff, which only its item has", () => {
    const changes = [{ path: "/w/a", kind: { type: "add" }, diff: "one\n" }];
    const folded = whole(
      started({ type: "fileChange", id: "f", changes, status: "inProgress" }),
      ask(0, "item/fileChange/requestApproval", { itemId: "f", reason: null }),
      reply(0, { decision: "decline" }),
      completed({ type: "fileChange", id: "f", changes, status: "declined" }),
    );
    expect(one(folded, "tool_call").metadata).toMatchObject({
      reason: "denied",
      ask: { state: "denied", subject: { type: "diff", paths: ["/w/a"] } },
    });
    expect(((one(folded, "tool_call").metadata.ask as JsonObject).subject as JsonObject).diff).toContain(
      "+one",
    );
  });

  it("[X71] a patch is about every path that it touches, and names files whose text stays", () => {
    const changes = [
      { path: "/w/src/a", kind: { type: "update", move_path: "/etc/b" }, diff: "@@ -1 +1 @@\n-x\n+y\n" },
      { path: "/w/c", kind: { type: "delete" }, diff: "" },
    ];
    const folded = whole(
      started({ type: "fileChange", id: "f", changes, status: "inProgress" }),
      ask(0, "item/fileChange/requestApproval", { itemId: "f", reason: null }),
    );
    expect((one(folded, "tool_call").metadata.ask as JsonObject).subject).toEqual({
      type: "diff",
      paths: ["/w/src/a", "/etc/b", "/w/c"],
      diff: "--- /w/src/a\n+++ /etc/b\n@@ -1 +1 @@\n-x\n+y\n--- /w/c\n+++ /dev/null\n",
    });
  });

  it("[X71] additional rights of a request are shown", () => {
    const changes = [{ path: "/w/a", kind: { type: "add" }, diff: "one\n" }];
    const patch = one(
      whole(
        started({ type: "fileChange", id: "f", changes, status: "inProgress" }),
        ask(0, "item/fileChange/requestApproval", { itemId: "f", reason: "Tidy up", grantRoot: "/" }),
      ),
      "tool_call",
    );
    expect(patch.metadata.ask).toMatchObject({ title: "Tidy up: Write to /", input: { grantRoot: "/" } });
    const more = { additionalPermissions: { network: true }, environmentId: "elsewhere" };
    const params = { itemId: "c", command: "make it", commandActions: [], environmentId: "local" };
    const run = (given: JsonObject) =>
      one(whole(started(command()), ask(0, "item/commandExecution/requestApproval", given)), "tool_call");
    expect((run(params).metadata.ask as JsonObject).input).toEqual({ command: "make it" });
    expect((run({ ...params, ...more }).metadata.ask as JsonObject).input).toEqual({
      command: "make it",
      ...more,
    });
  });

  it("[X71] questions have their options, and the answers are the chosen labels or words", () => {
    const questions = [
      {
        id: "q",
        header: "H",
        question: "Which?",
        isOther: true,
        isSecret: false,
        options: [
          { label: "A", description: "a" },
          { label: "B", description: "" },
        ],
      },
      { id: "s", header: "", question: "Key?", isOther: false, isSecret: true, options: null },
      { id: "n", header: "", question: "More?", isOther: false, isSecret: false, options: null },
    ];
    const folded = whole(
      ask(0, "item/tool/requestUserInput", { itemId: "i", questions }),
      reply(0, { answers: { q: { answers: ["B", "both"] }, s: { answers: ["pw"] } } }),
    );
    const call = one(folded, "tool_call");
    expect(call).toMatchObject({ status: "done", metadata: { toolName: "request_user_input" } });
    expect(call.metadata.ask).toMatchObject({
      kind: "question",
      state: "answered",
      questions: [
        {
          id: "q",
          multiple: false,
          freeText: true,
          options: [{ label: "A", description: "a" }, { label: "B" }],
        },
        { id: "s", secret: true, freeText: true, options: [] },
        { id: "n" },
      ],
      answer: {
        questions: {
          q: { chosen: ["B"], text: "both" },
          s: { chosen: [] },
          n: { chosen: [], skipped: true },
        },
      },
    });
    expect(JSON.stringify(folded.blocks)).not.toContain("pw");
    const skipped = whole(
      ask(0, "item/tool/requestUserInput", { itemId: "i", questions }),
      reply(0, { answers: {} }),
    );
    expect(one(skipped, "tool_call").metadata.shortResult).toBe("not answered");
  });

  it("[X71] a form is a form, and a tool of a server is a permission on its call", () => {
    const form = whole(
      ask(0, "mcpServer/elicitation/request", {
        serverName: "s",
        mode: "form",
        message: "Name?",
        requestedSchema: { type: "object" },
        _meta: null,
      }),
      reply(0, { action: "accept", content: { name: "x" }, _meta: null }),
    );
    expect(one(form, "tool_call").metadata.ask).toMatchObject({
      kind: "elicitation",
      state: "answered",
      form: { message: "Name?", server: "s" },
      answer: { content: { name: "x" } },
    });
    const call = {
      type: "mcpToolCall",
      id: "m",
      server: "s",
      tool: "add",
      arguments: { a: 1 },
      status: "inProgress",
    };
    const tool = whole(
      started(call),
      ask(0, "mcpServer/elicitation/request", {
        serverName: "s",
        mode: "form",
        message: "Allow?",
        requestedSchema: {},
        _meta: { codex_approval_kind: "mcp_tool_call", persist: ["session", "always"] },
      }),
      reply(0, { action: "decline", content: null, _meta: null }),
      completed({ ...call, status: "failed", error: { message: "user rejected" } }),
    );
    expect(one(tool, "tool_call").metadata.ask).toMatchObject({
      kind: "permission",
      state: "denied",
      subject: { type: "tool", tool: "add", server: "s" },
    });
  });

  it("[X71] more rights are requested on a call of their own", () => {
    const permissions = { network: null, fileSystem: { write: ["/home"] } };
    const folded = whole(
      ask(0, "item/permissions/requestApproval", { itemId: "i", permissions, reason: "Home" }),
      reply(0, { permissions, scope: "session" }),
    );
    expect(one(folded, "tool_call")).toMatchObject({
      status: "done",
      metadata: {
        toolName: "request_permissions",
        ask: { state: "allowed", answer: { suggestion: "session" } },
      },
    });
    const denied = whole(
      ask(0, "item/permissions/requestApproval", { itemId: "i", permissions }),
      reply(0, { permissions: {}, scope: "turn" }),
    );
    expect(one(denied, "tool_call").metadata).toMatchObject({ reason: "denied", ask: { state: "denied" } });
  });
});
