/** The Messages API beyond the recordings: server tools, whole messages, events out of order. */
import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import { checkMetadata, isProblem } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { type Folded, fold } from "../fold.ts";
import { anthropicAdapter, anthropicWith } from "./adapter.ts";

function run(events: readonly Json[], adapter = anthropicAdapter): Folded {
  let state = adapter.start("r");
  const out: BlockEvent[] = [];
  for (const event of events) {
    const [next, given] = adapter.step(state, event);
    state = next;
    out.push(...given);
  }
  const folded = fold([...out, ...adapter.end(state)]);
  for (const block of folded.blocks) {
    const checked = checkMetadata(block.kind, block.metadata);
    if (isProblem(checked)) throw new Error(`${block.id}: ${checked.message}`);
  }
  return folded;
}

const start: Json = {
  type: "message_start",
  message: { id: "msg_1", model: "m", content: [], usage: { input_tokens: 3, output_tokens: 1 } },
};
const stop: readonly Json[] = [
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
  { type: "message_stop" },
];
const begin = (index: number, content_block: JsonObject): Json => ({
  type: "content_block_start",
  index,
  content_block,
});
const grow = (index: number, delta: JsonObject): Json => ({ type: "content_block_delta", index, delta });
const end = (index: number): Json => ({ type: "content_block_stop", index });

/** A message of whole blocks, as a stream. */
function stream(...blocks: readonly JsonObject[]): Json[] {
  return [start, ...blocks.flatMap((block, i) => [begin(i, block), end(i)]), ...stop];
}

const shown = ({ blocks }: Folded) =>
  blocks.map(({ kind, status, text, parent }) =>
    [kind, status, text, parent === null ? "" : "below"].join("|"),
  );

