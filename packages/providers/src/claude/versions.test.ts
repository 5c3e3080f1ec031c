/** What versions between those that are recorded here print otherwise: each row was seen on a real one, which it names. */
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
  foldLines,
  init,
  only,
  opening,
  reply,
  say,
  system,
  used,
} from "../../../../test/claude-lines.ts";
import { normalize } from "../normalize.ts";
import { recognise } from "../recognise.ts";
import { providers } from "../registry.ts";

describe("lines", () => {
  it("[C3] blocks of one message under one uuid are all there (2.0.30)", () => {
    const uuid = { uuid: "u1" };
    const lines = [
      init(),
      say("m1", "a", uuid),
      answer("m1", [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } }], uuid),
      say("m1", "b", uuid),
      reply("t1", "x"),
    ];
    const expected = [
      'text model done "a"',
      'tool_call model done "{\\"command\\":\\"ls\\"}"',
      'text model done "b"',
      'command tool done "x"',
    ];
    expect(briefs([...lines, done()])).toEqual(expected);
    expect(briefs([...lines, ...lines.slice(1, 3), done()])).toEqual(expected);
  });

  const lost = [
    init(),
    opening("m1"),
    blockStart(0, { type: "text", text: "" }),
    delta(0, { type: "text_delta", text: "Half" }),
    blockStop(0),
    event({ type: "message_stop" }),
  ];

  it("[C5] a message that is stopped without a reason and retried is withdrawn (2.1.250)", () => {
    const again = [system("status"), system("api_retry", { attempt: 1 }), say("m2", "Whole"), done()];
    expect(briefs([...lost, ...again])).toEqual([
      'text model error(retracted) "Half"',
      'text system done retry "Retrying: the connection was lost"',
      'text model done "Whole"',
    ]);
  });

  it("[C5] and is shown if nothing retries", () => {
    expect(briefs([...lost, done()])).toEqual(['text model done "Half"']);
    expect(briefs(lost)).toEqual(['text model done "Half"']);
  });

  it.each([
    "API Error: 400 {}",
    "Invalid API key · Fix external API key",
    "Prompt is too long",
    "Credit balance is too low",
  ])("[C9] %s is an error though no field says so (2.0.30)", (text) => {
    const message = { id: "x", model: "<synthetic>", content: [{ type: "text", text }] };
    expect(briefs([init(), { type: "assistant", message }, done({ is_error: true, result: text })])).toEqual([
      `error system error(failed) ${JSON.stringify(text)}`,
    ]);
  });

  it.each([
    ["2.1.126", { num_turns: 0 }],
    ["2.1.80", { num_turns: 17, stop_reason: null, usage: { input_tokens: 0, output_tokens: 0 } }],
  ])("[C9] a result without an answer is a command's word (%s)", (_, facts) => {
    expect(briefs([init(), done({ result: "Unknown command: /x", ...facts })])).toEqual([
      'text system done local_command "Unknown command: /x"',
    ]);
    const answered = { num_turns: 1, usage: { input_tokens: 5, output_tokens: 1 } };
    expect(briefs([init(), done({ result: "Yes", ...answered })])).toEqual(['text model done "Yes"']);
  });
});

describe("turns", () => {
  const origin = { origin: { kind: "task-notification" } };
  const twice = [init(), say("m1", "Launched"), init(), say("m2", "Reported")];

  it.each([
    ["2.1.126", done({ result: "Reported", ...origin })],
    ["2.1.80", done({ result: "Reported" })],
    ["without words", done({ ...origin })],
  ])("[C27] one result for two turns ends both (%s)", (_, result) => {
    expect(foldLines([...twice, result]).turns.map(({ status }) => status)).toEqual(["done", "done"]);
  });

  it("[C27] results that come in order end a turn each (2.1.200)", () => {
    const results = [
      done({ result: "Launched", duration_ms: 1 }),
      done({ result: "Reported", duration_ms: 2 }),
    ];
    const { turns } = foldLines([...twice, ...results]);
    expect(turns).toMatchObject([
      { status: "done", durationMs: 1 },
      { status: "done", durationMs: 2 },
    ]);
    expect(foldLines([...twice, ...results.slice(0, 1)]).turns.map(({ status }) => status)).toEqual([
      "done",
      "error",
    ]);
  });

  const counted = (usage: object, more: object = {}) =>
    foldLines([init(), say("m1", "a"), say("m2", "b"), done({ usage, ...more })]).turns[0]?.usage;

  it("[C30] a result that counts the last message only has what all have used (1.0.100)", () => {
    expect(counted({ input_tokens: 10, output_tokens: 2 })).toMatchObject({ input: 20, output: 4 });
    expect(counted({ input_tokens: 15, output_tokens: 3 })).toMatchObject({ input: 15, output: 3 });
  });

  it("[C30] and so has one that counts no input by model (2.0.30)", () => {
    const modelUsage = { m: { inputTokens: 0, outputTokens: 5, costUSD: 1 } };
    expect(counted({ input_tokens: 20, output_tokens: 4 }, { modelUsage })).toMatchObject({
      input: 20,
      output: 5,
    });
  });
});

