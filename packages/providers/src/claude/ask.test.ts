/** Claude Code's asks to its host, and the host's answers, read from both. */
import type { Ask, Json, JsonObject } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { fold } from "../fold.ts";
import { claudeAdapter } from "./adapter.ts";
import { joinedLabels, labelsIn } from "./ask.ts";

const QUESTION = {
  questions: [
    {
      ...{ question: "Which library?", header: "Dates", multiSelect: false },
      options: [{ label: "luxon", description: "small", preview: "# luxon" }, { label: "temporal" }],
    },
    {
      ...{ question: "Which parts?", header: "Parts", multiSelect: true },
      options: [{ label: "Search" }, { label: "Export, import" }],
    },
  ],
};

function asked(tool_name: string, input: JsonObject, more: JsonObject = {}, id: Json = "r1"): JsonObject {
  const request = { subtype: "can_use_tool", tool_name, input, tool_use_id: "t1", ...more };
  return { type: "control_request", request_id: id, request };
}

function answered(response: Json, subtype = "success"): JsonObject {
  return { type: "control_response", response: { subtype, request_id: "r1", response } };
}

function foldOf(lines: readonly JsonObject[]) {
  let state = claudeAdapter.start("run");
  const events = lines.flatMap((line) => {
    const [next, out] = claudeAdapter.step(state, line);
    state = next;
    return out;
  });
  return fold([...events, ...claudeAdapter.end(state)]);
}

function blocksOf(lines: readonly JsonObject[]) {
  return foldOf(lines).blocks;
}

function askIn(lines: readonly JsonObject[]): Ask {
  return blocksOf(lines).find(({ metadata }) => metadata["ask"] !== undefined)?.metadata[
    "ask"
  ] as unknown as Ask;
}

describe("an ask", () => {
  it.each([
    ["Bash", { command: "ls -la" }, { type: "command", command: "ls -la" }],
    ["WebFetch", { url: "https://a.example", prompt: "x" }, { type: "url", url: "https://a.example" }],
    ["mcp__lab__echo", { text: "x" }, { type: "tool", tool: "mcp__lab__echo", server: "lab" }],
    ["Read", { file_path: "/etc/hosts" }, { type: "tool", tool: "Read" }],
  ])("[C14] %s", (tool, input, subject) => {
    expect(askIn([asked(tool, input)])).toMatchObject({ kind: "permission", subject, input });
  });

  it("[C14] each suggestion by itself, with how far it reaches", () => {
    const rule = { toolName: "Bash", ruleContent: "npm run *" };
    const permission_suggestions = [
      { type: "addRules", rules: [rule], behavior: "allow", destination: "localSettings" },
      { type: "addDirectories", directories: ["/etc"], destination: "session" },
      { type: "setMode", mode: "acceptEdits", destination: "session" },
      { type: "somethingNew", destination: "session" },
    ];
    const { suggestions } = askIn([asked("Bash", { command: "npm run x" }, { permission_suggestions })]);
    expect(suggestions?.map(({ id, label, scope }) => [id, label, scope])).toEqual([
      ["1", "Allow `npm run …` in this workspace", "workspace"],
      ["2", "Allow the folder /etc in this conversation", "conversation"],
      ["3", "Accept all edits in this conversation", "conversation"],
    ]);
    expect(suggestions?.[0]?.native).toEqual(permission_suggestions[0]);
  });

  it.each([
    ["Bash", "npm test", "`npm test`"],
    ["Bash", "npm test:*", "`npm test …`"],
    // Inputs that cannot be described exactly stay as written.
    ["Bash", "npm * test *", "Bash(npm * test *)"],
    ["Bash", "echo `id` *", "Bash(echo `id` *)"],
    ["WebFetch", "domain:docs.example.com", "fetching from docs.example.com"],
    ["Read", "//etc/**", "Read(//etc/**)"],
  ])("[C14] a rule %s(%s) reads %s", (toolName, ruleContent, words) => {
    const rules = [{ toolName, ruleContent }];
    const permission_suggestions = [{ type: "addRules", rules, behavior: "allow", destination: "session" }];
    const { suggestions } = askIn([asked("Bash", { command: "x" }, { permission_suggestions })]);
    expect(suggestions?.[0]?.label).toBe(`Allow ${words} in this conversation`);
  });

  it("[C60] questions with their options", () => {
    expect(askIn([asked("AskUserQuestion", QUESTION)])).toMatchObject({
      kind: "question",
      questions: [
        {
          ...{ id: "1", question: "Which library?", header: "Dates", multiple: false, freeText: true },
          options: [{ label: "luxon", description: "small", preview: "# luxon" }, { label: "temporal" }],
        },
        { id: "2", multiple: true },
      ],
    });
  });

  it("[C60] a plan is a text block, named by the ask", () => {
    const blocks = blocksOf([asked("ExitPlanMode", { plan: "# Plan\n", planFilePath: "/p.md" })]);
    const plan = blocks.find(({ kind }) => kind === "text");
    expect(plan).toMatchObject({ role: "model", text: "# Plan\n", status: "done" });
    const call = blocks.find(({ kind }) => kind === "tool_call");
    expect(call?.metadata["ask"]).toMatchObject({ kind: "plan", plan: "run/c:t1/plan" });
  });

  it("[C60] a plan that was not written has no block", () => {
    const blocks = blocksOf([asked("ExitPlanMode", {})]);
    expect(blocks.map(({ kind }) => kind)).toEqual(["tool_call"]);
  });
});

