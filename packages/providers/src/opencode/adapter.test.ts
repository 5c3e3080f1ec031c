/** The adapter of opencode, event by event. */
import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { type Folded, type FoldedBlock, fold } from "../fold.ts";
import { opencodeAdapter } from "./adapter.ts";
import { numberedLines } from "./outcome.ts";

function run(...lines: readonly Json[]): Folded {
  const state = opencodeAdapter.start("run");
  const events: BlockEvent[] = lines.flatMap((line) => [...opencodeAdapter.step(state, line)[1]]);
  const folded = fold([...events, ...opencodeAdapter.end(state)]);
  expect(folded.faults).toEqual([]);
  return folded;
}

let time = 1000;
const line = (type: string, part: JsonObject, more: JsonObject = {}): Json => ({
  type,
  timestamp: time++,
  sessionID: "ses_1",
  part,
  ...more,
});
const step = line("step_start", { id: "p0", type: "step-start" });
const finish = (reason: string, tokens: JsonObject = {}, cost = 0.01, id = `f${time}`): Json =>
  line("step_finish", { id, messageID: `m-${id}`, reason, tokens, cost });

function tool(name: string, state: JsonObject, id = `c${time}`): Json {
  return line("tool_use", {
    id: `p-${id}`,
    callID: id,
    tool: name,
    messageID: "m1",
    state: { status: "completed", input: {}, output: "", metadata: {}, ...state },
  });
}

function result(...lines: readonly Json[]): FoldedBlock {
  return run(step, ...lines).blocks.find((block) => block.role === "tool") as FoldedBlock;
}

it("[X40] text and reasoning are whole blocks, with their signatures", () => {
  const reasoning = line("reasoning", {
    id: "a",
    messageID: "m",
    text: "Hm.",
    metadata: { anthropic: { signature: "s+/=" } },
  });
  const text = line("text", { id: "b", messageID: "m", text: "Hello ", time: { start: 5, end: 9 } });
  const folded = run(step, reasoning, text, text, finish("stop"));
  expect(folded.blocks.map(({ kind, text: said, metadata }) => [kind, said, metadata])).toEqual([
    ["thinking", "Hm.", { messageId: "m", signature: "s+/=" }],
    ["text", "Hello ", { messageId: "m", durationMs: 4 }],
  ]);
  expect(folded.sessions).toEqual([{ provider: "opencode", sessionId: "ses_1" }]);
});

it.each([
  [{ exit: 0 }, "done", { exitCode: 0 }, "out"],
  [{ exit: 3 }, "error", { exitCode: 3, isError: true }, "exit 3"],
  [{ exit: null }, "done", { exitCode: null }, "out"],
  [{}, "done", {}, "out"],
])("[X41] bash with %j", (metadata, status, expected, row) => {
  const folded = run(
    step,
    tool("bash", { input: { command: "ls", description: "List" }, output: "out\n", metadata }),
  );
  const [call, command] = folded.blocks;
  expect(command).toMatchObject({
    kind: "command",
    text: "out\n",
    status,
    metadata: { command: "ls", description: "List", ...expected },
  });
  expect(call?.metadata).toMatchObject({ compactParams: "ls", shortResult: row, success: status === "done" });
});

it("[X41] read is the file without line numbers, in old and new form", () => {
  const display = { type: "file", path: "/w/a.js", text: "one\ntwo", lineStart: 5, totalLines: 9 };
  const fresh = result(
    tool("read", {
      input: { filePath: "/w/a.js" },
      output: "<content>\n5: one\n6: two\n</content>",
      metadata: { display },
    }),
  );
  expect(fresh).toMatchObject({
    kind: "code",
    text: "one\ntwo",
    metadata: { filename: "/w/a.js", language: "javascript", startLine: 5, totalLines: 9 },
  });
  const old = result(
    tool("read", {
      input: { filePath: "/w/a.js" },
      output: "<file>\n00007| one\n00008| \n00009| two\n\n(End of file)\n</file>",
    }),
  );
  expect(old).toMatchObject({ kind: "code", text: "one\n\ntwo", metadata: { startLine: 7 } });
  expect(numberedLines("<content>\nno numbers\n</content>")).toBeUndefined();
  expect(result(tool("read", { input: { filePath: "/w" }, output: "a.js\nb.js" }))).toMatchObject({
    kind: "tool_result",
    text: "a.js\nb.js",
  });
});

