/** Chat Completions, and the variations of the many servers that speak it. */
import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import { checkMetadata, isProblem } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { type Folded, fold } from "../fold.ts";
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
  return folded;
}

const chunk = (delta: JsonObject, finish_reason: string | null = null, index = 0): Json => ({
  id: "c1",
  object: "chat.completion.chunk",
  model: "m",
  choices: [{ index, delta, finish_reason }],
});
const call = (fields: JsonObject): Json => chunk({ tool_calls: [fields] });
const finish = chunk({}, "stop");
const done = "[DONE]";

const shown = ({ blocks }: Folded) => blocks.map(({ kind, status, text }) => [kind, status, text].join("|"));

describe("[O7] text", () => {
  it.each<[string, readonly Json[], readonly string[]]>([
    [
      "text",
      [
        chunk({ role: "assistant", content: "" }),
        chunk({ content: "Hi" }),
        chunk({ content: " " }),
        finish,
        done,
      ],
      ["text|done|Hi |"],
    ],
    [
      "reasoning_content, then text",
      [
        chunk({ reasoning_content: "Hm" }),
        chunk({ reasoning_content: "m" }),
        chunk({ content: "Yes" }),
        finish,
        done,
      ],
      ["thinking|done|Hmm", "text|done|Yes"],
    ],
    [
      "reasoning",
      [chunk({ reasoning: "Hm", reasoning_details: [{ type: "reasoning.text", text: "Hm" }] }), finish],
      ["thinking|done|Hm"],
    ],
    [
      "reasoning_details",
      [chunk({ reasoning_details: [{ type: "reasoning.summary", summary: "Hm" }] }), finish],
      ["thinking|done|Hm"],
    ],
    [
      "content parts",
      [
        chunk({
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "b" },
          ],
        }),
        finish,
      ],
      ["text|done|ab"],
    ],
    [
      "reasoning among the content parts",
      [
        chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "H" }] }] }),
        chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "m" }] }] }),
        chunk({ content: [{ type: "text", text: "Y" }] }),
        chunk({ content: "es" }),
        finish,
      ],
      ["thinking|done|Hm", "text|done|Yes"],
    ],
    [
      "images beside the content",
      [
        chunk({ content: "a" }),
        chunk({
          content: "",
          images: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA" } }],
        }),
        chunk({ content: "b" }),
        finish,
      ],
      ["text|done|a", "image|done||", "text|done|b"],
    ],
    ["sound without words", [chunk({ audio: { id: "a", data: "AAAA" } }), finish], ["text|done|[audio]"]],
    [
      "a completion that is no chat",
      [
        { id: "c1", object: "text_completion", choices: [{ index: 0, text: "He", finish_reason: null }] },
        { id: "c1", object: "text_completion", choices: [{ index: 0, text: "y", finish_reason: "stop" }] },
        done,
      ],
      ["text|done|Hey"],
    ],
    ["refusal", [chunk({ refusal: "No" }), finish], ["text|done|No"]],
    [
      "audio",
      [
        chunk({ audio: { id: "a", transcript: "Hel" } }),
        chunk({ audio: { data: "AAAA", transcript: "lo" } }),
        finish,
      ],
      ["text|done|Hello"],
    ],
    [
      "text around a call",
      [
        chunk({ content: "a" }),
        call({ index: 0, id: "x", function: { name: "f", arguments: "{}" } }),
        chunk({ content: "b" }),
        chunk({}, "tool_calls"),
      ],
      ["text|done|a", "tool_call|running|{}", "text|done|b"],
    ],
    [
      "two choices",
      [
        chunk({ content: "a" }),
        chunk({ content: "b" }, null, 1),
        chunk({ content: "A" }),
        chunk({}, "stop"),
        chunk({}, "stop", 1),
        done,
      ],
      ["text|done|aA", "text|done|b"],
    ],
  ])("%s", (_, events, expected) => {
    const folded = run(events);
    expect(shown(folded)).toEqual(expected.map((one) => one.replace(/\|$/, "")));
    expect(folded.turns).toMatchObject([{ status: "done" }]);
    expect(folded.faults).toEqual([]);
  });

  it.each([
    ["length", "error"],
    ["tool_calls", "running"],
  ])("[O4] a call of an answer that ended with %s", (finish, status) => {
    const tool_calls = [{ index: 0, id: "c", function: { name: "x", arguments: "{}" } }];
    const folded = run([chunk({ tool_calls }), chunk({}, finish), done]);
    expect(folded.blocks[0]?.status).toBe(status);
    expect(folded.stages.get(folded.blocks[0]?.id ?? "")?.includes("running")).toBe(status === "running");
  });

  it("citations of search models, per text or per answer", () => {
    const annotation = { type: "url_citation", url_citation: { url: "u", title: "t", content: "c" } };
    expect(
      run([chunk({ content: "a", annotations: [annotation] }), finish]).blocks[0]?.metadata.citations,
    ).toEqual([{ url: "u", title: "t", snippet: "c" }]);
    const withList = { ...(chunk({ content: "a" }) as JsonObject), citations: ["https://a"] };
    expect(run([withList, finish]).blocks[0]?.metadata.citations).toEqual([{ url: "https://a" }]);
  });

  it("[E22] citations are at their places in a text that comes in pieces", () => {
    const cited = { url: "https://u.example", title: "t", start_index: 2, end_index: 11 };
    const annotations = [{ type: "url_citation", url_citation: cited }];
    const pieces = ["😀 Fou", "nd it.", " More."].map((content) => chunk({ content }));
    expect(run([...pieces, chunk({ annotations }), finish]).blocks[0]?.metadata.citations).toEqual([
      { url: "https://u.example", title: "t", start: 3, end: 12 },
    ]);
  });

  it("an image is kept as data, or by its address", () => {
    const part = (url: string) => ({ type: "image_url", image_url: { url } });
    const content = [part("data:image/webp;base64,AA"), part("https://a/b.png")];
    expect(run([chunk({ content }), finish]).blocks.map(({ metadata }) => metadata)).toMatchObject([
      { mediaType: "image/webp", data: "AA" },
      { url: "https://a/b.png" },
    ]);
  });

  it("an unknown part is unknown", () => {
    expect(run([chunk({ content: [{ type: "hologram" }] }), finish]).unknown).toEqual({
      "content/hologram": 1,
    });
  });
});