describe("a repeated ask", () => {
  const bash = (id: Json, call = "t1") => asked("Bash", { command: String(id) }, { tool_use_id: call }, id);
  const planned = (id: Json, plan: string) => asked("ExitPlanMode", { plan }, {}, id);
  const form = { type: "control_request", request_id: "r1", request: { subtype: "elicitation" } };

  it.each<[string, JsonObject[], Record<string, string>]>([
    ["another question about one call", [bash("r1"), bash("r2")], { r1: "expired", r2: "expired" }],
    [
      "and its answer",
      [bash("r0"), bash("r1"), answered({ behavior: "allow" })],
      { r0: "expired", r1: "allowed" },
    ],
    ["a name for two calls", [bash("r1"), bash("r1", "t2")], { r1: "expired" }],
    ["a name for a call and a form", [bash("r1"), form, form], { r1: "expired" }],
    ["a name for a form and a call", [form, bash("r1")], { r1: "expired" }],
    ["a name that was answered", [bash("r1"), answered({}), bash("r1")], { r1: "expired" }],
    ["no name", [bash(""), bash(null), bash(7), bash({})], {}],
  ])("[C14] %s: nothing stays open", (_, lines, states) => {
    const { asks, faults } = foldOf(lines);
    expect(Object.fromEntries(asks)).toEqual(states);
    expect(faults).toEqual([]);
  });

  it("[C14] a name that is open means the question that was asked first", () => {
    const [call, ...others] = blocksOf([bash("r1"), asked("Bash", { command: "rm -rf /" })]);
    expect(call?.metadata["ask"]).toMatchObject({ subject: { command: "r1" } });
    expect(others).toEqual([]);
  });

  it("[C60] each plan is a block of its own, and the ask names its own", () => {
    const { blocks, faults } = foldOf([
      planned("r1", "# One"),
      planned("r2", "# Two"),
      planned("r2", "# No"),
    ]);
    expect(faults).toEqual([]);
    expect(blocks.filter(({ kind }) => kind === "text").map(({ text }) => text)).toEqual(["# One", "# Two"]);
    const ask = blocks.find(({ kind }) => kind === "tool_call")?.metadata["ask"] as JsonObject | undefined;
    expect(blocks.find(({ id }) => id === ask?.["plan"])).toMatchObject({ text: "# Two" });
  });
});

