/** ACP by its rules: what the recorded agents do, and what no recording has. */
import type { Json, JsonObject } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { bytesOf, streams } from "../../../../test/recordings.ts";
import { type Folded, type FoldedBlock, fold } from "../fold.ts";
import { normalize } from "../normalize.ts";
import { providers } from "../registry.ts";
import { summaryOf } from "../summary.ts";
import { trafficLine } from "../traffic.ts";
import { acpWith } from "./adapter.ts";

const acp = providers.get("acp");
if (acp === undefined) throw new Error("no provider acp");
const own = streams.filter(({ provider }) => provider === "acp");

function recorded(name: string): Folded {
  const recording = own.find((each) => each.name === `acp/${name}.jsonl`);
  if (recording === undefined || acp === undefined) throw new Error(`no recording ${name}`);
  return normalize(acp, [bytesOf(recording)]);
}

type Line = readonly ["in" | "out", Json];

function played(lines: readonly Line[], isKnown = false): Folded {
  const adapter = acpWith({
    provider: "acp",
    showsPrompts: !isKnown,
    showsHistory: !isKnown,
    showsAnswers: !isKnown,
  });
  let state = adapter.start("run");
  const events = lines.flatMap(([dir, message], t) => {
    const [next, made] = adapter.step(state, JSON.parse(trafficLine(dir, JSON.stringify(message), t)));
    state = next;
    return made;
  });
  return fold([...events, ...adapter.end(state)]);
}

const prompt = (id: number, text = "Hi", sessionId = "s"): Line => [
  "in",
  { jsonrpc: "2.0", id, method: "session/prompt", params: { sessionId, prompt: [{ type: "text", text }] } },
];
const update = (change: JsonObject, sessionId = "s"): Line => [
  "out",
  { jsonrpc: "2.0", method: "session/update", params: { sessionId, update: change } },
];
const say = (text: string, more: JsonObject = {}): Line =>
  update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text }, ...more });
const answer = (id: number, result: JsonObject = { stopReason: "end_turn" }): Line => [
  "out",
  { jsonrpc: "2.0", id, result },
];
const hello = (name: string): readonly Line[] => [
  ["in", { jsonrpc: "2.0", id: 100, method: "initialize", params: { protocolVersion: 1 } }],
  ["out", { jsonrpc: "2.0", id: 100, result: { protocolVersion: 1, agentInfo: { name, version: "1" } } }],
];

it("[Y47] an agent that names ever more sessions: output in too many of them belongs to none", () => {
  const others = Array.from({ length: 1_000 }, (_, n) => [
    update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Hi" } }, `other-${n}`),
    [
      "out",
      { jsonrpc: "2.0", id: n, method: "session/request_permission", params: asks(`other-${n}`) },
    ] as Line,
  ]);
  const folded = played([...hello("opencode"), prompt(1), ...others.flat(), say("Done."), answer(1)]);
  expect(folded.turns.length).toBeLessThanOrEqual(200);
  expect(folded.blocks.filter(({ text }) => text === "Done.")).toHaveLength(1);
  expect(folded.blocks.length).toBeLessThan(1_000);
});

it("[Y1] an answer that comes after the end of its call is no answer to nothing", () => {
  const call = { sessionUpdate: "tool_call", toolCallId: "call", title: "Command", kind: "execute" };
  const folded = played([
    prompt(1),
    update(call),
    ["out", { jsonrpc: "2.0", id: 5, method: "session/request_permission", params: asks("s") }],
    update({ sessionUpdate: "tool_call_update", toolCallId: "call", status: "failed" }),
    ["in", { jsonrpc: "2.0", id: 5, result: { outcome: { outcome: "selected", optionId: "once" } } }],
    answer(1),
  ]);
  expect(folded.unknown).toEqual({});
  expect(of(folded, "tool_call")[0]?.metadata["ask"]).toMatchObject({ state: "expired" });
});

