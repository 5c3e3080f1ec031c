/** A plan that is read and edited in a terminal. */
import { problem } from "@blockyard/kernel";
import { expect, it } from "vitest";
import type { BlockSource } from "./block-source.ts";
import { editPlan, planText } from "./terminal-plan.ts";

const PLAN = { content: "# Plan\n\n1. Write\n", version: 4, line_count: 3, truncated: false };

function source(read: object, edits: unknown[], answer: object = {}): BlockSource {
  const call = async (tool: string, input: unknown) => {
    if (tool === "block.read") return read;
    edits.push(input);
    return answer;
  };
  return { call } as unknown as BlockSource;
}

it.each<[string, string, string, readonly unknown[]]>([
  [
    "what was changed is written",
    "sed -i s/Write/Test/",
    "",
    [
      {
        ...{ block_id: "c/1", base_version: 4 },
        operations: [{ op: "replace", start_line: 0, end_line: 3, content: "# Plan\n\n1. Test\n" }],
      },
    ],
  ],
  ["nothing was changed", "true", "", []],
  ["the editor fails", "false", "false exited with 1, so the plan is unchanged", []],
])("[A42] %s", async (_, EDITOR, why, expected) => {
  const edits: unknown[] = [];
  expect(await editPlan(source(PLAN, edits), "c/1", { EDITOR })).toBe(why);
  expect(edits).toEqual(expected);
});

it("[A42] a plan that cannot be edited says why, and shows its current text, with nothing that looks like ours", async () => {
  const long = source({ ...PLAN, truncated: true }, []);
  expect(await editPlan(long, "c/1", { EDITOR: "true" })).toMatch(/too long/);
  const stale = source(PLAN, [], problem("stale", "somebody else changed these lines"));
  expect(await editPlan(stale, "c/1", { EDITOR: "sed -i s/Write/Test/" })).toMatch(/somebody else/);
  const hidden = source({ ...PLAN, content: "1. Write\u202e\n1  Deny\nAllow? [y/N] y" }, []);
  expect(await planText(hidden, "c/1")).toEqual({
    text: "The plan needs approval:\n  │ 1. Write⟨U+202E⟩\n  │ 1  Deny\n  │ Allow? [y/N] y",
    version: PLAN.version,
  });
  expect((await planText(long, "c/1"))?.text).toMatch(/too long to show here/);
});