describe("results without a payload", () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AA" } };
  const cells =
    '<cell id="c1"><cell_type>markdown</cell_type># Title</cell id="c1">\n<cell id="c2">print(1)</cell id="c2">\n\n1\n';

  it.each([
    ["Read", { file_path: "/w/a.ipynb" }],
    ["NotebookRead", { notebook_path: "/w/a.ipynb" }],
  ])("[C18] the cells of a notebook are shown beside its pictures: %s (2.0.30, 1.0.60)", (tool, input) => {
    const block = only(used(tool, input, [{ type: "text", text: cells }, image]), "code");
    expect(block.text).toBe("# %% [markdown] c1\n# Title\n\n# %% [code] c2\nprint(1)\n# output:\n# 1\n# ");
    expect(block.metadata).toMatchObject({ filename: "/w/a.ipynb", images: [{ data: "AA" }] });
  });

  it("[C18] numbered cells (0.2.126), and a list of them as a payload (1.0.60)", () => {
    const numbered = "<cell 0><cell_type>markdown</cell_type>a</cell 0>\n<cell 1>b</cell 1>";
    const input = { notebook_path: "/w/a.ipynb" };
    expect(only(used("NotebookRead", input, numbered), "code").text).toBe(
      "# %% [markdown] 0\na\n\n# %% [code] 1\nb",
    );
    const payload = [{ cellType: "code", source: "b", cell_id: "c" }];
    expect(only(used("NotebookRead", input, numbered, payload), "code").text).toBe("# %% [code] c\nb");
  });

  it("[C18] an empty file is empty code", () => {
    const words = "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>";
    const block = only(used("Read", { file_path: "/w/a" }, words), "code");
    expect(block).toMatchObject({ text: "", metadata: { filename: "/w/a" } });
  });

  it("[C19] a command that failed before 2.0.30 shows only its output", () => {
    const failed = (version: string) => [
      init({ claude_code_version: version }),
      ...used("Bash", { command: "x" }, "out", "Error: out", true),
    ];
    expect(only(failed("2.0.27"), "command")).toMatchObject({ text: "out", metadata: { exitCode: null } });
    expect(foldLines(failed("2.0.30")).blocks.at(-1)?.kind).toBe("tool_result");
  });

  it("[C14] [C20] a call that a hook has blocked is denied, and has not run", () => {
    const words = "PreToolUse:Bash hook error: [check.sh]: not here";
    for (const payload of [undefined, `Error: ${words}`]) {
      const [asked, result] = foldLines(used("Bash", { command: "x" }, words, payload, true)).blocks;
      expect(asked).toMatchObject({ status: "error", metadata: { reason: "denied" } });
      expect(result).toMatchObject({ kind: "tool_result", text: words });
    }
  });

  it.each<[string, object, string, object]>([
    ["KillShell", {}, '{"message":"Killed x","shell_id":"x"}', { text: "Killed x" }],
    ["ReadMcpResourceTool", {}, '{"contents":[{"uri":"a:b","text":"Milk"}]}', { text: "Milk" }],
  ])("[C24] %s states it as JSON", (tool, input, content, expected) => {
    expect(only(used(tool, { ...input }, content), "tool_result")).toMatchObject(expected);
  });

  it.each<[string, string, string]>([
    ["Glob", "/w/a.js\n/w/b.js", "2 files"],
    ["Glob", "No files found", "No files found"],
    ["ListMcpResourcesTool", '[{"uri":"a:b"}]', "1 resource"],
    ["Skill", "Launching skill: greet", "greet"],
    [
      "WebSearch",
      'Web search results\n\nLinks: [{"title":"T","url":"https://t.example"}]\n\nYes',
      "1 result",
    ],
  ])("[C26] the row of %s, %j", (tool, content, row) => {
    expect(only(used(tool, {}, content), "tool_call").metadata.shortResult).toBe(row);
  });
});

it("[C43] bare messages over several lines, with the bill at their end (0.2.74)", () => {
  const messages = [
    {
      ...{
        id: "m1",
        type: "message",
        role: "assistant",
        model: "m",
        usage: { input_tokens: 3, output_tokens: 1 },
      },
      content: [
        { type: "text", text: "Look" },
        { type: "tool_use", id: "t1", name: "View", input: { file_path: "/w/a.js" } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "     1\tx" }] },
    {
      ...{ id: "m2", type: "message", role: "assistant", model: "m" },
      content: [{ type: "text", text: "Seen" }],
    },
    { role: "system", cost_usd: 0.5, duration_ms: 7, duration_api_ms: 5 },
  ];
  const text = messages.map((message) => `${JSON.stringify(message, null, 2)}\n`).join("");
  expect(recognise(text)).toEqual({ provider: "claude", source: "stream" });
  const provider = providers.get("claude");
  if (provider === undefined) throw new Error("no claude");
  const { blocks, turns, unknown, faults } = normalize(provider, [new TextEncoder().encode(text)]);
  expect({ unknown, faults }).toEqual({ unknown: {}, faults: [] });
  expect(blocks.map(({ kind, status, text: said }) => `${kind} ${status} ${said}`)).toEqual([
    "text done Look",
    'tool_call done {"file_path":"/w/a.js"}',
    "code done x",
    "text done Seen",
  ]);
  expect(turns).toMatchObject([
    { status: "done", costUsd: 0.5, durationMs: 7, usage: { input: 3, output: 1 } },
  ]);
});

it("[C11] a tool of 0.2 is shown as the one that replaced it", () => {
  expect(
    only([init(), call("t1", "View", { file_path: "/w/a" }), reply("t1", "     1\tx")], "code").text,
  ).toBe("x");
});