function asks(sessionId: string): JsonObject {
  const options = [{ optionId: "once", name: "Allow", kind: "allow_once" }];
  return { sessionId, toolCall: { toolCallId: "call", title: "Command", kind: "execute" }, options };
}

function shown(folded: Folded): string[] {
  return folded.blocks.map(({ kind, role, text }) => `${kind} ${role} ${text}`);
}

function of(folded: Folded, kind: string): FoldedBlock[] {
  return folded.blocks.filter((block) => block.kind === kind);
}

describe("every recording", () => {
  it.each(own.map(({ name }) => [name]))("[Y1] %s: nothing unknown, nothing left open", (name) => {
    const folded = recorded(name.replace(/^acp\//, "").replace(/\.jsonl$/, ""));
    expect(folded.unknown).toEqual({});
    expect(folded.faults).toEqual([]);
    expect(summaryOf(folded).asks.open).toBe(0);
    expect(folded.turns.filter(({ status }) => status === "running")).toEqual([]);
  });
});

describe("messages", () => {
  it.each<[string, Line, string]>([
    ["an answer to nothing", ["out", { jsonrpc: "2.0", id: 7, result: {} }], "(response without a request)"],
    ["an unknown request", ["out", { jsonrpc: "2.0", id: 7, method: "moon/land" }], "moon/land"],
    ["an unknown notification", ["out", { jsonrpc: "2.0", method: "moon/landed" }], "moon/landed"],
    ["an unknown update", update({ sessionUpdate: "moon" }), "session/update/moon"],
    ["a batch", ["out", [1]], "(array)"],
  ])("[Y1] %s is unknown", (_, line, type) => {
    expect(played([line]).unknown).toEqual({ [type]: 1 });
  });

  it("[Y1] methods of an agent's own make no block", () => {
    const lines: Line[] = [
      ["out", { jsonrpc: "2.0", method: "_auth/status_update", params: {} }],
      ["out", { jsonrpc: "2.0", id: 1, method: "craft/drainMidTurnQueue", params: {} }],
      ["in", { jsonrpc: "2.0", id: 1, error: { code: -32601, message: "no" } }],
    ];
    expect(played(lines).blocks).toEqual([]);
  });

  it("[Y1] ids of the two directions are apart", () => {
    const { asks, turns } = recorded("opencode/tour");
    expect([...asks.values()]).toEqual(["allowed", "allowed", "allowed", "allowed"]);
    expect(turns).toMatchObject([{ status: "done", stopReason: "end_turn" }]);
  });

  it("[Y48] messages without their direction read like traffic; so does the agent's output alone", () => {
    const permission = { jsonrpc: "2.0", id: 1, method: "session/request_permission", params: asks("s") };
    const lines: Line[] = [
      ...hello("x"),
      ["in", { jsonrpc: "2.0", id: 0, method: "session/new", params: { cwd: "/w" } }],
      ["out", { jsonrpc: "2.0", id: 0, result: { sessionId: "s" } }],
      prompt(1),
      say("Hello"),
      ["out", permission],
      ["in", { jsonrpc: "2.0", id: 1, result: { outcome: { outcome: "selected", optionId: "once" } } }],
      update({ sessionUpdate: "tool_call_update", toolCallId: "call", status: "completed" }),
      answer(1, { stopReason: "max_tokens", usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 } }),
    ];
    const bare = (kept: readonly Line[]) => {
      if (acp === undefined) throw new Error("no provider acp");
      const text = kept.map(([, message]) => JSON.stringify(message)).join("\n");
      return normalize(acp, [new TextEncoder().encode(text)]);
    };
    const told = played(lines);
    const read = bare(lines);
    expect(shown(read)).toEqual(shown(told));
    expect([...read.asks.values()]).toEqual(["allowed"]);
    const alone = bare(lines.filter(([dir]) => dir === "out"));
    expect(shown(alone)).toEqual(shown(told).slice(1));
    for (const { turns, unknown, faults } of [told, read, alone]) {
      expect({ unknown, faults }).toEqual({ unknown: {}, faults: [] });
      expect(turns).toMatchObject([{ status: "done", reason: "truncated", usage: { input: 3, output: 2 } }]);
    }
  });

  it("[Y2] sessions do not mix", () => {
    const other = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "b" } };
    const lines = [prompt(1, "A", "s"), prompt(2, "B", "t"), say("a1"), update(other, "t"), say("a2")];
    const folded = played([...lines, answer(1), answer(2)]);
    expect(shown(folded)).toEqual(["text user A", "text user B", "text model a1a2", "text model b"]);
    expect(folded.turns.map(({ sessionId }) => sessionId)).toEqual(["s", "t"]);
  });

  it("[Y3] a stream that stops closes what is open", () => {
    const ask = { toolCallId: "c", title: "ls", kind: "execute", rawInput: { command: "ls" } };
    const params = { sessionId: "s", toolCall: ask, options: [] };
    const asked: Line = ["out", { jsonrpc: "2.0", id: 0, method: "session/request_permission", params }];
    const folded = played([prompt(1), say("Hm"), asked]);
    expect(folded.faults).toEqual([]);
    expect(of(folded, "tool_call")[0]?.metadata).toMatchObject({
      reason: "interrupted",
      ask: { state: "expired" },
    });
    expect(folded.turns).toMatchObject([{ status: "error", reason: "interrupted" }]);
  });

  it("[Y4] an unknown agent is read by the protocol", () => {
    const lines = [...hello("moon-agent"), prompt(1), say("Error: is a word"), answer(1)];
    expect(shown(played(lines))).toEqual(["text user Hi", "text model Error: is a word"]);
  });
});

