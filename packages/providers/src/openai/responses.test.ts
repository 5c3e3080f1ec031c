/** The Responses API beyond the recordings: every kind of item, and events out of order. */
import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import { checkMetadata, isProblem } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { type Folded, fold } from "../fold.ts";
import { openaiAdapter, openaiWith } from "./adapter.ts";

function run(events: readonly Json[], adapter = openaiAdapter): Folded {
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

const created: Json = {
  type: "response.created",
  response: { id: "resp_1", model: "gpt", status: "in_progress", output: [] },
};
const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 2 },
};
const completed = (output: readonly JsonObject[] = []): Json => ({
  type: "response.completed",
  response: { id: "resp_1", model: "gpt", status: "completed", output, usage },
});
const added = (item: JsonObject, output_index = 0): Json => ({
  type: "response.output_item.added",
  output_index,
  item,
});
const done = (item: JsonObject, output_index = 0): Json => ({
  type: "response.output_item.done",
  output_index,
  item,
});
const event = (type: string, fields: JsonObject): Json => ({
  type: `response.${type}`,
  output_index: 0,
  ...fields,
});

const shown = ({ blocks }: Folded) =>
  blocks.map(({ kind, status, text, parent }) =>
    [kind, status, text, parent === null ? "" : "below"].join("|"),
  );

/** An item three ways: streamed with its added and done events, done only, and in the final response only. */
function everyWay(item: JsonObject): Folded[] {
  const { status: _, ...begun } = item;
  return [
    run([created, added({ ...begun, status: "in_progress" }), done(item), completed([item])]),
    run([created, done(item), completed([item])]),
    run([created, completed([item])]),
    run([{ object: "response", id: "resp_1", model: "gpt", status: "completed", output: [item], usage }]),
  ];
}

