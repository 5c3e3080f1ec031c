/** What servers that speak OpenAI's formats make of them: each row is a form that one of them documents or sends. */
import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import { checkMetadata, isProblem } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { type Folded, fold } from "../fold.ts";
import { normalize } from "../normalize.ts";
import { recognise } from "../recognise.ts";
import { providers } from "../registry.ts";
import { openaiAdapter } from "./adapter.ts";

function run(events: readonly Json[]): Folded {
  let state = openaiAdapter.start("r");
  const out: BlockEvent[] = [];
  for (const event of events) {
    const [next, given] = openaiAdapter.step(state, event);
    state = next;
    out.push(...given);
  }
  const folded = fold([...out, ...openaiAdapter.end(state)]);
  for (const block of folded.blocks) {
    const checked = checkMetadata(block.kind, block.metadata);
    if (isProblem(checked)) throw new Error(`${block.id}: ${checked.message}`);
  }
  expect(folded.faults).toEqual([]);
  return folded;
}

function read(text: string): Folded {
  const provider = providers.get("openai");
  if (provider === undefined) throw new Error("no openai");
  return normalize(provider, [new TextEncoder().encode(text)]);
}

const chunk = (
  delta: JsonObject,
  finish_reason: string | null = null,
  more: JsonObject = {},
): JsonObject => ({
  id: "c1",
  object: "chat.completion.chunk",
  model: "m",
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});
const piece = (fields: JsonObject): Json => chunk({ tool_calls: [fields] });
const finish = chunk({}, "stop");

const shown = ({ blocks }: Folded) => blocks.map(({ kind, status, text }) => `${kind} ${status} ${text}`);

describe("[O51] reasoning, under whatever name", () => {
  it.each<[string, JsonObject]>([
    ["reasoning_text", { reasoning_text: "Hm" }],
    ["a name that nobody has used yet", { thinking_output: "Hm" }],
    ["thinking_blocks beside it", { reasoning_content: "Hm", thinking_blocks: [{ thinking: "Hm" }] }],
    ["thinking_blocks alone", { thinking_blocks: [{ type: "thinking", thinking: "Hm" }] }],
    ["steps", { reasoning_steps: [{ thought: "Hm", type: "web_search" }] }],
  ])("%s", (_, delta) => {
    expect(shown(run([chunk(delta), chunk({ content: "Yes" }), finish]))).toEqual([
      "thinking done Hm",
      "text done Yes",
    ]);
  });

  it("Gemini's marked content, without its tags", () => {
    const marked = (content: string) => chunk({ content, extra_content: { google: { thought: true } } });
    const answer = [chunk({ content: "</thought>Yes" }), chunk({ content: "</thought>" }), finish];
    const expected = ["thinking done Hm, so", "text done Yes</thought>"];
    expect(shown(run([marked("<thought>Hm"), marked(", so"), ...answer]))).toEqual(expected);
    expect(
      shown(run([marked("<thought>Hm, so</thought>Yes"), chunk({ content: "</thought>" }), finish])),
    ).toEqual(expected);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ["a signature in the details", { reasoning_details: [{ signature: "S" }] }, { signature: "S" }],
    [
      "a signature in the blocks",
      { thinking_blocks: [{ thinking: "", signature: "S" }] },
      { signature: "S" },
    ],
    ["an opaque form", { reasoning_opaque: "O" }, { opaque: "O" }],
  ])("%s seals it", (_, delta, expected) => {
    const { blocks } = run([chunk({ reasoning: "Hm" }), chunk(delta), chunk({ content: "Yes" }), finish]);
    expect(blocks[0]).toMatchObject({ kind: "thinking", text: "Hm", metadata: expected });
    expect(blocks[0]?.metadata.redacted).toBeUndefined();
  });

  const sealed = { reasoning_details: [{ type: "reasoning.encrypted", data: "E" }] };

  it("what nobody can read is a redacted block, in its place", () => {
    const { blocks } = run([chunk(sealed), chunk(sealed), chunk({ content: "Yes" }), finish]);
    expect(blocks).toMatchObject([
      { kind: "thinking", text: "", metadata: { redacted: true, opaque: "EE" } },
      { kind: "text", text: "Yes" },
    ]);
  });

  it("and tears no text in two where it comes late", () => {
    const late = run([chunk({ content: "Ye" }), chunk(sealed), chunk({ content: "s" }), finish]);
    expect(shown(late)).toEqual(["text done Yes", "thinking done "]);
  });
});

describe("[O8] pieces of calls with a wrong index", () => {
  it("one that could begin no call goes on with the last", () => {
    const { blocks } = run([
      piece({ index: 0, id: "a", function: { name: "f", arguments: "{}" } }),
      piece({ index: 0, id: "b", function: { name: "g", arguments: "" } }),
      piece({ index: 1, function: { arguments: '{"x":' } }),
      piece({ index: 1, function: { arguments: "1}" } }),
      chunk({}, "tool_calls"),
    ]);
    expect(blocks.map(({ metadata }) => [metadata.toolName, metadata.input])).toEqual([
      ["f", {}],
      ["g", { x: 1 }],
    ]);
  });
});