describe("text", () => {
  const tool = (status: string): Line =>
    update({ sessionUpdate: "tool_call_update", toolCallId: "c", title: "x", status });

  it.each<[string, Line[], string[]]>([
    ["one message", [say("a"), say("b")], ["text model ab"]],
    ["empty chunks", [say("a"), say(""), say("b")], ["text model ab"]],
    [
      "two ids",
      [say("a", { messageId: "1" }), say("b", { messageId: "2" })],
      ["text model a", "text model b"],
    ],
    [
      "a call that moves on between",
      [tool("pending"), say("a"), tool("in_progress"), say("b")],
      ["tool_call model {}", "text model a", "text model b"],
    ],
  ])("[Y5] %s", (_, lines, expected) => {
    expect(shown(played([prompt(1), ...lines, answer(1)])).slice(1)).toEqual(expected);
  });

  it("[Y5] a prompt's pictures and files are blocks", () => {
    expect(recorded("claude/content").blocks.map(({ kind, role }) => `${kind} ${role}`)).toContain(
      "image user",
    );
  });

  it("[Y6] words of the program are notices or errors", () => {
    const notices = of(recorded("copilot/errors"), "text").filter(({ role }) => role === "system");
    expect(notices[0]?.text).toMatch(/^Info: /);
    expect(of(recorded("copilot/errors"), "error").map(({ text }) => text)[0]).toMatch(/^400 /);
    expect(of(recorded("codex/overload"), "error")[0]?.text).toMatch(/^exceeded retry limit/);
    expect(of(recorded("qwen/subagent"), "text").map(({ metadata }) => metadata["notice"])).toContain(
      "background_task",
    );
  });
});

