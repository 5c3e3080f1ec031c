/** What is decided of a result by whether it has a text. */
import type { BlockSnapshot } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { shortFormOf } from "./closed.ts";

const call = {
  ...{ kind: "tool_call", role: "model", status: "done", content: "{}" },
  metadata: { toolName: "Task", toolUseId: "t", stage: "end" },
} as unknown as BlockSnapshot;

it.each([
  ["with a report", "Two places round.", "whole"],
  ["without one", "", "line"],
])("[V4] the result of an agent %s is shown in every document as on the page", (_, content, form) => {
  const block = {
    ...{ kind: "tool_result", role: "tool", status: "done", content },
    metadata: { toolName: "Task", toolUseId: "t" },
  } as unknown as BlockSnapshot;
  expect(shortFormOf({ block, call })).toBe(form);
});
