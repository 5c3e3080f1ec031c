/** Blocks as terminal text: what is left out is counted. */
import type { BlockSnapshot } from "@blockyard/kernel";
import { expect, test } from "vitest";
import { blockText } from "./block-text.ts";
import { styleFor } from "./terminal.ts";

const options = { style: styleFor({ isTTY: false } as typeof process.stdout), width: 80, isFull: false };

test.each([
  [8, undefined],
  [9, "… 1 more line"],
  [10, "… 2 more lines"],
])("of a result with %d lines it says %j", (count, said) => {
  const content = Array.from({ length: count }, (_, i) => `line ${i}\n`).join("");
  const block = { kind: "tool_result", content, metadata: {} } as unknown as BlockSnapshot;
  const lines = blockText(block, options).trimEnd().split("\n");
  expect(lines[8]?.trim()).toBe(said);
});
