/** Messages: joined, withdrawn, cut. */
import type { Json, JsonObject } from "@blockyard/kernel";
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
  type Line,
  only,
  opening,
  reply,
  say,
  system,
} from "../../../../test/claude-lines.ts";
import { bytesOf, streams } from "../../../../test/recordings.ts";
import { fold } from "../fold.ts";
import { claudeAdapter } from "./adapter.ts";

const text = (index: number, part: string) => delta(index, { type: "text_delta", text: part });
const emptyText = { type: "text", text: "" };

function linesOf(name: string): JsonObject[] {
  const recording = streams.find((one) => one.name === name);
  if (recording === undefined) throw new Error(`no recording ${name}`);
  const whole = new TextDecoder().decode(bytesOf(recording));
  return whole
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as JsonObject);
}

function foldJson(lines: readonly Json[]) {
  return fold(eventsOf(lines as readonly JsonObject[]));
}

describe("blocks that come twice", () => {
  const partial = streams.filter(
    ({ name, provider }) =>
      provider === "claude" &&
      name.endsWith(".jsonl") &&
      !/older.*(sigint|interrupt|2\.0\.[13]0.*drop)|documented\/000/.test(name),
  );

  it.each(partial.map(({ name }) => name))(
    "[C1] %s gives the same blocks without its stream events",
    (name) => {
      const lines = linesOf(name);
      const quiet = lines.filter((line) => line.type !== "stream_event");
      // Only the deltas know what was withdrawn; and a sub-agent may begin while the next call still streams.
      const comparable = (list: readonly Json[]) =>
        foldJson(list)
          .blocks.filter((block) => block.metadata.reason !== "retracted")
          .sort((a, b) => (a.parent ?? "").localeCompare(b.parent ?? ""));
      expect(comparable(quiet)).toEqual(comparable(lines));
    },
  );

  it("[C1] the line is the authority on text and input", () => {
    const lines = [
      opening("m1"),
      blockStart(0, emptyText),
      text(0, "Helo"),
      say("m1", "Hello"),
      blockStop(0),
      blockStart(1, { type: "tool_use", id: "t1", name: "Edit", input: {} }),
      delta(1, { type: "input_json_delta", partial_json: '{"file_path":"/w/a"}' }),
      answer("m1", [
        { type: "tool_use", id: "t1", name: "Edit", input: { replace_all: false, file_path: "/w/a" } },
      ]),
      blockStop(1),
      event({ type: "message_stop" }),
      reply("t1", "ok"),
    ];
    const [said, edit] = foldLines(lines).blocks;
    expect(said?.text).toBe("Hello");
    expect(edit?.text).toBe('{"replace_all":false,"file_path":"/w/a"}');
    expect(edit?.metadata.input).toEqual({ replace_all: false, file_path: "/w/a" });
  });

  it("[C1] lines that come again with their uuid add nothing", () => {
    let number = 0;
    const named = (line: object) => ({ ...line, uuid: `u${number++}` }) as unknown as JsonObject;
    const lines = [
      init(),
      opening("m1"),
      blockStart(0, emptyText),
      text(0, "Hello"),
      say("m1", "Hello"),
      blockStop(0),
      event({ type: "message_stop" }),
      call("t1", "Bash", { command: "ls" }),
      reply("t1", "out"),
      done({ total_cost_usd: 0.5 }),
    ].map(named);
    const once = foldJson(lines);
    expect(once.turns).toMatchObject([{ costUsd: 0.5 }]);
    const twice = foldJson([...lines, ...lines]);
    expect({ ...twice, stages: [] }).toEqual({ ...once, stages: [] });
    const pairs = foldJson(lines.flatMap((line) => (line.type === "stream_event" ? [line] : [line, line])));
    expect({ ...pairs, stages: [] }).toEqual({ ...once, stages: [] });
  });

  it.each<[string, (index: number) => Json | undefined]>([
    ["as text", (index) => String(index)],
    ["left out", () => undefined],
  ])("[C2] indexes may be %s", (_, named) => {
    const at = (line: ReturnType<typeof event>, index: number) => ({
      ...line,
      event: { ...(line.event as JsonObject), index: named(index) },
    });
    const block = (index: number, said: string) => [
      at(blockStart(index, emptyText), index),
      at(text(index, said), index),
      say("m1", said),
      at(blockStop(index), index),
    ];
    const lines = [opening("m1"), ...block(0, "One"), ...block(1, "Two"), event({ type: "message_stop" })];
    expect(foldLines(lines).blocks.map((one) => one.text)).toEqual(["One", "Two"]);
  });

  it("[C1] [C10] of a block that nobody knows the line has the last word too", () => {
    const lines = [
      opening("m1"),
      blockStart(0, { type: "hologram", text: "" }),
      answer("m1", [{ type: "hologram", text: "whole" }]),
      blockStop(0),
      event({ type: "message_stop" }),
    ];
    const folded = foldLines(lines);
    expect(folded.unknown).toEqual({ "content/hologram": 1 });
    expect(folded.blocks[0]?.text).toContain("whole");
    const cut = foldLines(lines.slice(0, 2));
    expect(cut.blocks).toMatchObject([{ kind: "unknown", status: "error" }]);
    expect(cut.faults).toEqual([]);
  });

  it("[C10] citations of a block that nobody knows do not stand in its way", () => {
    const citation = { type: "web_search_result_location", url: "u", cited_text: "c" };
    const lines = [
      opening("m1"),
      blockStart(0, { type: "hologram", citations: [citation] }),
      delta(0, { type: "citations_delta", citation }),
      blockStop(0),
      event({ type: "message_stop" }),
    ];
    expect(foldLines(lines).blocks).toMatchObject([{ kind: "unknown", status: "done" }]);
    expect(foldLines(lines).blocks[0]?.metadata).not.toHaveProperty("citations");
  });

  it("[C10] an unknown event does not take the line of an unknown block", () => {
    const folded = foldLines([event({ type: "new_event" }), answer("m1", [{ type: "new_block", a: 1 }])]);
    expect(folded.unknown).toEqual({ "stream_event/new_event": 1, "content/new_block": 1 });
    const streamed = foldLines([
      opening("m1"),
      event({ type: "new_event" }),
      answer("m1", [{ type: "new_block", a: 1 }]),
    ]);
    expect(streamed.unknown).toEqual({ "stream_event/new_event": 1, "content/new_block": 1 });
  });

  it("[C1] a compaction inside a message is said once, by its delta and its line", () => {
    const lines = [
      opening("m1"),
      blockStart(0, { type: "compaction", content: null }),
      delta(0, { type: "compaction_delta", content: "Summary" }),
      blockStop(0),
      answer("m1", [{ type: "compaction", content: "Summary" }]),
      event({ type: "message_stop" }),
    ];
    expect(briefs(lines)).toEqual(['text system done compaction "Summary"']);
    expect(briefs(lines.filter((line) => line.type !== "assistant"))).toEqual([
      'text system done compaction "Summary"',
    ]);
  });

  it("[C2] an empty block before the open one does not take its line", () => {
    const lines = [
      opening("m1"),
      blockStart(0, emptyText),
      blockStop(0),
      blockStart(1, emptyText),
      text(1, "Second."),
      say("m1", "Second."),
      blockStop(1),
      event({ type: "message_stop" }),
    ];
    expect(briefs(lines)).toEqual(['text model done "Second."']);
  });

  it("[C2] a line after the stop is still the same block", () => {
    const lines = [
      opening("m1"),
      ...[0, 1].flatMap((i) => [blockStart(i, emptyText), text(i, `part ${i}`), blockStop(i)]),
      say("m1", "part 1"),
      say("m1", "part 0"),
      event({ type: "message_stop" }),
    ];
    expect(briefs(lines)).toEqual(['text model done "part 0"', 'text model done "part 1"']);
  });

  it("[C3] lines of one message count on, a line may hold several blocks, a new id begins anew", () => {
    const lines = [
      say("m1", "one"),
      answer("m1", [
        { type: "text", text: "two" },
        { type: "text", text: "three" },
      ]),
      say("m2", "four"),
    ];
    const places = foldLines(lines).blocks.map(({ metadata }) => [metadata.messageId, metadata.index]);
    expect(places).toEqual([
      ["m1", 0],
      ["m1", 1],
      ["m1", 2],
      ["m2", 0],
    ]);
  });

  it("[C3] without api_message_id the message being streamed is meant, with it the named one", () => {
    const lines = [
      opening("m1"),
      blockStart(0, emptyText),
      text(0, "main"),
      event({ type: "content_block_start", index: 0, content_block: emptyText }, { api_message_id: "m2" }),
      event(
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "other" } },
        { api_message_id: "m2" },
      ),
      text(0, " line"),
      say("m1", "main line"),
      say("m2", "other"),
    ];
    expect(briefs(lines)).toEqual(['text model done "main line"', 'text model done "other"']);
  });

  it("[C4] an empty text is no block, white space is one", () => {
    expect(briefs([say("m1", ""), say("m1", " \n")])).toEqual(['text model done " \\n"']);
    expect(foldJson(linesOf("claude/empty-and-whitespace.jsonl")).blocks.map((block) => block.text)).toEqual([
      "[Your previous response had no visible output. Please continue and produce a user-visible response.]",
      "Done.",
    ]);
  });
});