describe("items", () => {
  it("[E22] citations are at their places, however the answer comes", () => {
    const text = "😀 Found it. More.";
    const cited = {
      type: "url_citation",
      start_index: 2,
      end_index: 11,
      url: "https://u.example",
      title: "t",
    };
    const item = { id: "m", type: "message", content: [{ type: "output_text", text, annotations: [cited] }] };
    const at = { item_id: "m", content_index: 0 };
    const streamed = run([
      created,
      added({ ...item, content: [] }),
      event("content_part.added", { ...at, part: { type: "output_text", text: "" } }),
      event("output_text.delta", { ...at, delta: text }),
      event("output_text.annotation.added", { ...at, annotation: cited }),
      event("output_text.done", { ...at, text }),
      event("content_part.done", { ...at, part: { type: "output_text", text } }),
      done(item),
      completed([item]),
    ]);
    for (const folded of [streamed, ...everyWay(item)])
      expect(folded.blocks[0]?.metadata.citations).toEqual([
        { url: "https://u.example", title: "t", start: 3, end: 12 },
      ]);
  });

  it.each<[string, JsonObject, readonly string[], JsonObject]>([
    [
      "message",
      {
        id: "m",
        type: "message",
        content: [
          { type: "output_text", text: "Hi", annotations: [{ type: "url_citation", url: "u", title: "t" }] },
        ],
      },
      ["text|done|Hi|"],
      { citations: [{ url: "u", title: "t" }] },
    ],
    [
      "refusal",
      { id: "m", type: "message", content: [{ type: "refusal", refusal: "No" }] },
      ["text|done|No|"],
      { notice: "refusal" },
    ],
    [
      "reasoning",
      { id: "r", type: "reasoning", summary: [{ text: "A" }, { text: "B" }], encrypted_content: "enc" },
      ["thinking|done|A\n\nB|"],
      { opaque: "enc" },
    ],
    [
      "hidden reasoning",
      { id: "r", type: "reasoning", summary: [], encrypted_content: "enc" },
      ["thinking|done||"],
      { opaque: "enc" },
    ],
    [
      "function_call",
      {
        id: "f",
        type: "function_call",
        call_id: "c",
        name: "get",
        arguments: '{"a":1}',
        status: "completed",
      },
      ['tool_call|running|{"a":1}|'],
      { toolUseId: "c", toolName: "get", input: { a: 1 } },
    ],
    [
      "custom_tool_call",
      { id: "f", type: "custom_tool_call", call_id: "c", name: "apply_patch", input: "*** Begin Patch" },
      ["tool_call|running|*** Begin Patch|"],
      { input: "*** Begin Patch" },
    ],
    [
      "web_search_call",
      {
        id: "w",
        type: "web_search_call",
        status: "completed",
        action: { type: "search", query: "q", sources: [{ type: "url", url: "u" }] },
      },
      [
        'tool_call|done|{"type":"search","query":"q","sources":[{"type":"url","url":"u"}]}|',
        "tool_result|done|u|below",
      ],
      { remote: true, shortResult: "1 result", compactParams: "q" },
    ],
    [
      "file_search_call",
      {
        id: "w",
        type: "file_search_call",
        status: "completed",
        queries: ["q"],
        results: [{ filename: "a.txt", text: "body" }],
      },
      ['tool_call|done|{"queries":["q"]}|', "tool_result|done|a.txt\nbody|below"],
      { toolName: "file_search" },
    ],
    [
      "code_interpreter_call",
      {
        id: "w",
        type: "code_interpreter_call",
        status: "completed",
        code: "1+1",
        container_id: "x",
        outputs: [
          { type: "logs", logs: "2" },
          { type: "image", url: "https://i" },
        ],
      },
      ['tool_call|done|{"code":"1+1","container_id":"x"}|', "image|done||below", "command|done|2|below"],
      { success: true },
    ],
    [
      "image_generation_call",
      {
        id: "w",
        type: "image_generation_call",
        status: "completed",
        result: "aGk=",
        revised_prompt: "A cat",
        output_format: "webp",
      },
      ['tool_call|done|{"revised_prompt":"A cat","output_format":"webp"}|', "image|done|A cat|below"],
      { shortResult: "1 image" },
    ],
    [
      "mcp_call",
      {
        id: "w",
        type: "mcp_call",
        status: "completed",
        server_label: "demo",
        name: "echo",
        arguments: "{}",
        output: "hi",
      },
      ["tool_call|done|{}|", "tool_result|done|hi|below"],
      { server: "demo", remote: true },
    ],
    [
      "mcp_call that failed",
      {
        id: "w",
        type: "mcp_call",
        status: "failed",
        server_label: "demo",
        name: "echo",
        arguments: "{}",
        error: "down",
      },
      ["tool_call|error|{}|", "tool_result|error|down|below"],
      { error: "down", success: false },
    ],
    [
      "computer_call",
      { id: "w", type: "computer_call", call_id: "c", action: { type: "click", x: 1, y: 2 } },
      ['tool_call|running|{"type":"click","x":1,"y":2}|'],
      { toolName: "computer" },
    ],
    [
      "local_shell_call",
      { id: "w", type: "local_shell_call", call_id: "c", action: { type: "exec", command: ["ls"] } },
      ['tool_call|running|{"type":"exec","command":["ls"]}|'],
      { compactParams: "ls" },
    ],
    [
      "apply_patch_call",
      { id: "w", type: "apply_patch_call", call_id: "c", operation: { type: "delete_file", path: "a" } },
      ['tool_call|running|{"type":"delete_file","path":"a"}|'],
      { compactParams: "a" },
    ],
    [
      "tool_search_call",
      { id: "w", type: "tool_search_call", call_id: "c", arguments: { query: "x" } },
      ['tool_call|running|{"query":"x"}|'],
      {},
    ],
    [
      "program",
      { id: "w", type: "program", call_id: "c", code: "run()" },
      ['tool_call|done|{"code":"run()"}|'],
      { remote: true },
    ],
    [
      "mcp_approval_request",
      { id: "ap", type: "mcp_approval_request", name: "rm", server_label: "fs", arguments: "{}" },
      ["tool_call|running|{}|"],
      { ask: { id: "ap", kind: "permission", state: "asked", title: "fs: rm" } },
    ],
    [
      "mcp_list_tools",
      { id: "l", type: "mcp_list_tools", server_label: "fs", tools: [{ name: "a" }, { name: "b" }] },
      ["text|done|a\nb|"],
      { notice: "mcp_list_tools" },
    ],
    [
      "mcp_list_tools that failed",
      { id: "l", type: "mcp_list_tools", server_label: "fs", tools: [], error: { message: "no server" } },
      ["text|done|no server|"],
      { notice: "mcp_list_tools" },
    ],
    [
      "computer_call with a check",
      {
        ...{ id: "w", type: "computer_call", call_id: "c", action: { type: "wait" } },
        pending_safety_checks: [{ id: "s", message: "Careful" }],
      },
      ['tool_call|running|{"type":"wait","pending_safety_checks":[{"id":"s","message":"Careful"}]}|'],
      {},
    ],
    [
      "compaction",
      { id: "l", type: "compaction", encrypted_content: "e" },
      ["text|done|The conversation was compacted|"],
      { notice: "compaction" },
    ],
    [
      "a call of tomorrow",
      { id: "w", type: "telepathy_call", thought: "x", status: "completed" },
      ['tool_call|done|{"thought":"x"}|'],
      { toolName: "telepathy", remote: true },
    ],
  ])("[O3] [O4] %s", (_, item, expected, metadata) => {
    for (const folded of everyWay(item)) {
      expect(shown(folded)).toEqual(expected);
      expect(folded.blocks[0]?.metadata).toMatchObject(metadata);
      expect(folded.faults).toEqual([]);
      expect(folded.unknown).toEqual({});
      expect(folded.turns).toMatchObject([
        { status: "done", usage: { input: 10, cacheRead: 4, output: 5, reasoning: 2 } },
      ]);
    }
  });

  it.each([
    [true, "done", "allowed"],
    [false, "error", "denied"],
  ])("[O3] an approval that was answered with %s", (approve, status, state) => {
    const request = {
      id: "ap",
      type: "mcp_approval_request",
      name: "rm",
      server_label: "fs",
      arguments: "{}",
    };
    const answer = { id: "re", type: "mcp_approval_response", approval_request_id: "ap", approve };
    const folded = run([created, done(request), done(answer, 1), completed()]);
    expect(folded.blocks).toMatchObject([{ status, metadata: { ask: { id: "ap", state } } }]);
  });

  it.each<[string, JsonObject, JsonObject, string, JsonObject]>([
    [
      "shell",
      { id: "s", type: "shell_call", call_id: "c", action: { commands: ["ls", "pwd"] } },
      {
        id: "o",
        type: "shell_call_output",
        call_id: "c",
        output: [
          { stdout: "a\n", stderr: "", outcome: { type: "exit", exit_code: 0 } },
          { stdout: "b\n", stderr: "e", outcome: { type: "exit", exit_code: 1 } },
        ],
      },
      "command|error|a\nb\n|below",
      { command: "ls\npwd", exitCode: 1, stderr: "e" },
    ],
    [
      "local shell",
      { id: "s", type: "local_shell_call", call_id: "c", action: { command: ["ls"] } },
      {
        id: "o",
        type: "local_shell_call_output",
        call_id: "c",
        output: '{"output":"x","metadata":{"exit_code":0}}',
      },
      "command|done|x|below",
      { command: "ls", exitCode: 0 },
    ],
    [
      "apply_patch",
      {
        id: "s",
        type: "apply_patch_call",
        call_id: "c",
        operation: { type: "update_file", path: "a", diff: "@@\n-x\n+y" },
      },
      { id: "o", type: "apply_patch_call_output", call_id: "c", status: "completed" },
      "file_change|done|--- a\n+++ a\n@@ -0 +0 @@\n-x\n+y\n|below",
      {},
    ],
    [
      "function",
      { id: "s", type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { id: "o", type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "r" }] },
      "tool_result|done|r|below",
      { toolName: "f", toolUseId: "c" },
    ],
    [
      "program",
      { id: "s", type: "program", call_id: "c", code: "go()" },
      { id: "o", type: "program_output", call_id: "c", result: "42" },
      "tool_result|done|42|below",
      {},
    ],
  ])("[O3] the output of a call: %s", (_, call, output, expected, metadata) => {
    const folded = run([
      created,
      added(call),
      done(call),
      added(output, 1),
      done(output, 1),
      completed([call, output]),
    ]);
    expect(shown(folded)[1]).toBe(expected);
    expect(folded.blocks[1]?.metadata).toMatchObject(metadata);
    expect(folded.faults).toEqual([]);
  });
});

