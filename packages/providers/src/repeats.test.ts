/** The same error again and again. */
import type { BlockEvent } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { fold } from "./fold.ts";
import { normalize } from "./normalize.ts";
import { providers } from "./registry.ts";
import { withoutRepeats } from "./repeats.ts";

const error = (key: string, text: string, parent?: string): BlockEvent[] => [
  {
    type: "block-start",
    key,
    kind: "error",
    role: "system",
    metadata: {},
    text,
    ...(parent ? { parent } : {}),
  },
  { type: "block-end", key, status: "error", reason: "failed" },
];
const said = (key: string): BlockEvent[] => [
  { type: "block-start", key, kind: "text", role: "model", metadata: {}, text: "x" },
  { type: "block-end", key, status: "done" },
];

const shown = (events: readonly BlockEvent[]) => {
  const { blocks, faults } = fold(withoutRepeats(events));
  expect(faults).toEqual([]);
  return blocks.map(({ kind, text, metadata }) => `${kind} ${text} ${metadata.times ?? 1}`);
};

it.each<[string, BlockEvent[], string[]]>([
  ["six times", ["a", "b", "c", "d", "e", "f"].flatMap((key) => error(key, "no")), ["error no 6"]],
  [
    "another one between",
    [...error("a", "no"), ...error("b", "other"), ...error("c", "no")],
    ["error no 1", "error other 1", "error no 1"],
  ],
  [
    "something said between",
    [...error("a", "no"), ...said("b"), ...error("c", "no")],
    ["error no 1", "text x 1", "error no 1"],
  ],
  [
    "usage between",
    [
      ...error("a", "no"),
      {
        type: "message-usage",
        messageId: "m",
        usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
      },
      ...error("b", "no"),
    ],
    ["error no 2"],
  ],
  [
    "below another block",
    [...said("p"), ...error("a", "no"), ...error("b", "no", "p")],
    ["text x 1", "error no 1", "error no 1"],
  ],
])("[P31] %s", (_, events, expected) => {
  expect(shown(events)).toEqual(expected);
});

it("[P31] of a stream, live and cut", () => {
  const lines = [
    { type: "thread.started", thread_id: "t" },
    { type: "turn.started" },
    ...Array.from({ length: 6 }, () => ({ type: "error", message: "no" })),
  ];
  const bytes = (some: readonly object[]) =>
    new TextEncoder().encode(some.map((line) => JSON.stringify(line)).join("\n"));
  const codex = providers.get("codex")!;
  const { blocks, faults } = normalize(codex, [
    bytes([...lines, { type: "turn.failed", error: { message: "no" } }]),
  ]);
  expect(faults).toEqual([]);
  expect(blocks.map(({ kind, status, metadata }) => [kind, status, metadata.times])).toEqual([
    ["error", "error", 6],
  ]);
  for (let cut = 2; cut <= lines.length; cut++)
    expect(normalize(codex, [bytes(lines.slice(0, cut))]).faults).toEqual([]);
});

it("[X15] reconnections are one line that counts", () => {
  const retry = (n: number) => ({ type: "error", message: `Reconnecting... ${n}/5 (stream closed)` });
  const lines = [
    { type: "turn.started" },
    retry(1),
    retry(2),
    retry(3),
    { type: "item.completed", item: { id: "i", type: "agent_message", text: "ok" } },
    retry(1),
  ];
  const bytes = new TextEncoder().encode(lines.map((line) => JSON.stringify(line)).join("\n"));
  const { blocks, faults } = normalize(providers.get("codex")!, [bytes]);
  expect(faults).toEqual([]);
  expect(blocks.map(({ text, status, metadata }) => [text, status, metadata.times])).toEqual([
    ["Reconnecting... 3/5 (stream closed)", "done", 3],
    ["ok", "done", undefined],
    ["Reconnecting... 1/5 (stream closed)", "done", undefined],
  ]);
});