describe("[O9] how it ends", () => {
  it.each<[string, JsonObject]>([
    ["max_tokens", { status: "done", reason: "truncated" }],
    ["MAX_TOKENS", { status: "done", reason: "truncated" }],
    ["model_length", { status: "done", reason: "truncated" }],
    ["insufficient_system_resource", { status: "error", reason: "failed" }],
    ["network_error", { status: "error", reason: "failed" }],
    ["timeout", { status: "error", reason: "failed" }],
    ["abort", { status: "error", reason: "cancelled" }],
    ["end_turn", { status: "done" }],
    ["eos", { status: "done" }],
    ["content_filter", { status: "done" }],
  ])("%s", (word, expected) => {
    const [turn] = run([chunk({ content: "a" }), chunk({}, word), "[DONE]"]).turns;
    expect(turn).toMatchObject({ ...expected, stopReason: word });
    expect(turn?.reason).toBe(expected.reason);
  });

  it.each<[string, Json, string]>([
    [
      "an object of its own",
      { object: "error", message: "Broke", type: "InternalServerError", code: 500 },
      "Broke",
    ],
    ["a status", { choices: null, base_resp: { status_code: 1004, status_msg: "Bad key" } }, "Bad key"],
    ["a detail", { detail: "Not Found" }, "Not Found"],
    ["a message", { code: "InvalidApiKey", message: "No key", request_id: "1" }, "No key"],
  ])("an error that is %s", (_, event, words) => {
    for (const before of [[], [chunk({ content: "a" })]]) {
      const { turns, unknown, blocks } = run([...before, event]);
      expect(unknown).toEqual({});
      expect(turns).toMatchObject([{ status: "error", reason: "failed", error: words }]);
      expect(blocks.at(-1)).toMatchObject({ kind: "error", text: words });
    }
  });

  it("[P16] an error in a field of its own", () => {
    const event = `data: ${JSON.stringify(chunk({ content: "a" }))}\n\n`;
    const { turns, unknown } = read(`${event}error: {"code":500,"message":"Broke"}\n\n`);
    expect(unknown).toEqual({});
    expect(turns).toMatchObject([{ status: "error", error: "Broke" }]);
    expect(read(`${event}error: no JSON\n\n`).unknown).toEqual({ "(not JSON)": 1 });
  });

  it("what it cost, where the server says so", () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    const cost = (value: Json) =>
      run([chunk({ content: "a" }, "stop", { usage: { ...usage, cost: value } })]);
    expect(cost(0.5).turns[0]?.costUsd).toBe(0.5);
    expect(cost({ total_cost: 0.25 }).turns[0]?.costUsd).toBe(0.25);
    expect(cost("free").turns[0]?.costUsd).toBeUndefined();
  });
});

describe("[O10] a whole message behind its chunks", () => {
  const message = {
    role: "assistant",
    content: "Yes",
    reasoning_content: "Hm",
    tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }],
  };
  const whole = {
    id: "c1",
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: "stop" }],
  };

  it("adds nothing", () => {
    const streamed = [
      chunk({ reasoning_content: "Hm" }),
      chunk({ content: "Yes" }),
      piece(message.tool_calls[0] as Json as JsonObject),
    ];
    expect(shown(run([...streamed, whole]))).toEqual([
      "thinking done Hm",
      "text done Yes",
      "tool_call running {}",
    ]);
  });

  it("but what only it says", () => {
    expect(shown(run([chunk({ content: "Yes" }), finish, whole]))).toEqual([
      "text done Yes",
      "thinking done Hm",
      "tool_call running {}",
    ]);
  });
});

describe("[O52] tools that the server has run", () => {
  const tool = (more: JsonObject) => chunk({ executed_tools: [{ index: 0, type: "search", ...more }] });

  it("are calls with results, told at once or bit by bit", () => {
    const asked = { arguments: '{"query":"x"}' };
    const found = {
      output: "Sunny",
      search_results: { results: [{ title: "T", url: "https://t.example" }] },
    };
    const expected = [
      {
        kind: "tool_call",
        status: "done",
        metadata: { toolName: "search", remote: true, input: { query: "x" } },
      },
      {
        kind: "tool_result",
        text: "Sunny",
        metadata: { citations: [{ url: "https://t.example", title: "T" }] },
      },
      { kind: "text", text: "Yes" },
    ];
    for (const told of [[tool({ ...asked, ...found })], [tool(asked), tool({ ...asked, ...found })]]) {
      expect(run([...told, chunk({ content: "Yes" }), finish]).blocks).toMatchObject(expected);
    }
    expect(run([tool(asked), finish]).blocks).toMatchObject([{ kind: "tool_call", status: "done" }]);
    expect(run([tool(asked)]).blocks).toMatchObject([{ kind: "tool_call", status: "error" }]);
  });
});

it.each<[string, JsonObject]>([
  [
    "search_results",
    { search_results: [{ title: "T", url: "https://t.example" }], citations: ["https://t.example"] },
  ],
  ["web_search", { web_search: [{ title: "T", link: "https://t.example" }] }],
])("[O1] %s are citations", (_, more) => {
  const { blocks } = run([chunk({ content: "Yes" }, null, more), finish]);
  expect(blocks[0]?.metadata.citations).toEqual([{ url: "https://t.example", title: "T" }]);
});