describe("[O8] tool calls", () => {
  const f = (name: string | undefined, args: Json): JsonObject => ({
    ...(name === undefined ? {} : { name }),
    arguments: args,
  });

  it.each<[string, readonly Json[], readonly (readonly [string, Json])[]]>([
    [
      "by index",
      [
        call({ index: 0, id: "a", function: f("x", "") }),
        call({ index: 1, id: "b", function: f("y", '{"n"') }),
        call({ index: 0, function: f(undefined, '{"m":1}') }),
        call({ index: 1, function: f(undefined, ":2}") }),
      ],
      [
        ["x", { m: 1 }],
        ["y", { n: 2 }],
      ],
    ],
    [
      "all with index 0, told apart by id",
      [
        call({ index: 0, id: "a", function: f("x", '{"m":1}') }),
        call({ index: 0, id: "b", function: f("y", '{"n":2}') }),
      ],
      [
        ["x", { m: 1 }],
        ["y", { n: 2 }],
      ],
    ],
    [
      "without indexes, by id",
      [
        call({ id: "a", function: f("x", "") }),
        call({ id: "a", function: f(undefined, '{"m":1}') }),
        call({ id: "b", function: f("y", "{}") }),
      ],
      [
        ["x", { m: 1 }],
        ["y", {}],
      ],
    ],
    [
      "without indexes, ids only at the beginning",
      [
        call({ id: "a", function: f("x", '{"m"') }),
        call({ function: f(undefined, ":1}") }),
        call({ id: "b", function: f("y", "{}") }),
      ],
      [
        ["x", { m: 1 }],
        ["y", {}],
      ],
    ],
    [
      "without either, whole",
      [chunk({ tool_calls: [{ function: f("x", '{"m":1}') }, { function: f("x", '{"m":2}') }] })],
      [
        ["x", { m: 1 }],
        ["x", { m: 2 }],
      ],
    ],
    [
      "without either, the name repeated",
      [
        call({ function: f("x", '{"m"') }),
        call({ function: f("x", ":1}") }),
        call({ function: f("y", "{}") }),
      ],
      [
        ["x", { m: 1 }],
        ["y", {}],
      ],
    ],
    [
      "all with index 0, their pieces mixed",
      [
        call({ index: 0, id: "a", function: f("x", "") }),
        call({ index: 0, id: "b", function: f("y", '{"n"') }),
        call({ index: 0, id: "a", function: f(undefined, '{"m":1}') }),
        call({ index: 0, id: "b", function: f(undefined, ":2}") }),
      ],
      [
        ["x", { m: 1 }],
        ["y", { n: 2 }],
      ],
    ],
    [
      "all with index 0 and an empty id",
      [
        call({ index: 0, id: "", function: f("x", '{"m":1}') }),
        call({ index: 0, id: "", function: f("x", '{"m":2}') }),
      ],
      [
        ["x", { m: 1 }],
        ["x", { m: 2 }],
      ],
    ],
    [
      "an id that is made up for every piece",
      [
        call({ index: 0, id: "a", function: f("x", "") }),
        call({ index: 0, id: "b", function: f(undefined, '{"m"') }),
        call({ index: 0, id: "c", function: f(undefined, ":1}") }),
      ],
      [["x", { m: 1 }]],
    ],
    [
      "by index, the name repeated with every piece",
      [
        call({ index: 0, function: f("x", '{"m"') }),
        call({ index: 0, function: f("x", ":1}") }),
        call({ index: 0, function: f("x", "") }),
      ],
      [["x", { m: 1 }]],
    ],
    [
      "indexes as text",
      [
        call({ index: "0", id: "a", function: f("x", '{"m"') }),
        call({ index: "1", id: "b", function: f("y", '{"n"') }),
        call({ index: "0", function: f(undefined, ":1}") }),
        call({ index: "1", function: f(undefined, ":2}") }),
      ],
      [
        ["x", { m: 1 }],
        ["y", { n: 2 }],
      ],
    ],
    ["arguments as an object", [call({ index: 0, id: "a", function: f("x", { m: 1 }) })], [["x", { m: 1 }]]],
    ["no arguments", [call({ index: 0, id: "a", function: { name: "x" } })], [["x", {}]]],
    [
      "a name that comes late",
      [
        call({ index: 0, id: "a", function: f(undefined, '{"m"') }),
        call({ index: 0, function: f("x", ":1}") }),
      ],
      [["x", { m: 1 }]],
    ],
    [
      "a custom tool",
      [call({ index: 0, id: "a", type: "custom", custom: { name: "x", input: "plain" } })],
      [["x", "plain"]],
    ],
    [
      "the old function_call",
      [
        chunk({ function_call: { name: "x", arguments: "" } }),
        chunk({ function_call: { arguments: '{"m":1}' } }),
      ],
      [["x", { m: 1 }]],
    ],
  ])("%s", (_, events, expected) => {
    const folded = run([...events, chunk({}, "tool_calls"), done]);
    expect(folded.blocks.map(({ kind, metadata }) => [kind, metadata.toolName, metadata.input])).toEqual(
      expected.map(([name, input]) => ["tool_call", name, input]),
    );
    expect(new Set(folded.blocks.map(({ metadata }) => metadata.toolUseId)).size).toBe(expected.length);
    expect(folded.faults).toEqual([]);
  });

  it("[A2] a cut input is never complete", () => {
    const folded = run([
      call({ index: 0, id: "a", function: { name: "x", arguments: '{"m":"' } }),
      chunk({}, "length"),
      done,
    ]);
    expect(folded.blocks[0]).toMatchObject({
      status: "error",
      metadata: { reason: "truncated", success: false },
    });
    expect(folded.blocks[0]?.metadata).not.toHaveProperty("input");
  });
});