describe("calls", () => {
  it("[Y7] a call that only a permission request names exists", () => {
    expect(of(recorded("gemini/tour-no-caps"), "command").map(({ metadata }) => metadata["command"])).toEqual(
      ["node test.js", "echo out-line; echo err-line >&2; exit 3"],
    );
  });

  it("[Y7] content replaces, a delta appends, the rest patches; after the end nothing counts", () => {
    const patch = (change: JsonObject): Line =>
      update({ sessionUpdate: "tool_call_update", toolCallId: "c", ...change });
    const text = (said: string) => [{ type: "content", content: { type: "text", text: said } }];
    const lines = [
      patch({ title: "Look", kind: "search", status: "in_progress", content: text("one") }),
      patch({ content: text("two") }),
      patch({ status: "completed" }),
      patch({ status: "failed", content: text("three") }),
    ];
    const folded = played([prompt(1), ...lines, answer(1)]);
    expect(of(folded, "tool_result").map(({ text: said }) => said)).toEqual(["two"]);
    expect(folded.faults).toEqual([]);
  });

  it("[Y20] a model that the agent only has a placeholder for has its name", () => {
    expect(recorded("kimi/cancel").sessions.map(({ model }) => model)).not.toContain("__kimi_env_model__");
    expect(recorded("kimi/cancel").sessions[0]?.model).toBe("claude-sonnet-4-5");
  });

  it("[Y8] Kimi's input streams, and output comes while a command runs", () => {
    const folded = recorded("kimi/tour-no-caps");
    const call = of(folded, "tool_call")[0];
    expect(folded.stages.get(call?.id ?? "")).toEqual(["start", "streaming", "running", "end"]);
    expect(of(recorded("codex/unicode-long"), "command").map(({ text }) => text.length > 300_000)).toContain(
      true,
    );
  });

  it.each(
    ["claude", "codex", "qwen", "kimi"]
      .map((agent) => [`${agent}/tour-no-caps`])
      .concat([["opencode/tour"], ["copilot/tour"]]),
  )("[Y9] %s: exit 3 is a failure with its code, and the output is the command's alone", (name) => {
    const failed = of(recorded(name), "command").find(({ metadata }) => metadata["exitCode"] === 3);
    expect(failed?.status).toBe("error");
    expect(failed?.text.trim()).toBe("out-line\nerr-line");
  });

  it.each(
    ["claude", "codex", "gemini", "qwen", "kimi"]
      .map((agent) => [`${agent}/tour-no-caps`])
      .concat([["opencode/tour"], ["copilot/tour"]]),
  )("[Y10] %s: both edits have their diffs", (name) => {
    const diffs = of(recorded(name), "file_change").map(({ text }) => text);
    expect(diffs).toHaveLength(2);
    expect(diffs[0]).toContain("+export const mul = (a, b) => a * b;");
    expect(diffs[1]).toMatch(/^-.*: multiply$/m);
    expect(diffs[1]).toContain("+export { mul } from './mul.js';");
  });

  it("[Y11] open calls end with their turn, for the reason that is known", () => {
    const reasons = (name: string) =>
      of(recorded(name), "tool_call").map(({ metadata }) => metadata["reason"]);
    expect(reasons("codex/permission")).toContain("denied");
    expect(reasons("copilot/permission")).toContain("cancelled");
  });

  it("[Y12] a plan is one list; with a to-do tool it adds nothing", () => {
    const [list, ...more] = of(recorded("claude/plan"), "todo");
    expect(more).toEqual([]);
    expect(list?.text).toMatch(/^- \[x\] /);
    expect(of(recorded("kimi/plan"), "todo").map(({ parent }) => parent)).not.toContain(null);
  });
});