it("[X41] edits and writes are diffs", () => {
  const diff = "--- /w/a\n+++ /w/a\n@@ -1 +1 @@\n-x\n+y\n";
  const indexed = `Index: /w/a\n======\n${diff}`;
  const edited = result(
    tool("edit", {
      input: { filePath: "/w/a", oldString: "x", newString: "y" },
      output: "Edited. 1 warning",
      metadata: { diff: indexed },
    }),
  );
  expect(edited).toMatchObject({
    kind: "file_change",
    text: diff,
    metadata: { changes: [{ path: "/w/a", kind: "modify", diff }], result: "Edited. 1 warning" },
  });
  const made = result(
    tool("write", { input: { filePath: "/w/b", content: "n\n" }, metadata: { exists: false } }),
  );
  expect(made).toMatchObject({
    text: "--- /dev/null\n+++ /w/b\n@@ -0,0 +1 @@\n+n\n",
    metadata: { changes: [{ path: "/w/b", kind: "add" }] },
  });
  const over = result(
    tool("write", { input: { filePath: "/w/b", content: "n\n" }, metadata: { exists: true } }),
  );
  expect(over).toMatchObject({
    text: "--- /w/b\n+++ /w/b\n@@ -0,0 +1 @@\n+n\n",
    metadata: { changes: [{ path: "/w/b", kind: "modify", unverified: true }] },
  });
  const asked = result(
    tool("edit", { input: { filePath: "/w/a", oldString: "x", newString: "y" }, output: "Edited." }),
  );
  expect(asked).toMatchObject({
    text: "--- /w/a\n+++ /w/a\n@@ -0 +0 @@\n-x\n+y\n",
    metadata: { changes: [{ path: "/w/a", kind: "modify", unverified: true }] },
  });
  const patched = result(
    tool("apply_patch", { input: { patchText: "*** Begin Patch\n*** Delete File: gone\n*** End Patch" } }),
  );
  expect(patched.metadata.changes).toEqual([{ path: "gone", kind: "delete" }]);
});

it("[X41] lists, sub-agents, counts, images", () => {
  const todos = [
    { content: "a", status: "completed", priority: "high" },
    { content: "b", status: "in_progress", id: "7" },
    { content: "c", status: "cancelled" },
  ];
  expect(result(tool("todowrite", { input: { todos } }))).toMatchObject({
    kind: "todo",
    text: "- [x] a\n- [ ] b\n- [x] c",
    metadata: {
      items: [
        { content: "a", status: "completed" },
        { content: "b", status: "in_progress", id: "7" },
        { content: "c", status: "completed" },
      ],
    },
  });
  const task = result(
    tool("task", {
      output: '<task id="s">\n<task_result>\nTwo.\n</task_result>\n</task>',
      metadata: { sessionId: "s" },
    }),
  );
  expect(task).toMatchObject({ kind: "tool_result", text: "Two.", metadata: { result: { sessionId: "s" } } });
  const found = run(
    step,
    tool("grep", { input: { pattern: "x" }, output: "…", metadata: { matches: 1 } }),
    tool("glob", { input: { pattern: "*" }, metadata: { count: 4 } }),
  );
  expect(
    found.blocks.filter((block) => block.kind === "tool_call").map((block) => block.metadata.shortResult),
  ).toEqual(["1 match", "4 files"]);
  const image = result(
    tool("look", { output: "see", attachments: [{ mime: "image/png", url: "data:image/png;base64,aGk=" }] }),
  );
  expect(image.metadata.images).toEqual([{ data: "aGk=", mediaType: "image/png" }]);
});

it.each(["__proto__", "constructor", "toString"])("[X41] a tool named %s is an ordinary one", (name) => {
  expect(result(tool(name, { output: "x" }))).toMatchObject({ kind: "tool_result", text: "x" });
});