describe("streams", () => {
  it("[O2] summary and raw reasoning, parts apart", () => {
    const item = { id: "r", type: "reasoning" };
    const folded = run([
      created,
      added({ ...item, summary: [] }),
      event("reasoning_summary_text.delta", { item_id: "r", summary_index: 0, delta: "A" }),
      event("reasoning_summary_text.delta", { item_id: "r", summary_index: 1, delta: "B" }),
      event("reasoning_text.delta", { item_id: "r", content_index: 0, delta: "raw" }),
      done({
        ...item,
        summary: [{ text: "A" }, { text: "B" }],
        content: [{ text: "raw" }],
        encrypted_content: "e",
      }),
      completed(),
    ]);
    expect(shown(folded)).toEqual(["thinking|done|A\n\nB|", "thinking|done|raw|"]);
    expect(folded.blocks[0]?.metadata.opaque).toBe("e");
  });

  it("[O3] code and shell commands stream as the JSON that they become", () => {
    const code = {
      id: "w",
      type: "code_interpreter_call",
      code: 'print("é")',
      container_id: "x",
      outputs: null,
      status: "completed",
    };
    const shell = {
      id: "s",
      type: "shell_call",
      call_id: "c",
      action: { commands: ["ls -l", "pwd"], timeout_ms: 5 },
      status: "completed",
    };
    const folded = run([
      created,
      added({ ...code, code: "" }),
      event("code_interpreter_call_code.delta", { item_id: "w", delta: 'print("' }),
      event("code_interpreter_call_code.delta", { item_id: "w", delta: 'é")' }),
      event("code_interpreter_call.interpreting", { item_id: "w" }),
      done(code),
      added({ ...shell, action: { commands: [] } }, 1),
      { type: "response.shell_call_command.added", output_index: 1, command_index: 0, command: "" },
      { type: "response.shell_call_command.delta", output_index: 1, command_index: 0, delta: "ls -l" },
      { type: "response.shell_call_command.added", output_index: 1, command_index: 1, command: "p" },
      { type: "response.shell_call_command.delta", output_index: 1, command_index: 1, delta: "wd" },
      done(shell, 1),
      added({ id: "o", type: "shell_call_output", call_id: "c" }, 2),
      {
        type: "response.shell_call_output_content.delta",
        output_index: 2,
        item_id: "o",
        command_index: 0,
        delta: { stdout: "a\n" },
      },
      completed(),
    ]);
    expect(shown(folded)).toEqual([
      'tool_call|done|{"code":"print(\\"é\\")","container_id":"x"}|',
      'tool_call|done|{"commands":["ls -l","pwd"],"timeout_ms":5}|',
      "command|done|a\n|below",
    ]);
    expect(folded.blocks[1]?.metadata.input).toEqual({ commands: ["ls -l", "pwd"], timeout_ms: 5 });
    expect(folded.faults).toEqual([]);
  });

  it("[O4] [O6] works without added events, ids or indexes", () => {
    const folded = run([
      { type: "response.output_text.delta", item_id: "m", content_index: 0, delta: "Hel" },
      { type: "response.output_text.delta", item_id: "m", content_index: 0, delta: "lo" },
      { type: "response.function_call_arguments.delta", item_id: "f", delta: '{"a"' },
      { type: "response.function_call_arguments.delta", item_id: "f", delta: ":1}" },
      {
        type: "response.output_item.done",
        item: { id: "f", type: "function_call", call_id: "c", name: "get", arguments: '{"a":1}' },
      },
      { type: "response.completed", response: {} },
    ]);
    expect(shown(folded)).toEqual(["text|done|Hello|", 'tool_call|running|{"a":1}|']);
    expect(folded.faults).toEqual([]);
  });

  it("[O6] ids that change from event to event", () => {
    const folded = run([
      created,
      added({ id: "x1", type: "message", content: [] }),
      event("output_text.delta", { item_id: "x2", content_index: 0, delta: "a" }),
      event("output_text.delta", { item_id: "x3", content_index: 0, delta: "b" }),
      done({ id: "x4", type: "message", content: [{ type: "output_text", text: "ab" }] }),
      completed([{ id: "x5", type: "message", content: [{ type: "output_text", text: "ab" }] }]),
    ]);
    expect(shown(folded)).toEqual(["text|done|ab|"]);
  });

  it("[O4] an item's initial input is not doubled", () => {
    const call = {
      id: "m",
      type: "mcp_call",
      server_label: "lab",
      name: "echo",
      arguments: '{"a":1}',
      output: "hi",
    };
    const streamed = run([
      created,
      added({ ...call, status: "in_progress" }),
      event("mcp_call_arguments.delta", { item_id: "m", delta: '{"a":1}' }),
      done({ ...call, status: "completed" }),
      completed(),
    ]);
    expect(shown(streamed)).toEqual(['tool_call|done|{"a":1}|', "tool_result|done|hi|below"]);
    const lost = run([created, added({ ...call, status: "in_progress" }), completed()]);
    expect(shown(lost)).toEqual(['tool_call|done|{"a":1}|']);
  });

  it("[O4] the whole text wins over deltas that were lost", () => {
    const folded = run([
      created,
      event("output_text.delta", { item_id: "m", content_index: 0, delta: "Hlo" }),
      event("content_part.done", {
        item_id: "m",
        content_index: 0,
        part: { type: "output_text", text: "Hello" },
      }),
      completed(),
    ]);
    expect(shown(folded)).toEqual(["text|done|Hello|"]);
  });

  it("[O4] the whole input wins over deltas that were lost", () => {
    const call = { id: "f", type: "function_call", call_id: "c", name: "get", arguments: '{"city":"Z"}' };
    const folded = run([
      created,
      added({ ...call, arguments: "" }),
      event("function_call_arguments.delta", { item_id: "f", delta: '{"ci":"Z"}' }),
      done(call),
      completed(),
    ]);
    // The streamed text stays unchanged; the input counts, and is sent back.
    expect(shown(folded)).toEqual(['tool_call|running|{"ci":"Z"}|']);
    expect(folded.blocks[0]?.metadata.input).toEqual({ city: "Z" });
  });

  it("[O4] a whole text that only its own event has counts, even if the stream is cut after it", () => {
    const said = run([
      created,
      event("output_text.delta", { content_index: 0, delta: "Hel" }),
      event("output_text.done", { content_index: 0, text: "Hello" }),
    ]);
    expect(shown(said)).toEqual(["text|error|Hello|"]);
    const thought = run([
      created,
      added({ type: "reasoning", id: "rs" }),
      event("reasoning_summary_text.done", { summary_index: 0, text: "One" }),
      event("reasoning_summary_text.delta", { summary_index: 1, delta: "Two" }),
      event("reasoning_summary_text.done", { summary_index: 1, text: "Two" }),
    ]);
    expect(shown(thought)).toEqual(["thinking|error|One\n\nTwo|"]);
  });

  it("[O4] a response that is streamed again from its beginning says nothing twice", () => {
    const events = [
      { ...(created as JsonObject), sequence_number: 0 },
      { ...(added({ type: "message", id: "m" }) as JsonObject), sequence_number: 1 },
      event("output_text.delta", { content_index: 0, delta: "Hi", sequence_number: 2 }),
      event("output_text.delta", { content_index: 0, delta: " you", sequence_number: 3 }),
    ];
    const folded = run([...events.slice(0, 3), ...events, completed()]);
    expect(shown(folded)).toEqual(["text|done|Hi you|"]);
    expect(folded.turns).toHaveLength(1);
  });

  it("[O6] events that name no item continue the last one", () => {
    const delta = (type: string, text: string) => ({ type: `response.${type}.delta`, delta: text });
    const spoken = run([
      created,
      delta("audio.transcript", "Hel"),
      delta("audio.transcript", "lo"),
      completed(),
    ]);
    expect(shown(spoken)).toEqual(["text|done|Hello|"]);
    const written = run([created, delta("output_text", "Hel"), delta("output_text", "lo"), completed()]);
    expect(shown(written)).toEqual(["text|done|Hello|"]);
  });

  it("[O1] sound without words shows", () => {
    const sound = { type: "response.audio.delta", delta: "AAAA" };
    expect(shown(run([created, sound, sound, completed()]))).toEqual(["text|done|[audio]|"]);
  });

  it.each<[string, readonly JsonObject[], string | undefined, string]>([
    ["whole", [], "Hello", "Hello"],
    ["after its pieces", [{ type: "response.audio.transcript.delta", delta: "Hello" }], "Hello", "Hello"],
    ["after a part of it", [{ type: "response.audio.transcript.delta", delta: "Hel" }], "Hello", "Hello"],
    ["without words", [{ type: "response.audio.delta", delta: "AAAA" }], undefined, "[audio]"],
  ])("[O1] [O4] a spoken part %s is shown once", (_, before, transcript, expected) => {
    const part = { type: "output_audio", data: "AAAA", ...(transcript === undefined ? {} : { transcript }) };
    const item = { type: "message", id: "m", role: "assistant", status: "completed", content: [part] };
    const done = { type: "response.output_item.done", output_index: 0, item };
    const added = { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } };
    const folded = run([created, added, ...before, done, completed([item])]);
    expect(shown(folded)).toEqual([`text|done|${expected}|`]);
    expect(folded.unknown).toEqual({});
  });

  it("[P19] an unknown item is one block with its last state, even if it is cut", () => {
    const item = (state: number): JsonObject => ({ type: "hologram", id: "h", state });
    const whole = run([created, added(item(1)), done(item(2)), completed([item(2)])]);
    expect(whole.blocks).toMatchObject([{ kind: "unknown", status: "done" }]);
    expect(JSON.parse(whole.blocks[0]?.text ?? "")).toEqual(item(2));
    const cut = run([created, added(item(1))]);
    expect(cut.blocks).toMatchObject([{ kind: "unknown", status: "error" }]);
    expect(cut.faults).toEqual([]);
  });

  it("[O3] the words of an MCP error may be parts", () => {
    const error = { type: "mcp_tool_execution_error", content: [{ type: "text", text: "Bad" }] };
    const call = { type: "mcp_call", id: "m", name: "t", server_label: "s", arguments: "{}" };
    const folded = run([created, done({ ...call, output: null, error }), completed()]);
    expect(shown(folded)).toEqual(["tool_call|error|{}|", "tool_result|error|Bad|below"]);
    expect(folded.blocks[0]?.metadata.error).toBe("Bad");
  });

  it("[O1] events after the end of their item are kept", () => {
    const folded = run([
      created,
      done({ id: "m", type: "message", content: [{ type: "output_text", text: "a" }] }),
      event("output_text.delta", { item_id: "m", content_index: 0, delta: "late" }),
      completed(),
    ]);
    expect(folded.unknown).toEqual({ "output_text.delta after its end": 1 });
    expect(folded.faults).toEqual([]);
  });

  it.each(["__proto__", "constructor", "toString"])(
    "[P19] an item or event of type %s is unknown",
    (type) => {
      const folded = run([created, event(type, {}), added({ type }), done({ type }), completed()]);
      expect(folded.unknown).toEqual({ [`response.${type}`]: 1, [`output_item/${type}`]: 1 });
      expect(folded.faults).toEqual([]);
    },
  );
});