describe("Responses", () => {
  const added = (item: JsonObject): JsonObject => ({
    type: "response.output_item.added",
    output_index: 0,
    item,
  });
  const done = (item: JsonObject): JsonObject => ({
    type: "response.output_item.done",
    output_index: 0,
    item,
  });
  const completed = { type: "response.completed", response: { id: "r1", status: "completed", output: [] } };

  it("[O3] a tool that is new is a call with its result", () => {
    const item = {
      id: "b1",
      type: "browser_call",
      status: "completed",
      action: { url: "https://x.example" },
    };
    const events = [
      added({ ...item, status: "in_progress" }),
      { type: "response.browser_call.in_progress", output_index: 0, item_id: "b1" },
      { type: "response.browser_call_action.delta", output_index: 0, item_id: "b1", delta: '{"ur' },
      { type: "response.browser_call.completed", output_index: 0, item_id: "b1" },
    ];
    const { blocks, unknown } = run([...events, done({ ...item, output: "A page" }), completed]);
    expect(unknown).toEqual({});
    expect(blocks).toMatchObject([
      {
        kind: "tool_call",
        status: "done",
        text: '{"action":{"url":"https://x.example"}}',
        metadata: { toolName: "browser", input: { action: { url: "https://x.example" } } },
      },
      { kind: "tool_result", text: "A page" },
    ]);
  });

  it.each([
    ["reasoning_text", "content"],
    ["reasoning", "content"],
    ["reasoning", "summary"],
    ["reasoning_summary", "summary"],
  ])("[O2] %s events, repeated as %s, are one text", (name, field) => {
    const item = { id: "t1", type: "reasoning", summary: [] };
    const about = { output_index: 0, item_id: "t1", content_index: 0 };
    const { blocks, unknown } = run([
      added(item),
      { type: "response.reasoning_part.added", ...about, part: { type: "reasoning_text", text: "" } },
      { type: `response.${name}.delta`, ...about, delta: "H" },
      { type: `response.${name}.delta`, ...about, delta: "m" },
      { type: `response.${name}.done`, ...about, text: "Hm" },
      { type: "response.reasoning_part.done", ...about, part: { type: "reasoning_text", text: "Hm" } },
      done({ ...item, [field]: [{ type: "x", text: "Hm" }] }),
      completed,
    ]);
    expect(unknown).toEqual({});
    expect(blocks).toMatchObject([{ kind: "thinking", text: "Hm" }]);
    expect(blocks).toHaveLength(1);
  });

  it("[O3] pictures in an output are pictures", () => {
    const url = "data:image/png;base64,AA";
    const image = { mediaType: "image/png", data: "AA" };
    const outputs: [JsonObject, JsonObject][] = [
      [
        { type: "computer_call", call_id: "k", action: { type: "screenshot" } },
        {
          type: "computer_call_output",
          call_id: "k",
          output: { type: "computer_screenshot", image_url: url },
        },
      ],
      [
        { type: "function_call", call_id: "k", name: "f", arguments: "{}" },
        {
          type: "function_call_output",
          call_id: "k",
          output: [
            { type: "input_text", text: "a" },
            { type: "input_image", image_url: url },
          ],
        },
      ],
    ];
    for (const output of outputs) {
      const response = { id: "r1", object: "response", status: "completed", output };
      expect(run([response]).blocks.at(-1)?.metadata.images).toEqual([image]);
    }
  });

  const said = (role: string, text: string): JsonObject => ({
    type: "message",
    role,
    content: [{ type: role === "assistant" ? "output_text" : "input_text", text }],
  });
  const call = { type: "function_call", call_id: "k", name: "f", arguments: "{}" };
  const output = { type: "function_call_output", call_id: "k", output: "3" };

  it.each<[string, readonly JsonObject[]]>([
    [
      "as it went",
      [
        said("user", "Add"),
        call,
        output,
        said("assistant", "3"),
        said("user", "Thanks"),
        said("assistant", "Yes"),
      ],
    ],
    [
      "the latest first",
      [
        said("assistant", "Yes"),
        said("user", "Thanks"),
        said("assistant", "3"),
        output,
        call,
        said("user", "Add"),
      ],
    ],
  ])("[O53] items of a conversation, %s", (_, data) => {
    const list = { object: "list", data, first_id: "a", last_id: "b", has_more: false };
    expect(recognise(JSON.stringify(list, null, 2))).toEqual({ provider: "openai", source: "stream" });
    const { blocks, turns, unknown } = run([list]);
    expect(unknown).toEqual({});
    expect(blocks.map(({ kind, role, status, text }) => `${kind} ${role} ${status} ${text}`)).toEqual([
      "text user done Add",
      "tool_call model done {}",
      "tool_result tool done 3",
      "text model done 3",
      "text user done Thanks",
      "text model done Yes",
    ]);
    expect(turns).toMatchObject([{ status: "done" }, { status: "done" }]);
  });
});