describe("asks", () => {
  const asksOf = (name: string) =>
    of(recorded(name), "tool_call").flatMap(
      ({ metadata }) => (metadata["ask"] as JsonObject | undefined) ?? [],
    );

  it("[Y13] show the change or the command, and the agent's options", () => {
    const [command, , change] = asksOf("opencode/tour");
    expect(command).toMatchObject({
      kind: "permission",
      state: "allowed",
      subject: { type: "command", command: "node test.js" },
      answer: { suggestion: "once" },
      suggestions: [
        { id: "once", scope: "once" },
        { id: "always", scope: "always" },
        { id: "reject", deny: true },
      ],
    });
    expect(change).toMatchObject({ subject: { type: "diff" } });
    expect(asksOf("qwen/tour")[0]).toMatchObject({
      suggestions: [{ scope: "workspace" }, { scope: "always" }, { scope: "once" }, { deny: true }],
    });
    expect(asksOf("kimi/tour-no-caps")[0]).toMatchObject({
      suggestions: [{}, { scope: "conversation" }, {}],
    });
  });

  it("[Y13] what Kimi asks to run is the input that it streamed, without the words around it", () => {
    const [ask] = asksOf("kimi/cancel");
    expect(ask).toMatchObject({
      title: "echo started; sleep 20; echo never",
      input: { command: "echo started; sleep 20; echo never", description: "Run a command" },
      subject: { type: "command", command: "echo started; sleep 20; echo never" },
    });
    // The call of a sub-agent is told only in words.
    expect(asksOf("kimi/subagent-all-caps")[0]).toMatchObject({
      title: "grep -c export src/math.js",
      subject: { type: "tool", tool: "Bash" },
    });
    const lines = own
      .filter(({ name }) => name.startsWith("acp/kimi/"))
      .flatMap(({ name }) => recorded(name.slice("acp/".length, -".jsonl".length)).blocks)
      .flatMap(({ metadata }) => metadata["compactParams"] ?? []);
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.join("\n")).not.toContain("Running: ");
  });

  it("[Y13] options that are answers are a question", () => {
    expect(asksOf("kimi/ask")).toMatchObject([
      {
        kind: "question",
        state: "answered",
        questions: [{ question: "Which colour?", options: [{ label: "Red", description: "Warm" }, {}] }],
        answer: { questions: { "0": { chosen: ["Red"] } } },
      },
    ]);
    expect(asksOf("qwen/ask-all-caps")).toMatchObject([
      { kind: "question", questions: [{ header: "Colour" }] },
    ]);
  });

  it("[Y14] a form is an ask on its call", () => {
    expect(asksOf("kimi/ask-all-caps")).toMatchObject([
      {
        kind: "elicitation",
        state: "answered",
        form: { message: "Which colour?" },
        answer: { content: { q0: "Red" } },
      },
    ]);
  });

  it("[Y14] or on a block of its own, if it names none", () => {
    const params = { sessionId: "s", message: "Your name?", requestedSchema: { type: "object" } };
    const lines: Line[] = [
      prompt(1),
      ["out", { jsonrpc: "2.0", id: 0, method: "elicitation/create", params }],
      ["in", { jsonrpc: "2.0", id: 0, result: { action: "decline" } }],
      answer(1),
    ];
    expect(of(played(lines), "text")[1]?.metadata).toMatchObject({ ask: { state: "denied" } });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ["words", { command: ["rm", "-rf", "a b"] }, { command: "rm -rf 'a b'" }],
    ["words of a shell", { command: ["/bin/bash", "-lc", "rm x"] }, { command: "rm x" }],
    ["a folder", { command: "ls", directory: "/etc" }, { command: "ls", cwd: "/etc" }],
    ["a folder by another name", { command: "ls", workdir: "/etc" }, { command: "ls", cwd: "/etc" }],
  ])("[Y13] a command is what its input says, not its title: %s", (_, rawInput, subject) => {
    const toolCall = { toolCallId: "a", title: "git status", kind: "execute", rawInput };
    const params = { sessionId: "s", toolCall, options: [] };
    const folded = played([
      prompt(1),
      ["out", { jsonrpc: "2.0", id: 0, method: "session/request_permission", params }],
      answer(1),
    ]);
    const { ask } = of(folded, "tool_call")[0]?.metadata ?? {};
    expect((ask as JsonObject).subject).toEqual({ type: "command", ...subject });
  });

  const leave = (id: number | string, toolCallId: string): Line => [
    "out",
    {
      ...{ jsonrpc: "2.0", id, method: "session/request_permission" },
      params: { sessionId: "s", toolCall: { toolCallId, title: toolCallId, kind: "execute" }, options: [] },
    },
  ];
  it.each<[string, Line[], Record<string, string>, string[]]>([
    ["an id that is open", [leave(0, "a"), leave(0, "b")], { 0: "expired" }, ["a"]],
    [
      "a number and its text",
      [leave(0, "a"), leave("0", "b")],
      { 0: "expired", '"0"': "expired" },
      ["a", "b"],
    ],
    [
      "another question about one call",
      [leave(0, "a"), leave(1, "a")],
      { 0: "expired", 1: "expired" },
      ["a"],
    ],
  ])("[Y13] %s: nothing stays open", (_, lines, states, calls) => {
    const folded = played([prompt(1), ...lines, answer(1)]);
    expect(Object.fromEntries(folded.asks)).toEqual(states);
    expect(of(folded, "tool_call").map(({ metadata }) => metadata["toolUseId"])).toEqual(calls);
    expect(folded.faults).toEqual([]);
  });
});

