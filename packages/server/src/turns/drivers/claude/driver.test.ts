/**
 * The Claude driver against a peer that prints a row's lines (test/e2e/agents/replay-claude.mjs): requests with
 * duplicate or missing names, requests about calls that have ended, answers to nothing. The real Claude Code is in
 * test/e2e/clis.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { askOf, isProblem, type Json, type JsonObject, Kernel, MemoryStore } from "@blockyard/kernel";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ProcessTracker } from "../../../processes/process-tracker.ts";
import { nodeEnv } from "../../../system/env.ts";
import { Turns } from "../../turns.ts";
import { claudeDriver } from "./driver.ts";

const FAKE = fileURLToPath(new URL("../../../../../../test/e2e/agents/replay-claude.mjs", import.meta.url));
const WAIT = { timeout: 15_000, interval: 10 };

let folder: string;
let tracker: ProcessTracker;
let turns: Turns;
let kernel: Kernel;
let conversation: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "blockyard-claude-"));
  tracker = new ProcessTracker(join(folder, "home"));
  kernel = new Kernel(nodeEnv, new MemoryStore("m"));
  conversation = (await kernel.createConversation("ann", "x")) as string;
});
afterEach(async () => {
  await turns.close();
  await tracker.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(lines: readonly Json[], waitsFor?: string): Promise<void> {
  const [recording, log] = [join(folder, "recording.jsonl"), join(folder, "log")];
  const printed = [init, ...lines, result].map((line) =>
    typeof line === "string" ? line : JSON.stringify(line),
  );
  writeFileSync(recording, printed.map((line) => JSON.stringify({ t: 0, dir: "out", line })).join("\n"));
  writeFileSync(log, "");
  const env = {
    PATH: process.env["PATH"] ?? "",
    BLOCKYARD_CLAUDE: FAKE,
    CLAUDE_REPLAY: JSON.stringify({ recording, log, stays: true, waitsFor }),
  };
  const driver = claudeDriver({ kernel, root: folder, env, tracker, graceMs: 300, idleMs: 0 });
  turns = new Turns({ kernel, drivers: [driver] });
  const started = await turns.start("ann", { conversation, provider: "claude", prompt: "Do it" });
  expect(isProblem(started)).toBe(false);
}

async function over(): Promise<void> {
  await vi.waitFor(() => expect(turns.running).toBe(0), WAIT);
  const blocks = await kernel.allBlocks(conversation);
  if (isProblem(blocks)) throw new Error(blocks.message);
  expect(blocks.filter(({ status }) => status === "running" || status === "pending")).toEqual([]);
  expect(blocks.filter(({ metadata }) => askOf(metadata)?.state === "asked")).toEqual([]);
  expect(await tracker.living()).toEqual([]);
  expect(await kernel.turns(conversation)).toMatchObject([{ status: "done" }]);
}

/** The answers to the peer: the name of the request, and how. */
function answers(): readonly Json[][] {
  const lines = readFileSync(join(folder, "log"), "utf8").trim().split("\n");
  return lines
    .map((line) => JSON.parse(line) as JsonObject)
    .filter(({ type }) => type === "control_response")
    .map(({ response }) => response as JsonObject)
    .map(({ request_id, subtype }) => [request_id ?? null, subtype ?? null]);
}

const init = { type: "system", subtype: "init", session_id: "s", model: "m", tools: [] };
const result = { type: "result", subtype: "success", result: "Done.", session_id: "s" };
const request = (request_id: Json, request: Json): JsonObject => ({
  type: "control_request",
  request_id,
  request,
});
const leave = (id: Json, tool_use_id = "t1", command = "ls"): JsonObject =>
  request(id, { subtype: "can_use_tool", tool_name: "Bash", input: { command }, tool_use_id });
const form = (id: Json, more: JsonObject = {}): JsonObject =>
  request(id, { subtype: "elicitation", mcp_server_name: "m", message: "Name?", ...more });
const done = {
  type: "user",
  message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "x" }] },
};
const HUGE = "r".repeat(2_000);
/** What `String()` throws for, and JSON allows. */
const ODD = { toString: 1, valueOf: 1 };
const DEEP = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;