describe("[O9] ends", () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 5,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 2 },
  };
  const usageChunk: Json = { id: "c1", object: "chat.completion.chunk", choices: [], usage };

  it.each<[string, readonly Json[], JsonObject]>([
    [
      "usage after the last choice",
      [chunk({ content: "a" }), finish, usageChunk, done],
      {
        status: "done",
        stopReason: "stop",
        usage: { input: 10, cacheRead: 4, cacheWrite: 0, output: 5, reasoning: 2 },
      },
    ],
    ["no end marker", [chunk({ content: "a" }), finish], { status: "done", stopReason: "stop" }],
    ["no finish reason", [chunk({ content: "a" }), done], { status: "done" }],
    ["neither", [chunk({ content: "a" })], { status: "error", reason: "interrupted" }],
    [
      "length",
      [chunk({ content: "a" }), chunk({}, "length"), done],
      { status: "done", reason: "truncated", stopReason: "length" },
    ],
    [
      "an error in the stream",
      [chunk({ content: "a" }), { error: { message: "Broke", code: 502 } }],
      { status: "error", reason: "failed", error: "Broke" },
    ],
    [
      "an error that is a text",
      [chunk({ content: "a" }), { id: "c1", choices: [], error: "Broke" }],
      { status: "error", reason: "failed", error: "Broke" },
    ],
    [
      "an error of a choice",
      [
        chunk({ content: "a" }),
        { id: "c1", choices: [{ index: 0, delta: {}, finish_reason: "error", error: { message: "Broke" } }] },
        done,
      ],
      { status: "error", reason: "failed", error: "Broke" },
    ],
    [
      "an error without a word",
      [chunk({ content: "a" }), chunk({}, "error"), done],
      { status: "error", reason: "failed", stopReason: "error" },
    ],
    [
      "usage in a vendor's corner",
      [chunk({ content: "a" }), { ...(finish as JsonObject), x_groq: { id: "r", usage } }, done],
      { status: "done", usage: { input: 10, output: 5 } },
    ],
    [
      "usage in the choice",
      [
        chunk({ content: "a" }),
        { id: "c1", choices: [{ index: 0, delta: {}, finish_reason: "stop", usage }] },
        done,
      ],
      { status: "done", usage: { input: 10, output: 5 } },
    ],
    [
      "a first chunk without an id, and usage at the end",
      [
        { id: "", object: "", model: "", created: 0, choices: [], prompt_filter_results: [] },
        chunk({ content: "a" }),
        finish,
        usageChunk,
        done,
      ],
      { status: "done", usage: { input: 10, output: 5 } },
    ],
    [
      "an id for every chunk",
      [
        chunk({ content: "a" }),
        { ...(chunk({ content: "b" }) as JsonObject), id: "c2" },
        { ...(finish as JsonObject), id: "c3" },
        { ...(usageChunk as JsonObject), id: "c4" },
      ],
      { status: "done", usage: { input: 10, output: 5 } },
    ],
  ])("%s", (_, events, expected) => {
    const folded = run(events);
    expect(folded.turns).toHaveLength(1);
    expect(folded.turns[0]).toMatchObject(expected);
    expect(folded.faults).toEqual([]);
  });

  it("a second completion in the same stream is a second turn", () => {
    const second = { ...(chunk({ content: "b" }, "stop") as JsonObject), id: "c2" };
    const folded = run([chunk({ content: "a" }), finish, second, done]);
    expect(shown(folded)).toEqual(["text|done|a", "text|done|b"]);
    expect(folded.turns).toHaveLength(2);
  });

  it("so is one after another that was cut", () => {
    const second = { ...(chunk({ content: "c" }, "stop") as JsonObject), id: "c2" };
    const folded = run([chunk({ content: "a" }), chunk({ content: "b" }), second, done]);
    expect(shown(folded)).toEqual(["text|error|ab", "text|done|c"]);
    expect(folded.turns).toMatchObject([{ status: "error", reason: "interrupted" }, { status: "done" }]);
  });
});

it("[O10] a whole completion is what its chunks would be", () => {
  const message = {
    role: "assistant",
    content: "Hi",
    reasoning_content: "Hm",
    tool_calls: [{ id: "a", type: "function", function: { name: "x", arguments: '{"m":1}' } }],
  };
  const whole = run([
    {
      id: "c1",
      object: "chat.completion",
      model: "m",
      choices: [{ index: 0, message, finish_reason: "tool_calls" }],
    },
  ]);
  const streamed = run([
    chunk({ reasoning_content: "Hm" }),
    chunk({ content: "H" }),
    chunk({ content: "i" }),
    call({ index: 0, id: "a", function: { name: "x", arguments: '{"m":1}' } }),
    chunk({}, "tool_calls"),
    done,
  ]);
  expect(whole.blocks).toEqual(streamed.blocks);
});