describe("sessions and turns", () => {
  it("[Y15] a queued prompt begins its turn when the open one ends", () => {
    const lines = [prompt(1, "A"), say("a"), prompt(2, "B"), answer(1), say("b"), answer(2)];
    const folded = played(lines);
    expect(shown(folded)).toEqual(["text user A", "text model a", "text user B", "text model b"]);
    expect(folded.turns.map(({ status }) => status)).toEqual(["done", "done"]);
    const refused = recorded("kimi/parallel").turns.filter(({ status }) => status === "error");
    expect(refused).toHaveLength(1);
  });

  it.each([
    ["claude/errors", "failed"],
    ["codex/overload", "failed"],
    ["copilot/errors", "failed"],
    ["gemini/errors", "failed"],
    ["opencode/errors", "failed"],
  ])("[Y16] %s: the turn failed, whatever stopReason says", (name, reason) => {
    expect(recorded(name).turns[0]).toMatchObject({ status: "error", reason });
  });

  it("[Y4] [Y9] [Y16] Zed's codex-acp: text without an id is the model's, and the error is beside the message", () => {
    const call = {
      toolCallId: "a",
      title: "ls",
      kind: "execute",
      rawInput: { command: ["bash", "-lc", "ls"] },
    };
    const content = [{ type: "content", content: { type: "text", text: "```sh\na\nb\n```\n" } }];
    const folded = played([
      ...hello("codex-acp"),
      prompt(1),
      say("Looking."),
      update({ sessionUpdate: "tool_call", status: "in_progress", ...call }),
      update({ sessionUpdate: "tool_call_update", toolCallId: "a", status: "completed", content }),
      answer(1),
      prompt(2),
      [
        "out",
        {
          id: 2,
          error: {
            code: -32603,
            message: "Internal error",
            data: { message: '{"error":{"message":"bad"}}' },
          },
        },
      ],
    ]);
    expect(of(folded, "text").filter(({ role }) => role !== "user")).toMatchObject([
      { role: "model", text: "Looking." },
    ]);
    expect(of(folded, "command").map(({ text }) => text)).toEqual(["a\nb"]);
    expect(of(folded, "error").map(({ text }) => text)).toEqual(["Internal error: bad"]);
  });

  it("[Y9] a failure has no mark for the model", () => {
    const content = [
      { type: "content", content: { type: "text", text: "```\n<tool_use_error>No.</tool_use_error>\n```" } },
    ];
    const call = { sessionUpdate: "tool_call", toolCallId: "a", title: "T", status: "failed", content };
    const folded = played([...hello("claude-agent-acp"), prompt(1), update(call), answer(1)]);
    expect(of(folded, "tool_result").map(({ text }) => text)).toEqual(["No."]);
    expect(of(folded, "tool_call")[0]?.metadata.error).toBe("No.");
  });

  it.each([["max_tokens"], ["max_turn_requests"]])(
    "[Y16] %s: the turn is done, and truncated",
    (stopReason) => {
      expect(played([prompt(1), say("Hm"), answer(1, { stopReason })]).turns).toMatchObject([
        { status: "done", reason: "truncated", stopReason },
      ]);
    },
  );

  it("[Y9] an output that only exists in raw form is shown: an MCP answer as its text, any other unchanged", () => {
    const call = (toolCallId: string, rawOutput: JsonObject) =>
      update({ sessionUpdate: "tool_call", toolCallId, title: "T", status: "completed", rawOutput });
    const content = [{ type: "text", text: "found it" }];
    const folded = played([prompt(1), call("a", { result: { content } }), call("b", { rows: 2 }), answer(1)]);
    expect(of(folded, "tool_result").map(({ text }) => text)).toEqual(["found it", '{\n  "rows": 2\n}']);
  });

  it("[Y5] a thought of Gemini's without a heading has none", () => {
    const think = (text: string) =>
      update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } });
    const folded = played([prompt(1), think("****\nHm"), say("Done"), think("**Why**\nHm"), answer(1)]);
    expect(of(folded, "thinking").map(({ text }) => text)).toEqual(["Hm", "**Why**\nHm"]);
  });

  it("[Y12] a plan in words is text, and leaves the list alone", () => {
    const entries = [{ content: "A", status: "pending", priority: "high" }];
    const plan = (said: JsonObject) => update({ sessionUpdate: "plan_update", plan: said });
    const folded = played([
      prompt(1),
      plan({ entries }),
      plan({ type: "markdown", content: "# B" }),
      answer(1),
    ]);
    expect(shown(folded)).toEqual(["text user Hi", "todo model - [ ] A", "text system # B"]);
  });

  it.each([
    [{ message: "Internal error", data: { details: "400 Too low" } }, "Internal error: 400 Too low"],
    [{ message: '{"error":{"code":401,"message":"invalid x-api-key"}}' }, "invalid x-api-key"],
    [{ message: "Internal error: no", data: { errorName: "APIError" } }, "Internal error: no"],
    [{}, "The agent answered with an error"],
  ])("[Y16] the reason for a failed turn is shown, wherever the error %j has it", (error, text) => {
    const refused: Line = ["out", { id: 1, error: { code: -32603, ...error } }];
    const { turns, blocks } = played([prompt(1), refused]);
    expect(turns).toMatchObject([{ status: "error", reason: "failed", error: text }]);
    expect(blocks.at(-1)).toMatchObject({ kind: "error", text });
  });

  it("[Y16] a turn without visible content says so", () => {
    expect(of(recorded("kimi/errors"), "text").map(({ metadata }) => metadata["notice"])).toContain(
      "empty_turn",
    );
  });

  it.each(["codex", "opencode", "qwen", "copilot"].map((agent) => [agent]))(
    "[Y17] %s: a replayed history is no turn, and exists once",
    (agent) => {
      const folded = recorded(`${agent}/load.2`);
      expect(folded.turns).toHaveLength(1);
      const said = of(folded, "text").map(({ text }) => text.trim());
      expect(new Set(said).size).toBe(said.length);
      expect(said).toContain("Remember 42.");
      expect(folded.blocks.filter(({ metadata }) => metadata["turn"] !== undefined)).toEqual([]);
    },
  );

  it("[Y17] a fork's history makes no blocks, and neither does a second load", () => {
    expect(of(recorded("opencode/load.3"), "text").map(({ text }) => text)).toEqual([
      "And now?",
      "Resumed: 42.",
    ]);
    const load = (id: number): Line => [
      "in",
      { jsonrpc: "2.0", id, method: "session/load", params: { sessionId: "s" } },
    ];
    const lines = [load(1), say("old"), answer(1, {}), load(2), say("old"), answer(2, {})];
    expect(shown(played(lines))).toEqual(["text model old"]);
  });

  it("[Y17] a reader that has the conversation passes over history and prompts", () => {
    const load: Line = ["in", { jsonrpc: "2.0", id: 1, method: "session/load", params: { sessionId: "s" } }];
    const lines = [load, say("old"), answer(1, {}), prompt(2), say("new"), answer(2)];
    expect(shown(played(lines, true))).toEqual(["text model new"]);
  });

  it.each([["claude/background"], ["qwen/subagent"]])("[Y18] %s: unprompted output is a turn", (name) => {
    expect(recorded(name).turns).toMatchObject([
      { status: "done", stopReason: "end_turn" },
      { status: "done" },
    ]);
  });

  it.each<[string, number[]]>([
    ["claude/text", [13_324, 13_324]],
    ["copilot/text", [13_324, 13_324]],
    ["gemini/text", [900, 900]],
    ["opencode/text", [13_324, 13_324]],
  ])("[Y19] %s: each turn counts its own tokens", (name, input) => {
    expect(recorded(name).turns.map(({ usage }) => usage?.input)).toEqual(input);
  });

  it("[Y19] the last call's tokens are not the turn's; the cost is subtracted from the total", () => {
    expect(recorded("opencode/tour").turns[0]?.usage).toBeUndefined();
    const costs = recorded("opencode/permission").turns.map(({ costUsd }) => costUsd ?? 0);
    expect(costs).toHaveLength(5);
    expect(Math.max(...costs)).toBeLessThan(0.1);
  });

  it("[Y20] mode, model and commands are reported, from whichever field", () => {
    const last = (name: string) => recorded(name).sessions.at(-1);
    expect(last("gemini/text")).toMatchObject({ details: { mode: "default" } });
    expect(last("opencode/text")).toMatchObject({ model: "anthropic/claude-sonnet-4-5", version: "1.18.33" });
    expect(last("kimi/config")?.details).toMatchObject({
      mode: expect.any(String),
      commands: expect.any(Array),
    });
  });

  it("[Y21] a sub-agent's text is below its call", () => {
    const folded = recorded("claude/subagent-all-caps");
    const call = of(folded, "tool_call")[0];
    expect(call?.metadata["toolName"]).toBe("subagent");
    const below = folded.blocks.filter(({ parent }) => parent === call?.id).map(({ kind }) => kind);
    expect(below).toEqual(["thinking", "text", "tool_call", "text", "tool_result"]);
  });
});

