/** Shapes that were published for the stream and that no recorded version writes; goldens: fixtures/claude-documented. */
import { describe, expect, it } from "vitest";
import {
  blockStart,
  blockStop,
  briefs,
  call,
  delta,
  done,
  eventsOf,
  foldLines,
  init,
  only,
  opening,
  reply,
  say,
  used,
} from "../../../../test/claude-lines.ts";

describe("exit codes", () => {
  it.each([
    [{ stdout: "no", stderr: "why", exitCode: 3 }, false, 3, "error", "exit 3"],
    [{ stdout: "no", stderr: "", exit_code: 3 }, false, 3, "error", "exit 3"],
    [{ stdout: "no", stderr: "", exitCode: 1 }, true, 1, "error", "exit 1"],
    [{ stdout: "ok", stderr: "", exitCode: 0 }, false, 0, "done", "ok"],
    [{ stdout: "", exitCode: 1, returnCodeInterpretation: "No match" }, false, 1, "done", "No match"],
    [{ stdout: "ok", stderr: "", exitCode: "3" }, false, 0, "done", "ok"],
  ])("[C19] %j", (payload, isError, exitCode, status, short) => {
    const lines = used("Bash", { command: "x" }, "said", payload, isError);
    expect(only(lines, "command")).toMatchObject({ status, metadata: { exitCode } });
    expect(only(lines, "tool_call")).toMatchObject({ status, metadata: { shortResult: short } });
  });
});

describe("results among the content blocks of an answer", () => {
  const streamed = [
    opening("m"),
    blockStart(0, { type: "tool_use", id: "t", name: "Bash", input: { command: "ls" } }),
    blockStop(0),
  ];
  const expected = ['tool_call model done "{\\"command\\":\\"ls\\"}"', 'command tool done "a\\nb"'];

  it("[C43] whole, and repeated by a user line", () => {
    const lines = [
      ...streamed,
      blockStart(1, { type: "tool_result", tool_use_id: "t", content: "a\nb" }),
      blockStop(1),
      reply("t", "a\nb"),
    ];
    expect(briefs(lines)).toEqual(expected);
  });

  it("[C43] with its text as deltas, also where its stop is lost", () => {
    const start = blockStart(1, { type: "tool_result", tool_use_id: "t" });
    const text = ["a\n", "b"].map((part) => delta(1, { type: "text_delta", text: part }));
    expect(briefs([...streamed, start, ...text, blockStop(1)])).toEqual(expected);
    const stop = { type: "stream_event", event: { type: "message_stop" } };
    expect(briefs([...streamed, start, ...text, stop])).toEqual(expected);
    expect(eventsOf([...streamed, start, ...text]).filter(({ type }) => type === "block-start")).toHaveLength(
      1,
    );
  });

  it("[C43] a user line that says something else is another result", () => {
    const result = blockStart(1, { type: "tool_result", tool_use_id: "t", content: "a\nb" });
    expect(briefs([...streamed, result, reply("t", "c")])).toHaveLength(3);
  });
});

describe("message lines", () => {
  const message = (content: unknown, extra: object = {}) => ({
    type: "message",
    role: "assistant",
    content,
    ...extra,
  });
  const hello = [{ type: "text", text: "hello" }];

  it("[C43] are whole answers and prompts", () => {
    const lines = [
      message("hi", { role: "user" }),
      message(hello),
      message("again"),
      { type: "message", message: message(hello) },
    ];
    expect(briefs(lines)).toEqual([
      'text user done "hi"',
      'text model done "hello"',
      'text model done "again"',
      'text model done "hello"',
    ]);
  });

  it.each([
    ["by its id", { id: "m" }],
    ["without an id", {}],
  ])("[C43] add nothing to what was streamed or reported before, %s", (_, extra) => {
    const text = delta(0, { type: "text_delta", text: "hello" });
    const events = [opening("m"), blockStart(0, { type: "text", text: "" }), text, blockStop(0)];
    expect(briefs([...events, message(hello, extra)])).toEqual(['text model done "hello"']);
    expect(briefs([say("m", "hello"), message(hello, extra)])).toEqual(['text model done "hello"']);
    const more = [...hello, { type: "text", text: "and more" }];
    expect(briefs([say("m", "hello"), message(more, extra)])).toHaveLength(2);
  });
});

describe("results of a turn", () => {
  it("[C30] `cost_usd` is the turn's own, and missing values come from the messages", () => {
    const result = { total_cost_usd: undefined, cost_usd: 0.5, num_turns: 2, duration_api_ms: 7 };
    const { turns } = foldLines([
      init(),
      say("a", "x"),
      say("b", "y"),
      done(result),
      init(),
      say("c", "z"),
      done(result),
    ]);
    expect(turns).toMatchObject([
      {
        costUsd: 0.5,
        usage: { input: 20, output: 4 },
        models: ["m"],
        native: { num_turns: 2, duration_api_ms: 7 },
      },
      { costUsd: 0.5, usage: { input: 10, output: 2 } },
    ]);
  });

  it("[C30] a turn that is cut has used what its messages did; a stated usage counts alone", () => {
    expect(foldLines([init(), say("a", "x")]).turns).toMatchObject([
      { status: "error", usage: { input: 10 } },
    ]);
    const stated = done({ usage: { input_tokens: 7, output_tokens: 1 } });
    expect(foldLines([init(), say("a", "x"), stated]).turns).toMatchObject([
      { usage: { input: 7, output: 1 } },
    ]);
  });

  it("[C31] a sub-agent's messages count for the turn that they belong to", () => {
    const agent = call("t", "Agent", { prompt: "p" });
    const inner = say("i", "x", { parent_tool_use_id: "t" });
    expect(foldLines([init(), agent, inner, done()]).turns).toMatchObject([{ usage: { input: 20 } }]);
  });
});

it("[C43] citations in the published shape", () => {
  const data = { url: "https://e.example/a", title: "A", snippet: "said there" };
  const cited = { type: "text", text: "x", citations: [{ type: "web_search", data }] };
  const line = { ...say("m", ""), message: { id: "m", content: [cited] } };
  expect(only([line], "text").metadata.citations).toMatchObject([data]);
});
