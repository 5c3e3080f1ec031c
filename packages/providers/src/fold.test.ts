/** The fold, on event lists that adapters should and should not give. */
import type { BlockEvent } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { fold } from "./fold.ts";

const call = {
  type: "block-start",
  key: "c",
  kind: "tool_call",
  role: "model",
  metadata: { toolUseId: "t", toolName: "n" },
} as const;

it("[P7] joins a call: text, metadata, stages", () => {
  const { blocks, stages, faults } = fold([
    call,
    { type: "block-append", key: "c", text: '{"a"' },
    { type: "block-append", key: "c", text: ":1}" },
    { type: "block-meta", key: "c", metadata: { stage: "running", input: { a: 1 } } },
    { type: "block-end", key: "c", status: "error", reason: "failed", metadata: { success: false } },
  ]);
  expect(faults).toEqual([]);
  expect(stages.get("c")).toEqual(["start", "streaming", "running", "end"]);
  expect(blocks).toEqual([
    {
      id: "c",
      parent: null,
      kind: "tool_call",
      role: "model",
      status: "error",
      text: '{"a":1}',
      metadata: {
        toolUseId: "t",
        toolName: "n",
        stage: "end",
        input: { a: 1 },
        success: false,
        reason: "failed",
      },
    },
  ]);
});

it.each<[readonly BlockEvent[], string]>([
  [[call], "never ended: c"],
  [[call, call, { type: "block-end", key: "c", status: "done" }], "started twice: c"],
  [[{ type: "block-append", key: "c", text: "x" }], "appended to before its start: c"],
  [
    [call, { type: "block-end", key: "c", status: "done" }, { type: "block-end", key: "c", status: "done" }],
    "ended after its end: c",
  ],
  [
    [
      { ...call, parent: "p" },
      { type: "block-end", key: "c", status: "done" },
    ],
    "parent p of c does not exist",
  ],
  [[{ type: "turn-end", turn: "t", status: "done" }], "turn ended without a start: t"],
])("[P7] tells what breaks the contract: %#", (events, fault) => {
  expect(fold(events).faults).toContain(fault);
});

it("[P19] counts unknown events; the last usage of a message wins", () => {
  const usage = { input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 };
  const { unknown, messages } = fold([
    { type: "block-start", key: "u", kind: "unknown", role: "system", metadata: { type: "new/thing" } },
    { type: "block-end", key: "u", status: "done" },
    { type: "message-usage", messageId: "m", usage },
    { type: "message-usage", messageId: "m", usage: { ...usage, output: 9 } },
    { type: "message-usage", messageId: "m", parent: "c", usage },
  ]);
  expect(unknown).toEqual({ "new/thing": 1 });
  expect(messages.map((message) => [message.parent, message.usage.output])).toEqual([
    [undefined, 9],
    ["c", 1],
  ]);
});
