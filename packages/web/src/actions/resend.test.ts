/** What can be sent again: a user's prompt, not an agent's own turn. */
import { expect, test } from "vitest";
import { hasPrompt, type Loaded } from "./resend.ts";

type Role = "user" | "model";

/** Blocks in order: the speaker and turn of each. */
function loaded(blocks: readonly (readonly [Role, string])[], more = false): Loaded {
  const all = blocks.map(([role, turn], i) => [`b${i}`, { role, side: false, metadata: { turn } }] as const);
  return { order: all.map(([id]) => id), blocks: new Map(all), more };
}

test("[CM8] a turn that an agent began by itself has no prompt to send again; one that is not loaded yet may have", () => {
  const both = [
    ["user", "asked"],
    ["model", "asked"],
    ["model", "own"],
  ] as const;
  expect(hasPrompt(loaded(both), "asked")).toBe(true);
  expect(hasPrompt(loaded(both), "own")).toBe(false);
  expect(hasPrompt(loaded(both, true), "own")).toBe(false);
  const rest = [
    ["model", "asked"],
    ["model", "own"],
  ] as const;
  expect(hasPrompt(loaded(rest, true), "asked")).toBe(true);
  expect(hasPrompt(loaded(rest), "asked")).toBe(false);
});
