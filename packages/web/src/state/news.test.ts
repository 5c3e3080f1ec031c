/** Notifications: what begins to need the user, and turns that end; once each. */
import { expect, test } from "vitest";
import { newsBetween, type Watched } from "./news.ts";

const watched = (parts: Partial<Watched>): Watched => ({
  id: "c",
  title: "Fix it",
  isAsking: false,
  isRunning: false,
  ended: undefined,
  ...parts,
});

const CASES: readonly (readonly [string, Watched | undefined, Watched, readonly string[]])[] = [
  [
    "begins to ask",
    watched({ isRunning: true }),
    watched({ isRunning: true, isAsking: true }),
    ["Needs you"],
  ],
  ["asks still", watched({ isAsking: true }), watched({ isAsking: true }), []],
  ["is new and asks", undefined, watched({ isAsking: true }), ["Needs you"]],
  ["ends well", watched({ isRunning: true }), watched({}), ["Turn finished"]],
  ["fails", watched({ isRunning: true }), watched({ ended: "failed" }), ["Turn failed"]],
  ["was stopped by somebody", watched({ isRunning: true }), watched({ ended: "cancelled" }), []],
  ["is new and done", undefined, watched({}), []],
  ["runs on", watched({ isRunning: true }), watched({ isRunning: true }), []],
];
for (const [what, before, now, expected] of CASES)
  test(`[V108] a conversation that ${what}`, () => {
    const known = new Map(before === undefined ? [] : [[before.id, before]]);
    expect(newsBetween(known, [now], false).map(({ words }) => words)).toEqual(expected);
  });

test("[V17] [V108] a viewer is notified of what waits, not that it needs them", () => {
  const [news] = newsBetween(new Map(), [watched({ isAsking: true })], true);
  expect(news?.words).toBe("Waiting for an answer");
});