it("[Y13] a request for a call whose input is not known yet says what it says itself, and no command is taken from its name", () => {
  const asks = recorded("kimi/subagent-all-caps").blocks.flatMap(({ metadata }) => metadata["ask"] ?? []);
  expect(asks).toMatchObject([
    { title: "grep -c export src/math.js", subject: { type: "tool", tool: "Bash" } },
  ]);
});

it("[Y13] a streamed command that is not the one that is asked for is not taken for it", () => {
  const call = { toolCallId: "c", title: "Bash", kind: "execute" };
  const text = (text: string) => [{ type: "content", content: { type: "text", text } }];
  const { blocks } = played([
    ...hello("Kimi Code CLI"),
    prompt(1),
    update({ sessionUpdate: "tool_call", ...call, status: "pending" }),
    update({ sessionUpdate: "tool_call_update", toolCallId: "c", content: text('{"command":"ls"}') }),
    [
      "out",
      {
        ...{ jsonrpc: "2.0", id: 7, method: "session/request_permission" },
        params: { sessionId: "s", options: [], toolCall: { ...call, content: text("Running: rm -r src") } },
      },
    ],
  ]);
  expect(blocks.flatMap(({ metadata }) => metadata["ask"] ?? [])).toMatchObject([
    { title: "rm -r src", subject: { type: "tool", tool: "Bash" } },
  ]);
});