describe("blocks", () => {
  it("[A1] of every plain type", () => {
    const folded = run([
      start,
      begin(0, { type: "thinking", thinking: "", signature: "" }),
      grow(0, { type: "thinking_delta", thinking: "Hm", estimated_tokens: 4 }),
      grow(0, { type: "signature_delta", signature: "c2ln" }),
      end(0),
      begin(1, { type: "redacted_thinking", data: "b3BhcXVl" }),
      end(1),
      begin(2, { type: "text", text: "Yes" }),
      grow(2, { type: "text_delta", text: " " }),
      grow(2, {
        type: "citations_delta",
        citation: {
          type: "web_search_result_location",
          url: "u",
          title: "t",
          cited_text: "c",
          encrypted_index: "e",
        },
      }),
      grow(2, {
        type: "citations_delta",
        citation: { type: "char_location", document_index: 2, document_title: "d", cited_text: "x" },
      }),
      end(2),
      ...stop,
    ]);
    expect(shown(folded)).toEqual(["thinking|done|Hm|", "thinking|done||", "text|done|Yes |"]);
    expect(folded.blocks[0]?.metadata).toMatchObject({
      signature: "c2ln",
      estimatedTokens: 4,
      messageId: "msg_1",
      index: 0,
    });
    expect(folded.blocks[1]?.metadata).toMatchObject({ redacted: true, opaque: "b3BhcXVl" });
    expect(folded.blocks[2]?.metadata.citations).toEqual([
      { url: "u", title: "t", snippet: "c", start: 0, end: folded.blocks[2]?.text.length },
      { url: "document:2", title: "d", snippet: "x", start: 0, end: folded.blocks[2]?.text.length },
    ]);
  });

  it.each<[string, Json | undefined, string]>([
    ['{"a":1}', { a: 1 }, "running"],
    ["", {}, "running"],
    ['{"path":"a.txt","content":"cut he', undefined, "error"],
    ['{"a":1}{', undefined, "error"],
  ])("[A2] a call with the input %j", (partial_json, input, status) => {
    const folded = run([
      start,
      begin(0, { type: "tool_use", id: "t1", name: "Write", input: {} }),
      grow(0, { type: "input_json_delta", partial_json }),
      end(0),
      ...stop,
    ]);
    const [call] = folded.blocks;
    expect(call?.metadata.input).toEqual(input);
    expect(call?.status).toBe(status);
    if (status === "error") expect(call?.metadata.reason).toBe("truncated");
    expect(folded.stages.get(call?.id ?? "")?.at(-1)).toBe(status === "error" ? "end" : "running");
    expect(call?.metadata.waiting).toBe(status === "error" ? undefined : "result");
  });

  it.each<[string, readonly string[]]>([
    ["max_tokens", ["running", "error"]],
    ["tool_use", ["running", "running"]],
  ])("[A2] where the message was stopped by %s, its last call", (stop_reason, expected) => {
    const tool = (id: string): JsonObject => ({ type: "tool_use", id, name: "x", input: {} });
    const whole = [begin(0, tool("a")), end(0), begin(1, tool("b")), end(1)];
    const folded = run([
      start,
      ...whole,
      { type: "message_delta", delta: { stop_reason } },
      { type: "message_stop" },
    ]);
    expect(folded.blocks.map(({ status }) => status)).toEqual(expected);
    const last = folded.blocks[1];
    const isCut = stop_reason === "max_tokens";
    expect(folded.stages.get(last?.id ?? "")?.includes("running")).toBe(!isCut);
    if (isCut) expect(last?.metadata).toMatchObject({ reason: "truncated", success: false });
    if (isCut) expect(last?.metadata.input).toBeUndefined();
  });

  it("[A2] accepts an input that came with the start", () => {
    const { blocks } = run(stream({ type: "tool_use", id: "t1", name: "x", input: { a: 1 } }));
    expect(blocks[0]).toMatchObject({ text: '{"a":1}', metadata: { input: { a: 1 } } });
  });

  it.each<[string, JsonObject, JsonObject, string, JsonObject]>([
    [
      "web_search",
      { query: "q" },
      {
        type: "web_search_tool_result",
        content: [{ type: "web_search_result", url: "u", title: "T", encrypted_content: "e" }],
      },
      "tool_result|done|- [T](u)|below",
      { citations: [{ url: "u", title: "T" }] },
    ],
    [
      "web_search",
      { query: "q" },
      {
        type: "web_search_tool_result",
        content: { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" },
      },
      "tool_result|error|max_uses_exceeded|below",
      { isError: true },
    ],
    [
      "web_fetch",
      { url: "u" },
      {
        type: "web_fetch_tool_result",
        content: {
          type: "web_fetch_result",
          url: "u",
          content: { type: "document", title: "T", source: { type: "text", data: "body" } },
        },
      },
      "tool_result|done|body|below",
      { citations: [{ url: "u", title: "T" }] },
    ],
    [
      "bash_code_execution",
      { command: "ls" },
      {
        type: "bash_code_execution_tool_result",
        content: {
          type: "bash_code_execution_result",
          stdout: "a\n",
          stderr: "w",
          return_code: 2,
          content: [],
        },
      },
      "command|error|a\n|below",
      { command: "ls", exitCode: 2, stderr: "w" },
    ],
    [
      "code_execution",
      { code: "1+1" },
      {
        type: "code_execution_tool_result",
        content: { type: "code_execution_result", stdout: "2", stderr: "", return_code: 0, content: [] },
      },
      "command|done|2|below",
      { command: "1+1", exitCode: 0 },
    ],
    [
      "text_editor_code_execution",
      { command: "view", path: "a.py" },
      {
        type: "text_editor_code_execution_tool_result",
        content: {
          type: "text_editor_code_execution_view_result",
          file_type: "text",
          content: "x\n",
          start_line: 1,
          total_lines: 1,
        },
      },
      "code|done|x\n|below",
      { filename: "a.py", language: "python", startLine: 1 },
    ],
    [
      "text_editor_code_execution",
      { command: "str_replace", path: "a.py" },
      {
        type: "text_editor_code_execution_tool_result",
        content: {
          type: "text_editor_code_execution_str_replace_result",
          old_start: 1,
          old_lines: 1,
          new_start: 1,
          new_lines: 1,
          lines: ["-a", "+b"],
        },
      },
      "file_change|done|--- a.py\n+++ a.py\n@@ -1 +1 @@\n-a\n+b\n|below",
      { changes: [{ path: "a.py", kind: "modify", diff: "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-a\n+b\n" }] },
    ],
    [
      "tool_search",
      { query: "x" },
      {
        type: "tool_search_tool_result",
        content: {
          type: "tool_search_tool_search_result",
          tool_references: [{ type: "tool_reference", tool_name: "Grep" }],
        },
      },
      "tool_result|done|Grep|below",
      { toolName: "tool_search" },
    ],
    [
      "advisor",
      {},
      { type: "advisor_tool_result", content: { type: "advisor_result", text: "Do it" } },
      "tool_result|done|Do it|below",
      {},
    ],
    [
      "advisor",
      {},
      {
        type: "advisor_tool_result",
        content: { type: "advisor_redacted_result", encrypted_content: "e" },
      },
      "tool_result|done||below",
      { result: { encrypted_content: "e" } },
    ],
    [
      "docs",
      {},
      {
        type: "mcp_tool_result",
        content: [
          { type: "document", source: { type: "text", media_type: "text/plain", data: "the text" } },
          {
            type: "search_result",
            source: "https://a",
            title: "A",
            content: [{ type: "text", text: "found" }],
          },
        ],
      },
      "tool_result|done|the text\nA\nhttps://a\nfound|below",
      {},
    ],
  ])("[A3] server tool %s", (name, input, result, expected, metadata) => {
    const folded = run(
      stream({ type: "server_tool_use", id: "s1", name, input }, { ...result, tool_use_id: "s1" }),
    );
    expect(shown(folded)[1]).toBe(expected);
    expect(folded.blocks[1]?.metadata).toMatchObject({ toolUseId: "s1", ...metadata });
    const failed = expected.includes("|error|");
    expect(folded.blocks[0]).toMatchObject({
      status: failed ? "error" : "done",
      metadata: { remote: true, success: !failed },
    });
    expect(folded.faults).toEqual([]);
  });

  it("[A3] MCP tools name their server", () => {
    const folded = run(
      stream(
        { type: "mcp_tool_use", id: "m1", name: "echo", server_name: "demo", input: { a: 1 } },
        {
          type: "mcp_tool_result",
          tool_use_id: "m1",
          is_error: true,
          content: [{ type: "text", text: "no" }],
        },
      ),
    );
    expect(shown(folded)).toEqual(['tool_call|error|{"a":1}|', "tool_result|error|no|below"]);
    expect(folded.blocks[0]?.metadata).toMatchObject({ server: "demo", remote: true, error: "no" });
  });

  it("[A1] blocks about the message are notices", () => {
    const folded = run(
      stream(
        { type: "compaction", content: "Summary" },
        { type: "fallback", from: { model: "a" }, to: { model: "b" }, trigger: "overloaded" },
        { type: "container_upload", file_id: "file_1" },
      ),
    );
    expect(
      folded.blocks.map(({ kind, role, text, metadata }) => [kind, role, text, metadata.notice]),
    ).toEqual([
      ["text", "system", "Summary", "compaction"],
      ["text", "system", "Model changed from a to b", "fallback"],
      ["text", "system", "file_1", "container_upload"],
    ]);
    expect(folded.unknown).toEqual({});
  });

  it("[A1] the sealed form of a compaction, which goes back to the API, is kept", () => {
    const folded = run([
      start,
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "compaction", content: null, encrypted_content: null, signature: "s" },
      },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "compaction_delta", content: "Summary", encrypted_content: "sealed" },
      },
      { type: "content_block_stop", index: 0 },
      { type: "message_stop" },
    ]);
    expect(folded.blocks[0]?.text).toBe("Summary");
    expect(folded.blocks[0]?.metadata["extra"]).toEqual({ encrypted_content: "sealed", signature: "s" });
  });

  it("[A1] [A4] what another model goes on with is that model's, and so are the tokens", () => {
    const hop = { type: "fallback", from: { model: "claude-x" }, to: { model: "claude-y" }, trigger: {} };
    const folded = run(stream({ type: "text", text: "Part" }, hop, { type: "text", text: "more" }));
    expect(folded.blocks.map(({ metadata }) => metadata["model"])).toEqual([
      folded.turns[0]?.model,
      folded.turns[0]?.model,
      "claude-y",
    ]);
    expect(folded.turns[0]?.models).toEqual(["claude-y"]);
    const iterations = [{ type: "fallback_message", model: "claude-z", input_tokens: 1, output_tokens: 2 }];
    const usage = { input_tokens: 1, output_tokens: 2, iterations };
    const served = run([start, { type: "message_delta", delta: {}, usage }, { type: "message_stop" }]);
    expect(served.turns[0]?.models).toEqual(["claude-z"]);
  });

  it("[P25] tokens of another model's advice belong to the call that asked for it", () => {
    const call = (id: string) => ({ type: "server_tool_use", id, name: "advisor", input: {} });
    const result = (id: string) => ({
      type: "advisor_tool_result",
      tool_use_id: id,
      content: { type: "advisor_result", text: "Use a map.", stop_reason: "end_turn" },
    });
    const advice = (input_tokens: number, model: string) => ({
      type: "advisor_message",
      model,
      input_tokens,
      output_tokens: 60,
    });
    const usage = {
      input_tokens: 10,
      output_tokens: 5,
      iterations: [
        { type: "message", input_tokens: 10, output_tokens: 5 },
        advice(500, "a"),
        advice(700, "b"),
      ],
    };
    const events = stream(call("s1"), result("s1"), call("s2"), result("s2"));
    const [first, ...rest] = [...events].reverse();
    const told = { type: "message_delta", delta: {}, usage };
    const folded = run([...rest.reverse(), told, ...(first === undefined ? [] : [first])]);
    const calls = folded.blocks.filter(({ kind }) => kind === "tool_call").map(({ id }) => id);
    expect(folded.turns[0]?.usage).toMatchObject({ input: 10, output: 5 });
    const advised = [...folded.messages].filter(({ parent }) => parent !== undefined);
    expect(advised.map((each) => [each.parent, each.model, each.usage.input])).toEqual([
      [calls[0], "a", 500],
      [calls[1], "b", 700],
    ]);
  });

  it.each<[string, (index: number) => Json | undefined]>([
    ["as text", (index) => String(index)],
    ["left out", () => undefined],
    ["null", () => null],
  ])("[A6] indexes may be %s", (_, named) => {
    const text = { type: "text_delta" };
    const json = { type: "input_json_delta" };
    const at = (event: Json, index: number) => ({ ...(event as JsonObject), index: named(index) }) as Json;
    const folded = run([
      start,
      at(begin(0, { type: "text", text: "" }), 0),
      at(grow(0, { ...text, text: "Hel" }), 0),
      at(grow(0, { ...text, text: "lo" }), 0),
      at({ type: "content_block_stop" }, 0),
      at(begin(1, { type: "tool_use", id: "t", name: "n", input: {} }), 1),
      at(grow(1, { ...json, partial_json: '{"a"' }), 1),
      at(grow(1, { ...json, partial_json: ":1}" }), 1),
      at({ type: "content_block_stop" }, 1),
      ...stop,
    ]);
    expect(shown(folded)).toEqual(["text|done|Hello|", 'tool_call|running|{"a":1}|']);
    expect(folded.faults).toEqual([]);
  });

  it("[A6] a thinking delta leaves the text that it came to whole", () => {
    const folded = run([
      start,
      begin(0, { type: "text", text: "" }),
      grow(0, { type: "text_delta", text: "Hi" }),
      grow(0, { type: "thinking_delta", thinking: "", estimated_tokens: 5 }),
      grow(0, { type: "signature_delta", signature: "S" }),
      ...stop,
    ]);
    expect(shown(folded)).toEqual(["text|done|Hi|"]);
  });

  it("[A6] an input whose start was lost is a call", () => {
    const json = { type: "input_json_delta" };
    const folded = run([
      start,
      grow(0, { ...json, partial_json: '{"a"' }),
      grow(0, { ...json, partial_json: ":1}" }),
      ...stop,
    ]);
    expect(shown(folded)).toEqual(['tool_call|running|{"a":1}|']);
  });

  it("[A6] calls with the same id all wait", () => {
    const call = (name: string) => ({ type: "tool_use", id: "t", name, input: { name } });
    const folded = run(stream(call("a"), call("b")));
    expect(shown(folded)).toEqual(['tool_call|running|{"name":"a"}|', 'tool_call|running|{"name":"b"}|']);
    expect(folded.faults).toEqual([]);
  });

  it("[A4] a start that comes again is the same message, counted once", () => {
    const folded = run([start, start, ...stop]);
    expect(folded.turns).toMatchObject([{ status: "done" }]);
  });

  it("[A4] the reason of a refusal is shown", () => {
    const details = { type: "refusal", category: "bio", explanation: "Not this." };
    const folded = run([
      start,
      { type: "message_delta", delta: { stop_reason: "refusal", stop_details: details } },
      { type: "message_stop" },
    ]);
    expect(folded.blocks).toMatchObject([
      { kind: "text", role: "system", text: "Not this.", metadata: { notice: "refusal" } },
    ]);
  });

  it("[P19] a new type is unknown and counted", () => {
    const folded = run([
      start,
      begin(0, { type: "hologram", data: 1 }),
      begin(1, { type: "text", text: "" }),
      grow(1, { type: "smell_delta", smell: "x" }),
      { type: "message_whisper" },
      42,
      ...stop,
    ]);
    expect(folded.unknown).toEqual({
      "(number)": 1,
      "content_block/hologram": 1,
      "content_block_delta/smell_delta": 1,
      message_whisper: 1,
    });
  });

  it.each(["__proto__", "constructor", "toString"])("[P19] a block of type %s is a new one too", (type) => {
    const folded = run(stream({ type, content: "x" }, { type: "text", text: "after" }));
    expect(folded.unknown[`content_block/${type}`]).toBe(1);
    expect(folded.blocks.map(({ kind, role }) => [kind, role])).toEqual([
      ["unknown", "system"],
      ["text", "model"],
    ]);
  });
});