describe("withdrawn, aborted, cut", () => {
  it("[C5] blocks from the index on are retracted, confirmed ones stay", () => {
    const lines = [
      opening("m1"),
      blockStart(0, emptyText),
      text(0, "kept"),
      say("m1", "kept"),
      blockStop(0),
      blockStart(1, emptyText),
      text(1, "gone"),
      blockStop(1),
      blockStart(2, { type: "tool_use", id: "t1", name: "Bash", input: {} }),
      delta(2, { type: "input_json_delta", partial_json: '{"command":"ls"}' }),
      blockStop(2),
      event({ type: "message_stop" }, { abandoned_blocks: { api_message_id: "m1", from_block_index: 1 } }),
      say("m2", "again"),
    ];
    expect(briefs(lines)).toEqual([
      'text model done "kept"',
      'text model error(retracted) "gone"',
      'tool_call model error(retracted) "{\\"command\\":\\"ls\\"}"',
      'text model done "again"',
    ]);
    expect(only(lines, "tool_call").metadata.input).toBeUndefined();
  });

  it("[C6] SIGINT while text streams, as recorded", () => {
    const { blocks, turns } = foldJson(linesOf("claude/sigint-streaming.jsonl"));
    expect(
      blocks.map((block) => [block.kind, block.status, block.metadata.reason ?? block.metadata.notice]),
    ).toEqual([
      ["text", "error", "interrupted"],
      ["text", "done", "interrupted"],
    ]);
    expect(turns.map((turn) => [turn.status, turn.reason])).toEqual([["error", "interrupted"]]);
  });

  it.each([
    ["inside the input", '{"command":"l'],
    ["with an input that would parse", '{"command":"ls"}'],
  ])("[C7] a call that is cut %s has no input", (_, partial) => {
    const lines = [
      opening("m1"),
      blockStart(0, { type: "tool_use", id: "t1", name: "Bash", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: partial }),
    ];
    const block = only(lines, "tool_call");
    expect([block.status, block.metadata.reason, block.metadata.success, block.text]).toEqual([
      "error",
      "interrupted",
      false,
      partial,
    ]);
    expect(block.metadata.input).toBeUndefined();
  });

  it("[C7] an input cut by max_tokens is truncated", () => {
    const lines = [
      opening("m1"),
      blockStart(0, { type: "tool_use", id: "t1", name: "Write", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: '{"content":"half' }),
      blockStop(0),
      event({ type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 9 } }),
      event({ type: "message_stop" }),
    ];
    expect(only(lines, "tool_call").metadata).toMatchObject({ reason: "truncated", success: false });
  });

  it("[C7] a new message over an open one closes it", () => {
    const lines = [opening("m1"), blockStart(0, emptyText), text(0, "half"), opening("m2"), say("m2", "new")];
    expect(briefs(lines)).toEqual(['text model error(interrupted) "half"', 'text model done "new"']);
  });

  it.each([
    ["a sign of life", { type: "tool_progress", tool_use_id: "t-heartbeat-0", parent_tool_use_id: "t" }],
    ["another message", say("m2", "Other.")],
  ])("[C7] [A8] %s between the pieces of a second text ends neither text", (_, between) => {
    const lines = [
      opening("m1"),
      blockStart(0, emptyText),
      text(0, "First. "),
      say("m1", "First. "),
      event({ type: "content_block_stop", index: 0 }),
      blockStart(1, emptyText),
      text(1, "Sec"),
      between,
    ];
    const shown = (list: Line[]) => briefs(list).filter((one) => !one.includes("Other."));
    expect(shown(lines)).toEqual(['text model error(interrupted) "First. Sec"']);
    expect(shown([...lines, text(1, "ond."), say("m1", "Second.")])).toEqual([
      'text model done "First. "',
      'text model done "Second."',
    ]);
  });

  it("[C7] children end before their parents", () => {
    const lines = [
      call("agent", "Agent", { description: "d", prompt: "p" }),
      call("inner", "Bash", { command: "ls" }, { parent_tool_use_id: "agent" }),
    ];
    const ends = eventsOf(lines).flatMap((one) => (one.type === "block-end" ? [one.key] : []));
    expect(ends).toEqual(["run/c:inner", "run/c:agent"]);
  });
});

