/** A call's state in words: one table for the page, exports and terminals. */
import { expect, it } from "vitest";
import type { JsonObject } from "../model/json.ts";
import type { Status } from "../model/kind.ts";
import { callOutcome, isAtWork } from "./call-outcome.ts";

it.each<[Status, JsonObject, string, string, boolean]>([
  ["pending", {}, "running", "running", true],
  ["running", { stage: "running" }, "running", "running", true],
  ["running", { stage: "running", waiting: "result" }, "waiting", "waiting for result", false],
  ["done", { success: true }, "done", "", false],
  ["done", {}, "done", "", false],
  ["done", { success: false }, "failed", "failed", false],
  ["error", { reason: "interrupted" }, "failed", "interrupted", false],
  ["error", { reason: "interrupted", waiting: "result" }, "failed", "interrupted", false],
  ["error", { reason: "denied" }, "denied", "denied", false],
  ["error", { reason: "cancelled" }, "stopped", "stopped", false],
])("[E5] [K38] a call that is %s with %j is %s", (status, metadata, state, word, works) => {
  expect(callOutcome({ status, metadata })).toEqual({ state, word });
  expect(isAtWork({ status, metadata })).toBe(works);
});
