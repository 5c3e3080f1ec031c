/** What is shown of a result beside its call, before its length is known. */
import type { Block } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { shortForm } from "./form.ts";

const block = (kind: string, chars: number) =>
  ({ kind, chars, role: "tool", status: "done", metadata: { toolName: "spawn_agent" } }) as unknown as Block;

it.each([
  [0, "line"],
  [20, "whole"],
])("[V127] the report of a sub-agent with %d characters: %s", (chars, form) => {
  const closed = { isFollowed: false, isLivingTodo: false, isOpened: false };
  expect(shortForm(block("tool_result", chars), block("tool_call", 2), closed)).toBe(form);
});
