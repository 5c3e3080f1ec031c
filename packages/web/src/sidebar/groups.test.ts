/** The groups of the list, and the state of a conversation. */
import { describe, expect, test } from "vitest";
import type { ListedConversation } from "./conversations.ts";
import { dayOf, groupsOf, stateOf } from "./groups.ts";

const NOW = new Date(2026, 10, 17, 9, 0).getTime();
const at = (day: number, hour = 12) => new Date(2026, 10, day, hour).getTime();

const conversation = (id: string, parts: Partial<ListedConversation>): ListedConversation => ({
  id,
  title: id,
  provider: "claude",
  model: undefined,
  isRunning: false,
  ended: undefined,
  folder: undefined,
  turns: 1,
  isAsking: false,
  asks: undefined,
  isArchived: false,
  isRecorded: false,
  isDeleted: false,
  isFiles: false,
  isUnread: false,
  costUsd: undefined,
  isCostLeast: false,
  createdAt: at(1),
  updatedAt: at(17, 8),
  blocks: 1,
  seq: 1,
  ...parts,
});

describe("[V102] the list is divided", () => {
  test("into what needs the user, what runs, and days, and leaves out empty ones", () => {
    const named = (isViewer: boolean) =>
      groupsOf(
        [
          conversation("asks", { isAsking: true, isRunning: true }),
          conversation("runs", { isRunning: true }),
          conversation("failed, seen", { ended: "failed" }),
          conversation("today", {}),
          conversation("yesterday", { updatedAt: at(16, 23) }),
          conversation("failed unseen", { ended: "failed", isUnread: true, updatedAt: at(16) }),
        ],
        NOW,
        isViewer,
      ).map(({ name, conversations }) => [name, conversations.map(({ id }) => id)]);
    expect(named(false)).toEqual([
      ["Needs you", ["asks", "failed unseen"]],
      ["Running", ["runs"]],
      ["Today", ["failed, seen", "today"]],
      ["Yesterday", ["yesterday"]],
    ]);
    // A viewer is needed for nothing.
    expect(named(true)).toEqual([
      ["Waiting for an answer", ["asks"]],
      ["Running", ["runs"]],
      ["Today", ["failed, seen", "today"]],
      ["Yesterday", ["yesterday", "failed unseen"]],
    ]);
    expect(groupsOf([], NOW, false)).toEqual([]);
  });

  const DAYS: readonly (readonly [number, string])[] = [
    [NOW + 60_000, "Today"],
    [at(17, 0), "Today"],
    [at(16, 0), "Yesterday"],
    [at(15, 23), "Last 7 days"],
    [at(11, 0), "Last 7 days"],
    [at(10, 23), "Last 30 days"],
    [new Date(2026, 9, 19).getTime(), "Last 30 days"],
    [new Date(2026, 9, 17).getTime(), "October 2026"],
    [new Date(2025, 0, 3).getTime(), "January 2025"],
  ];
  for (const [time, expected] of DAYS)
    test(`by day: ${new Date(time).toDateString()} is ${expected}`, () =>
      expect(dayOf(time, NOW)).toBe(expected));
});

const STATES: readonly (readonly [Partial<ListedConversation>, string])[] = [
  [{ isAsking: true, isRunning: true }, "needs"],
  [{ isRunning: true, ended: "failed" }, "running"],
  [{ ended: "failed" }, "failed"],
  [{ ended: "truncated" }, "failed"],
  [{ ended: "cancelled" }, "stopped"],
  [{ ended: "interrupted" }, "interrupted"],
  [{}, "done"],
];
for (const [parts, expected] of STATES)
  test(`[V102] ${JSON.stringify(parts)} is ${expected}`, () =>
    expect(stateOf(conversation("x", parts))).toBe(expected));