/** The whole union of the published types, `response.` left off. */
const published = [
  "created queued in_progress output_item.added output_item.done content_part.added content_part.done",
  "output_text.delta output_text.done output_text.annotation.added refusal.delta refusal.done",
  "reasoning_summary_part.added reasoning_summary_part.done reasoning_summary_text.delta reasoning_summary_text.done",
  "reasoning_text.delta reasoning_text.done function_call_arguments.delta function_call_arguments.done",
  "custom_tool_call_input.delta custom_tool_call_input.done web_search_call.in_progress web_search_call.searching",
  "web_search_call.completed file_search_call.in_progress file_search_call.searching file_search_call.completed",
  "code_interpreter_call.in_progress code_interpreter_call.interpreting code_interpreter_call.completed",
  "code_interpreter_call_code.delta code_interpreter_call_code.done image_generation_call.in_progress",
  "image_generation_call.generating image_generation_call.partial_image image_generation_call.completed",
  "mcp_call.in_progress mcp_call.completed mcp_call.failed mcp_call_arguments.delta mcp_call_arguments.done",
  "mcp_list_tools.in_progress mcp_list_tools.completed mcp_list_tools.failed shell_call_command.added",
  "shell_call_command.delta shell_call_command.done shell_call_output_content.delta shell_call_output_content.done",
  "compaction.compacting audio.delta audio.done audio.transcript.delta audio.transcript.done",
  "completed failed incomplete",
].flatMap((row) => row.split(" "));

