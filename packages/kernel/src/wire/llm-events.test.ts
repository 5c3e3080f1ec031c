/** Turns and calls as `llm_*` events, where they differ from the usual lifecycle. */
import { expect, it } from "vitest";
import type { Block } from "../model/block.ts";
import type { Turn } from "../model/conversation.ts";
import type { JsonObject } from "../model/json.ts";
import type { LlmEvent } from "./llm-event.ts";
import { LlmEvents } from "./llm-events.ts";
import { type LlmMessage, reduceLlm } from "./llm-messages.ts";

const TURN: Turn = { id: "t", provider: "claude", agent: "model", status: "running", startedAt: 1 };

function call(id: string, status: Block["status"], metadata: JsonObject): Block {
  return {
    id,
    conversation: "c",
    agent: "model",
    kind: "tool_call",
    role: "model",
    status,
    parent: null,
    side: false,
    version: 1,
    seq: 1,
    born: 1,
    createdAt: 1,
    updatedAt: 1,
    chars: 0,
    newlines: 0,
    pruned: false,
    promoted: false,
    metadata: { turn: "t", toolUseId: "x", toolName: "Bash", ...metadata },
  };
}

const typesOf = (events: readonly LlmEvent[]) => events.map(({ type }) => type.slice(4));

it.each<[Turn["reason"], readonly string[]]>([
  ["cancelled", ["message_stop"]],
  ["failed", ["error", "message_stop"]],
])("[AC45] a turn that ended as %s", (reason, expected) => {
  const events = new LlmEvents();
  events.begin(TURN);
  const end: Turn = { ...TURN, status: "error", endedAt: 2, ...(reason === undefined ? {} : { reason }) };
  expect(typesOf(events.turn(end))).toEqual(expected);
});

it.each<[string, JsonObject, Block["status"], boolean]>([
  ["cut by a limit", { reason: "truncated", success: false }, "error", false],
  ["denied", { input: {}, approval: { id: "a", state: "denied" }, reason: "denied" }, "error", false],
  ["stopped while it was asked for", { input: {}, approval: { id: "a", state: "expired" } }, "error", false],
  ["asked for", { input: {}, approval: { id: "a", state: "asked" } }, "running", false],
  ["run", { input: {}, stage: "running" }, "running", true],
  ["failed, without a word about its start", { input: {}, reason: "failed" }, "error", true],
])("[AC45] a call that was %s", (_, metadata, status, starts) => {
  const events = new LlmEvents();
  events.begin(TURN);
  const types = typesOf(events.whole(call("c/model/1", status, metadata), "{}"));
  expect(types.includes("tool_execution_start")).toBe(starts);
  expect(types.includes("tool_execution_complete")).toBe(status === "error");
});

it("[AC45] two calls with one id in a message are two executions", () => {
  const events = new LlmEvents();
  const told = [
    ...events.begin(TURN),
    ...events.whole(call("c/model/1", "done", { input: {}, stage: "end", success: true }), "{}"),
    ...events.whole(call("c/model/2", "done", { input: {}, stage: "end", success: true }), "{}"),
  ];
  const [message] = told.reduce(reduceLlm, [] as readonly LlmMessage[]);
  expect(message?.toolExecutions.map(({ toolId }) => toolId)).toEqual(["x", "x#2"]);
  expect(message?.contentBlocks.map(({ toolId }) => toolId)).toEqual(["x", "x#2"]);
});

it("[K80] a call that asks after its start was sent waits, and starts once more when it is allowed", () => {
  const events = new LlmEvents();
  const input = { command: "ls" };
  const states = [undefined, "asked", "asked", "allowed"].map((state) =>
    call("c/model/1", "running", {
      ...{ input, stage: "running" },
      ...(state === undefined ? {} : { approval: { id: "a", state } }),
    }),
  );
  const told = [...events.begin(TURN), ...states.flatMap((block) => events.whole(block, "{}"))];
  expect(typesOf(told).filter((type) => type.startsWith("tool_"))).toEqual([
    ...["tool_execution_start", "tool_execution_waiting", "tool_execution_start"],
  ]);
  const [message] = told.reduce(reduceLlm, [] as readonly LlmMessage[]);
  expect(message?.toolExecutions).toMatchObject([{ status: "executing" }]);
});