describe("turns", () => {
  it("[A4] [P25] usage is the last row, cached tokens included", () => {
    const { turns, messages } = run([
      {
        type: "message_start",
        message: {
          id: "m",
          model: "x",
          content: [],
          usage: {
            input_tokens: 10,
            cache_read_input_tokens: 100,
            cache_creation_input_tokens: 5,
            output_tokens: 1,
          },
        },
      },
      {
        type: "message_delta",
        delta: { stop_reason: "max_tokens" },
        usage: { input_tokens: null, output_tokens: 64, output_tokens_details: { thinking_tokens: 20 } },
      },
      { type: "message_stop" },
    ]);
    const usage = { input: 115, cacheRead: 100, cacheWrite: 5, output: 64, reasoning: 20 };
    expect(turns).toMatchObject([{ status: "done", reason: "truncated", stopReason: "max_tokens", usage }]);
    expect(messages).toMatchObject([{ messageId: "m", usage }]);
  });

  it("[A4] an error event closes what is open", () => {
    const folded = run([
      start,
      begin(0, { type: "text", text: "Half" }),
      { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    ]);
    expect(shown(folded)).toEqual(["text|error|Half|", "error|error|Overloaded|"]);
    expect(folded.blocks[1]?.metadata).toMatchObject({ code: "overloaded_error", retryable: true });
    expect(folded.turns).toMatchObject([{ status: "error", reason: "failed", error: "Overloaded" }]);
  });

  it("[A4] an error body alone is a failed turn", () => {
    const folded = run([
      {
        type: "error",
        error: { type: "authentication_error", message: "invalid x-api-key" },
        request_id: "r",
      },
    ]);
    expect(shown(folded)).toEqual(["error|error|invalid x-api-key|"]);
    expect(folded.turns).toHaveLength(1);
  });

  it("[A5] a whole message is what its stream would be", () => {
    const content = [
      { type: "thinking", thinking: "Hm", signature: "s" },
      {
        type: "text",
        text: "Look",
        citations: [{ type: "web_search_result_location", url: "u", title: "t", cited_text: "c" }],
      },
      { type: "tool_use", id: "t", name: "Read", input: { file_path: "a" } },
    ];
    const usage = { input_tokens: 3, output_tokens: 9 };
    const whole = run([
      {
        type: "message",
        id: "msg_1",
        model: "m",
        role: "assistant",
        content,
        stop_reason: "end_turn",
        usage,
      },
    ]);
    const streamed = run([
      start,
      begin(0, { type: "thinking", thinking: "", signature: "" }),
      grow(0, { type: "thinking_delta", thinking: "Hm" }),
      grow(0, { type: "signature_delta", signature: "s" }),
      end(0),
      begin(1, { type: "text", text: "" }),
      grow(1, { type: "text_delta", text: "Look" }),
      grow(1, {
        type: "citations_delta",
        citation: { type: "web_search_result_location", url: "u", title: "t", cited_text: "c" },
      }),
      end(1),
      begin(2, { type: "tool_use", id: "t", name: "Read", input: {} }),
      grow(2, { type: "input_json_delta", partial_json: '{"file_path":"a"}' }),
      end(2),
      ...stop,
    ]);
    expect(whole.blocks).toEqual(streamed.blocks);
    expect(whole.turns.map(({ native: _, ...turn }) => turn)).toEqual(
      streamed.turns.map(({ native: _, ...turn }) => turn),
    );
  });
});

describe("[A6] events that come wrong", () => {
  const text = (index: number, said: string) => grow(index, { type: "text_delta", text: said });

  it.each<[string, readonly Json[], readonly string[]]>([
    [
      "no message_start",
      [begin(0, { type: "text", text: "" }), text(0, "a"), end(0), ...stop],
      ["text|done|a|"],
    ],
    ["no start of the block", [start, text(0, "a"), text(0, "b"), end(0), ...stop], ["text|done|ab|"]],
    ["no stop of the block", [start, begin(0, { type: "text", text: "a" }), ...stop], ["text|done|a|"]],
    [
      "the same index twice",
      [start, begin(0, { type: "text", text: "a" }), begin(0, { type: "text", text: "b" }), ...stop],
      ["text|done|a|", "text|done|b|"],
    ],
    [
      "interleaved",
      [
        start,
        begin(0, { type: "text", text: "" }),
        begin(1, { type: "text", text: "" }),
        text(1, "b"),
        text(0, "a"),
        ...stop,
      ],
      ["text|done|a|", "text|done|b|"],
    ],
    [
      "a second message without a stop",
      [start, begin(0, { type: "text", text: "a" }), start, begin(0, { type: "text", text: "b" }), ...stop],
      ["text|error|a|", "text|done|b|"],
    ],
    ["everything twice", [...stream({ type: "text", text: "a" }), ...stop], ["text|done|a|"]],
  ])("%s", (_, events, expected) => {
    const folded = run(events);
    expect(shown(folded)).toEqual(expected);
    expect(folded.faults).toEqual([]);
  });

  it("a message that ends twice is one turn", () => {
    expect(run([...stream({ type: "text", text: "a" }), ...stop]).turns).toHaveLength(1);
  });
});

it("[A7] leaves calls to a caller that runs them", () => {
  const events = stream({ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } });
  const adapter = anthropicWith({ runsTools: true });
  const folded = run(events, adapter);
  expect(folded.blocks[0]).toMatchObject({
    status: "running",
    metadata: { stage: "running", input: { command: "ls" } },
  });
  expect(folded.turns[0]?.status).toBe("done");
});