describe("an answer", () => {
  const answers = { "Which library?": "luxon", "Which parts?": 'Search, "Export, import"' };
  it.each([
    [{ answers }, { questions: { 1: { chosen: ["luxon"] }, 2: { chosen: ["Search", "Export, import"] } } }],
    [
      { answers: { "Which library?": "my own" }, annotations: { "Which library?": { notes: "offline" } } },
      { questions: { 1: { chosen: [], text: "my own", notes: "offline" } } },
    ],
    [{ answers: { "Which parts?": ["Search"] } }, { questions: { 2: { chosen: ["Search"] } } }],
    [
      { answers: {}, annotations: { "Which parts?": { unanswered: "skipped" } } },
      { questions: { 2: { chosen: [], skipped: true } } },
    ],
    [
      { answers: {}, response: "Later" },
      { questions: {}, text: "Later" },
    ],
    [{ answers: { Dates: "luxon" } }, { questions: {} }],
  ])("[C60] the answer %j", (input, answer) => {
    const said = answered({ behavior: "allow", updatedInput: { ...QUESTION, ...input } });
    expect(askIn([asked("AskUserQuestion", QUESTION), said])).toMatchObject({ state: "answered", answer });
  });

  it.each([
    [
      { behavior: "deny", message: "no" },
      { state: "denied", message: "no" },
    ],
    [{ behavior: "allow" }, { state: "allowed" }],
  ])("[C14] %j", (response, ask) => {
    expect(askIn([asked("Bash", { command: "ls" }), answered(response)])).toMatchObject(ask);
  });

  it("[C60] an edited plan, and the mode that follows", () => {
    const native = { type: "setMode", mode: "acceptEdits", destination: "session" };
    const response = { behavior: "allow", updatedInput: { plan: "# B" }, updatedPermissions: [native] };
    expect(askIn([asked("ExitPlanMode", { plan: "# A" }), answered(response)])).toMatchObject({
      state: "allowed",
      answer: { suggestion: "accept-edits", text: "# B" },
    });
  });
});

describe("an agent inside an agent", () => {
  const agent = (id: string, parent: string | null): JsonObject => ({
    type: "assistant",
    parent_tool_use_id: parent,
    message: { id: `m-${id}`, content: [{ type: "tool_use", id, name: "Agent", input: { prompt: "Go" } }] },
  });
  const report = (id: string, parent: string | null, isError: boolean): JsonObject => ({
    type: "user",
    parent_tool_use_id: parent,
    message: { content: [{ type: "tool_result", tool_use_id: id, content: "Report", is_error: isError }] },
  });
  const task = {
    ...{ type: "system", subtype: "task_started", task_id: "inner", tool_use_id: "b" },
    ...{ task_type: "local_agent", description: "Go" },
  };

  it.each([
    ["done", "allow", false, "done", undefined],
    ["failed", "allow", true, "error", false],
    ["done", "deny", false, "error", false],
  ] as const)(
    "[C15] that is %s: a call of it with the answer %s is no more than that",
    (_, behavior, isError, status, success) => {
      const folded = foldOf([
        agent("a", null),
        agent("b", "a"),
        task,
        asked("Bash", { command: "ls" }, { agent_id: "inner" }),
        answered({ behavior, message: "No." }),
        report("b", "a", isError),
        report("a", null, false),
        { type: "result", subtype: "success", is_error: false, result: "Done." },
      ]);
      const call = folded.blocks.find(({ metadata }) => metadata["toolUseId"] === "t1");
      expect([call?.status, call?.metadata["success"]]).toEqual([status, success]);
    },
  );
});

describe("a form of an MCP server", () => {
  const request = {
    ...{ subtype: "elicitation", mcp_server_name: "asker", message: "How many?", mode: "form" },
    requested_schema: { type: "object", properties: { people: { type: "integer" } } },
  };
  const form = { type: "control_request", request_id: "r1", request };
  it.each<[string, JsonObject[], JsonObject, string]>([
    [
      "accepted",
      [answered({ action: "accept", content: { people: 4 } })],
      { state: "answered", answer: { content: { people: 4 } } },
      "done",
    ],
    ["declined", [answered({ action: "decline" })], { state: "denied" }, "done"],
    ["cancelled", [{ type: "control_cancel_request", request_id: "r1" }], { state: "expired" }, "error"],
    ["cut off", [], { state: "expired" }, "error"],
    [
      "left open by its turn",
      [{ type: "result", subtype: "success", result: "" }],
      { state: "expired" },
      "error",
    ],
  ])("[C60] %s", (_, after, ask, status) => {
    const [block] = blocksOf([form, ...after]).filter(({ metadata }) => metadata["notice"] === "elicitation");
    expect(block).toMatchObject({ status, text: "How many?", metadata: { ask } });
    expect(block?.metadata["ask"]).toMatchObject({ form: { message: "How many?", server: "asker" } });
  });
});

it.each([[["a"]], [["a", "b"]], [["Export, import", "b"]], [['say "x"', "b, c", "d"]]])(
  "[C60] labels %j survive being joined",
  (labels) => {
    expect(labelsIn(joinedLabels(labels))).toEqual(labels);
  },
);