describe("thinking", () => {
  const thinking = (extra: JsonObject = {}) =>
    answer("m1", [{ type: "thinking", thinking: "Hm.", signature: "S+/=", ...extra }], {
      thinking_duration_ms: 5,
    });

  it("[C8] signature, estimate and duration, with deltas", () => {
    const lines = [
      opening("m1"),
      blockStart(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "Hm." }),
      system("thinking_tokens", { estimated_tokens: 48 }),
      system("thinking_tokens", { estimated_tokens: 64 }),
      delta(0, { type: "signature_delta", signature: "S+/=" }),
      thinking(),
      blockStop(0),
    ];
    expect(only(lines, "thinking")).toMatchObject({
      text: "Hm.",
      metadata: { signature: "S+/=", estimatedTokens: 64, durationMs: 5 },
    });
  });

  it("[C8] the estimate that came before a line without deltas", () => {
    expect(
      only([system("thinking_tokens", { estimated_tokens: 7 }), thinking()], "thinking").metadata,
    ).toMatchObject({
      estimatedTokens: 7,
    });
  });

  it("[C8] redacted and empty thinking are blocks", () => {
    const lines = [
      answer("m1", [{ type: "redacted_thinking", data: "ZA==" }]),
      answer("m1", [{ type: "thinking", thinking: "", signature: "x" }]),
    ];
    const { blocks } = foldLines(lines);
    expect(
      blocks.map(({ kind, metadata }) => [kind, metadata.redacted, metadata.opaque, metadata.signature]),
    ).toEqual([
      ["thinking", true, "ZA==", undefined],
      ["thinking", undefined, undefined, "x"],
    ]);
  });
});

