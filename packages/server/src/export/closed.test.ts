/** What is decided of a result by whether it has a text. */
import type { BlockSnapshot } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { collapsedOf, shortFormOf } from "./closed.ts";

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

it("[V4] a long diff says how many lines it has, without the places and notes between them", () => {
  const added = Array.from({ length: 60 }, (_, i) => `+line ${i}`);
  const source = ["@@ -3,0 +4,60 @@", ...added, "\\ No newline at end of file"];
  const block = {
    ...{ kind: "file_change", role: "tool", status: "done", content: "" },
    metadata: { changes: [] },
  } as unknown as BlockSnapshot;
  const { form, title } = collapsedOf({ block, call, source, changed: 60, chars: 700 });
  expect([form, title]).toEqual(["start", "Show all 60 lines"]);
});