it("[X41] failures", () => {
  const failed = run(
    step,
    tool("read", { status: "error", input: { filePath: "/x" }, error: "File not found: /x" }),
  );
  expect(
    failed.blocks.map(({ kind, status, metadata }) => [kind, status, metadata.error ?? metadata.isError]),
  ).toEqual([
    ["tool_call", "error", "File not found: /x"],
    ["tool_result", "error", true],
  ]);
  const denied = result(
    tool("bash", {
      status: "error",
      input: { command: "rm" },
      error: "The user rejected permission to use this tool",
    }),
  );
  expect(denied).toMatchObject({ kind: "command", metadata: { reason: "denied", command: "rm" } });
  const invalid = run(
    step,
    tool("invalid", {
      input: { tool: "nosuch", error: "Model tried to call unavailable tool" },
      output: "The arguments are invalid",
    }),
  );
  expect(invalid.blocks[0]).toMatchObject({
    status: "error",
    metadata: { displayName: "nosuch", compactParams: "nosuch" },
  });
});

it("[X41] a call that is printed while it runs is one call", () => {
  const folded = run(
    step,
    tool("bash", { status: "running", input: { command: "x" } }, "c1"),
    tool("bash", { input: { command: "x" }, output: "y" }, "c1"),
    tool("bash", { input: { command: "x" }, output: "y" }, "c1"),
  );
  expect(folded.blocks.map((block) => block.kind)).toEqual(["tool_call", "command"]);
  const cut = run(step, tool("bash", { status: "running", input: { command: "x" } }));
  expect(cut.blocks[0]).toMatchObject({ status: "error", metadata: { reason: "interrupted" } });
});

it("[X41] two calls in parts of one name are two calls", () => {
  const part = (callID: string): Json =>
    line("tool_use", {
      id: "same",
      callID,
      tool: "x",
      state: { status: "completed", input: {}, output: callID },
    });
  const folded = run(step, part("a"), part("b"));
  expect(folded.blocks.filter((block) => block.role === "tool").map((block) => block.text)).toEqual([
    "a",
    "b",
  ]);
});

it("[X42] tokens and cost are sums over steps, each counted once", () => {
  const tokens = { total: 113, input: 12, output: 64, reasoning: 7, cache: { read: 20, write: 10 } };
  const first = finish("tool-calls", tokens, 0.1, "f1");
  const folded = run(
    step,
    first,
    first,
    finish("stop", { input: 1, output: 5, reasoning: 3, cache: {} }, 0.2, "f2"),
  );
  expect(folded.turns).toMatchObject([
    {
      status: "done",
      stopReason: "stop",
      costUsd: 0.3,
      usage: { input: 43, cacheRead: 20, cacheWrite: 10, output: 76, reasoning: 10 },
    },
  ]);
  expect(folded.messages.map(({ messageId, usage }) => [messageId, usage.output])).toEqual([
    ["m-f1", 71],
    ["m-f2", 5],
  ]);
});

it("[X43] how a turn ends", () => {
  const status = (...lines: readonly Json[]) =>
    run(...lines).turns.map(({ status: how, reason }) => [how, reason]);
  expect(status(step, finish("stop"))).toEqual([["done", undefined]]);
  expect(status(step, finish("length"))).toEqual([["done", "truncated"]]);
  expect(status(step, finish("tool-calls"))).toEqual([["error", "interrupted"]]);
  expect(status(step)).toEqual([["error", "interrupted"]]);
  const error = {
    name: "APIError",
    data: { message: "bad", statusCode: 400, isRetryable: false, responseHeaders: { a: "b" } },
  };
  const failed = run({ type: "error", timestamp: 5, sessionID: "s", error });
  expect(failed.turns).toMatchObject([{ status: "error", reason: "failed", error: "bad" }]);
  expect(failed.blocks).toMatchObject([
    {
      kind: "error",
      text: "bad",
      metadata: { code: "APIError", retryable: false, details: { statusCode: 400 } },
    },
  ]);
  expect(failed.blocks[0]?.metadata.details).toEqual({ statusCode: 400 });
});

it("[X43] unknown events are kept", () => {
  const state = opencodeAdapter.start("run");
  const events = [
    ...opencodeAdapter.step(state, { type: "session_share", sessionID: "s", url: "u" })[1],
    ...opencodeAdapter.step(state, 7)[1],
    ...opencodeAdapter.noise(state, "debug: x")[1],
  ];
  expect(fold([...events, ...opencodeAdapter.end(state)]).unknown).toEqual({
    session_share: 1,
    "(number)": 1,
    "(not JSON)": 1,
  });
});