describe("what is not the model's", () => {
  it("[C9] an API failure is an error block with its category", () => {
    const line = {
      type: "assistant",
      message: { id: "u", model: "<synthetic>", content: [{ type: "text", text: "API Error: 529" }] },
      error: "overloaded",
      is_api_error_message: true,
      api_error_status: 529,
    };
    expect(only([line], "error")).toMatchObject({
      text: "API Error: 529",
      role: "system",
      status: "error",
      metadata: { code: "overloaded", details: { status: 529 } },
    });
  });

  it("[C9] the output of a slash command is a notice", () => {
    const line = {
      type: "assistant",
      message: { id: "u", model: "<synthetic>", content: [{ type: "text", text: "Tokens: 1" }] },
      local_command_source: "<local-command-stdout>Tokens: 1</local-command-stdout>",
    };
    expect(briefs([line])).toEqual(['text system done local_command "Tokens: 1"']);
  });

  it("[C32] what a compaction keeps of an earlier turn, such as the output of a slash command, makes no second block", () => {
    const boundary = system("compact_boundary", {
      uuid: "b",
      compact_metadata: { trigger: "manual", preserved_messages: { uuids: ["k"], all_uuids: ["p", "k"] } },
    });
    const output = (uuid: string, text: string) => ({
      ...{ type: "assistant", uuid, local_command_source: text },
      message: { id: `printed-${uuid}`, model: "<synthetic>", content: [{ type: "text", text }] },
    });
    const lines = [
      boundary,
      output("k", "Tokens: 1"),
      output("n", "Compacted"),
      say("m", "On", { uuid: "a" }),
    ];
    expect(briefs(lines)).toEqual([
      'text system done compaction "Conversation compacted (manual)"',
      'text system done local_command "Compacted"',
      'text model done "On"',
    ]);
  });
});

describe("what nobody knows", () => {
  it.each([
    [{ type: "new_thing", uuid: "u" }, "new_thing"],
    [{ type: "system", subtype: "new_thing" }, "system/new_thing"],
    [event({ type: "new_event" }), "stream_event/new_event"],
    [delta(0, { type: "new_delta" }), "stream_event/delta/new_delta"],
    [answer("m1", [{ type: "new_block", a: 1 }]), "content/new_block"],
    [{ type: "user", message: { content: [{ type: "new_part" }] } }, "user/new_part"],
    [
      { type: "control_request", request_id: "r", request: { subtype: "new_request" } },
      "control_request/new_request",
    ],
  ])("[C10] %j is unknown", (line, type) => {
    const { unknown, blocks } = foldLines([line]);
    expect(unknown).toEqual({ [type]: 1 });
    expect(blocks[0]?.text).toContain("new_");
  });

  it.each([[null], [7], ["text"], [true], [[]], [{}], [[null, [7]]]])("[C10] %j does no harm", (value) => {
    const [state, events] = claudeAdapter.step(claudeAdapter.start("run"), value as Json);
    expect(fold([...events, ...claudeAdapter.end(state)]).faults).toEqual([]);
  });

  it("[C10] a delta without its start is still text, a result without its call still a result", () => {
    expect(briefs([text(3, "lost"), blockStop(3), event({ type: "message_stop" })])).toEqual([
      'text model done "lost"',
    ]);
    expect(briefs([reply("nobody", "late")])).toEqual(['tool_result tool done "late"']);
  });

  it("[C10] an array of lines is its lines", () => {
    const [, events] = claudeAdapter.step(claudeAdapter.start("run"), [
      init(),
      say("m1", "Hi"),
      done(),
    ] as Json);
    expect(fold(events).blocks.map((block) => block.text)).toEqual(["Hi"]);
  });

  it("[C10] keys of different things never meet", () => {
    const lines = [
      say("t1", "x"),
      call("t1", "Bash", { command: "t1#0" }),
      reply("t1", "out"),
      reply("t1", "again"),
    ];
    expect(foldLines(lines).blocks).toHaveLength(4);
  });
});