it.each<[string, Json[], Json[][]]>([
  ["a request that nobody knows", [request("r1", { subtype: "moon" })], [["r1", "error"]]],
  [
    "a request that is none",
    [request("r1", null), request("r2", [1])],
    [
      ["r1", "error"],
      ["r2", "error"],
    ],
  ],
  [
    "the same one twice",
    [request("r1", { subtype: "moon" }), request("r1", {})],
    [
      ["r1", "error"],
      ["r1", "error"],
    ],
  ],
  [
    "an ask without a name",
    [leave(null), form(""), leave({})],
    [
      [null, "error"],
      ["", "error"],
      [{}, "error"],
    ],
  ],
  [
    "an ask whose name is a number",
    [leave(7), leave(1e300)],
    [
      [7, "error"],
      [1e300, "error"],
    ],
  ],
  ["an ask whose name is huge", [leave(HUGE)], [[HUGE, "error"]]],
  ["a name that is open", [leave("r1"), leave("r1"), leave("r1", "t2"), form("r1")], [["r1", "error"]]],
  [
    "something else by a name that is open",
    [leave("r1"), request("r1", { subtype: "moon" })],
    [["r1", "error"]],
  ],
  [
    "another ask about one call",
    [leave("r1"), leave("r2")],
    [
      ["r1", "error"],
      ["r2", "error"],
    ],
  ],
  ["an ask about a call that ends", [leave("r1"), done], [["r1", "error"]]],
  [
    "a name that comes again when it is over",
    [leave("r1"), done, leave("r1", "t2")],
    [
      ["r1", "error"],
      ["r1", "error"],
    ],
  ],
  [
    "an ask about a call that has ended",
    [leave("r1"), done, leave("r2")],
    [
      ["r1", "error"],
      ["r2", "error"],
    ],
  ],
  [
    "requests without an id",
    [{ type: "control_request", request: { subtype: "moon" } }, { type: "control_request" }],
    [],
  ],
  ["an ask that is taken back", [leave("r1"), { type: "control_cancel_request", request_id: "r1" }], []],
  [
    "a name that is taken back and used for something else",
    [leave("r1"), { type: "control_cancel_request", request_id: "r1" }, leave("r1", "t1", "rm -rf .")],
    [["r1", "error"]],
  ],
  [
    "a name that is taken back and used for another call",
    [leave("r1"), { type: "control_cancel_request", request_id: "r1" }, leave("r1", "t2")],
    [["r1", "error"]],
  ],
  ["what was never asked is taken back", [{ type: "control_cancel_request", request_id: {} }], []],
  ["several messages in one line", [[leave("r1"), leave("r2")]], []],
  [
    "forms with strange schemas",
    [form("r1", { requested_schema: [[]] }), form("r2", { requested_schema: "x", url: 7 })],
    [
      ["r1", "error"],
      ["r2", "error"],
    ],
  ],
  [
    "names and types that are no text",
    [
      { type: ODD },
      { type: "control_response", response: { subtype: "success", request_id: ODD } },
      { type: "command_lifecycle", command_uuid: ODD, state: "started" },
      { type: "assistant", uuid: "u", message: { content: [{ type: ODD, id: ODD }] } },
      { type: "system", subtype: "background_tasks_changed", tasks: [{ task_id: "b", description: ODD }] },
      { type: "system", subtype: "background_tasks_changed", tasks: [] },
      request("r1", { subtype: ODD }),
    ],
    [["r1", "error"]],
  ],
  ["lines that are deep", [`{"type":"result","a":${DEEP}}`, `{"type":"control_request","a":${DEEP}}`], []],
  [
    "answers to nothing",
    [
      { type: "control_response", response: { subtype: "success", request_id: "blockyard-99" } },
      { type: "control_response", response: 3 },
    ],
    [],
  ],
])("[D91] %s: the turn ends, and only the request is answered, once", async (_, lines, expected) => {
  await start(lines);
  await over();
  expect(answers()).toEqual(expected);
});

it("[D91] an ask that another one replaces cannot be answered any more, the other one can, once", async () => {
  await start([leave("r1"), leave("r2")], "r2");
  const asking = await vi.waitFor(async () => {
    const blocks = await kernel.allBlocks(conversation);
    const found = isProblem(blocks) ? undefined : blocks.find(({ metadata }) => askOf(metadata)?.id === "r2");
    if (found === undefined) throw new Error("nothing is asked");
    return found.id;
  }, WAIT);
  expect(isProblem(await turns.answer("ann", asking, "r1", { allow: true }))).toBe(true);
  expect(isProblem(await turns.answer("ann", asking, "r2", { allow: true }))).toBe(false);
  expect(isProblem(await turns.answer("ann", asking, "r2", { allow: false }))).toBe(true);
  await over();
  expect(answers()).toEqual([
    ["r1", "error"],
    ["r2", "success"],
  ]);
});

it("[D52] what is asked does not become something else under its name while somebody reads it", async () => {
  const other = leave("r1", "t1", "rm -rf .");
  await start([leave("r1"), { type: "control_cancel_request", request_id: "r1" }, other]);
  await over();
  const blocks = await kernel.allBlocks(conversation);
  const asks = isProblem(blocks) ? [] : blocks.flatMap(({ metadata }) => askOf(metadata) ?? []);
  expect(asks).toMatchObject([{ id: "r1", subject: { command: "ls" } }]);
  expect(asks).not.toMatchObject([{ state: "allowed" }]);
});

it("[D52] nor do the answers to it", async () => {
  const rules = [{ type: "setMode", mode: "bypassPermissions", destination: "session" }];
  const again = { ...(leave("r1")["request"] as JsonObject), permission_suggestions: rules };
  await start([leave("r1"), { type: "control_cancel_request", request_id: "r1" }, request("r1", again)]);
  await over();
  const blocks = await kernel.allBlocks(conversation);
  const asks = isProblem(blocks) ? [] : blocks.flatMap(({ metadata }) => askOf(metadata) ?? []);
  expect(asks.map(({ id }) => id)).toEqual(["r1"]);
  expect(JSON.stringify(asks)).not.toContain("bypassPermissions");
});
