/** The state in a conversation's head: what needs the user comes first. */
import { expect, it } from "vitest";
import { headState } from "./head-state.ts";

it.each([
  ["needs", { asking: ["c/a/1"] }, false],
  ["running", { running: ["t"] }, false],
  ["needs", { ended: "interrupted" }, true],
  ["running", { running: ["t"], ended: "interrupted" }, true],
  ["interrupted", { ended: "interrupted" }, false],
  ["stopped", { ended: "cancelled" }, false],
  ["failed", { ended: "failed" }, false],
  ["done", {}, false],
] as const)("[CM17] the head says %s of %o, a request from before a restart: %s", (state, facts, isLate) => {
  expect(headState({ running: [], ...facts } as never, isLate)).toBe(state);
});