it.each(published)("[P10] response.%s is known", (name) => {
  const item = { id: "i", type: "message", content: [] };
  const folded = run([
    created,
    { type: `response.${name}`, output_index: 0, item_id: "i", item, delta: "x" },
    completed(),
  ]);
  expect(folded.unknown).toEqual({});
  expect(folded.faults).toEqual([]);
});

describe("ends", () => {
  const half = [created, event("output_text.delta", { item_id: "m", content_index: 0, delta: "Half" })];
  const error = { code: "server_error", message: "Broke" };

  it.each<[string, readonly Json[], readonly string[], JsonObject]>([
    [
      "failed",
      [...half, { type: "response.failed", response: { id: "resp_1", status: "failed", error } }],
      ["text|error|Half|", "error|error|Broke|"],
      { status: "error", reason: "failed", error: "Broke" },
    ],
    [
      "error, then failed",
      [
        ...half,
        { type: "error", ...error },
        { type: "response.failed", response: { id: "resp_1", status: "failed", error } },
      ],
      ["text|error|Half|", "error|error|Broke|"],
      { status: "error", reason: "failed" },
    ],
    [
      "error with a nested body",
      [...half, { type: "error", error }],
      ["text|error|Half|", "error|error|Broke|"],
      { error: "Broke" },
    ],
    [
      "an error body alone",
      [{ error: { message: "Bad key", code: "invalid_api_key" } }],
      ["error|error|Bad key|"],
      { status: "error" },
    ],
    [
      "incomplete",
      [
        ...half,
        {
          type: "response.incomplete",
          response: {
            id: "resp_1",
            status: "incomplete",
            incomplete_details: { reason: "max_output_tokens" },
          },
        },
      ],
      ["text|done|Half|"],
      { status: "done", reason: "truncated", stopReason: "max_output_tokens" },
    ],
    [
      "cancelled",
      [...half, { type: "response.cancelled", response: { id: "resp_1", status: "cancelled" } }],
      ["text|error|Half|"],
      { status: "error", reason: "cancelled" },
    ],
    ["cut", half, ["text|error|Half|"], { status: "error", reason: "interrupted" }],
  ])("[O5] %s", (_, events, expected, turn) => {
    const folded = run(events);
    expect(shown(folded)).toEqual(expected);
    expect(folded.turns).toHaveLength(1);
    expect(folded.turns[0]).toMatchObject(turn);
    expect(folded.faults).toEqual([]);
  });

  it("[O5] an error repeated after the failed response is shown once", () => {
    const error = { code: "server_error", message: "Broke" };
    const failed = { type: "response.failed", response: { id: "resp_1", status: "failed", error } };
    const folded = run([created, failed, { type: "error", ...error, param: null }]);
    expect(shown(folded)).toEqual(["error|error|Broke|"]);
    expect(folded.turns).toHaveLength(1);
  });

  it("[O5] a body that came before its response was over is no end", () => {
    const message = { type: "message", id: "m", content: [{ type: "output_text", text: "Hi" }] };
    const body = (status: string, output: readonly JsonObject[]): Json => ({
      id: "resp_1",
      object: "response",
      status,
      output,
    });
    const polled = run([body("queued", []), body("in_progress", []), body("completed", [message])]);
    expect(shown(polled)).toEqual(["text|done|Hi|"]);
    expect(polled.turns).toMatchObject([{ status: "done" }]);
    const left = run([body("in_progress", [message])]);
    expect(shown(left)).toEqual(["text|done|Hi|"]);
    expect(left.turns).toMatchObject([{ status: "error", reason: "interrupted" }]);
  });

  it("[O5] a call that was cut is never complete", () => {
    const call = {
      id: "f",
      type: "function_call",
      call_id: "c",
      name: "Write",
      arguments: '{"path":"a","content":"x',
    };
    const folded = run([
      created,
      added({ ...call, arguments: "" }),
      event("function_call_arguments.delta", { item_id: "f", delta: call.arguments }),
      done({ ...call, status: "incomplete" }),
      {
        type: "response.incomplete",
        response: { id: "resp_1", status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
      },
    ]);
    expect(folded.blocks[0]).toMatchObject({ status: "error", metadata: { reason: "truncated" } });
    expect(folded.blocks[0]?.metadata).not.toHaveProperty("input");
  });

  it("[A7] leaves calls to a caller that runs them, but ends remote ones", () => {
    const folded = run(
      [
        created,
        done({ id: "f", type: "function_call", call_id: "c", name: "get", arguments: "{}" }),
        done({ id: "w", type: "web_search_call", status: "completed", action: {} }, 1),
        completed(),
      ],
      openaiWith({ runsTools: true }),
    );
    expect(folded.blocks.map(({ status }) => status)).toEqual(["running", "done"]);
  });
});
