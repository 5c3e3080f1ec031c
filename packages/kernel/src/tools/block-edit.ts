/** block.edit: inserts, deletes and replaces by line, as one undo step. text/line-edit.ts defines lines. */

import { z } from "zod";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import { type LineOperation, planLines } from "../text/line-edit.ts";
import { cleanText } from "../text/sanitize.ts";
import { writeSince } from "./since.ts";
import { blockIdField, lineField, textField, tool } from "./tool.ts";

const range = {
  start_line: lineField.describe("0-based"),
  end_line: lineField.describe("Exclusive"),
};
const expected = textField
  .optional()
  .describe("Compare-and-set: the lines as you read them, without line numbers; a mismatch changes nothing");

const input = z.strictObject({
  block_id: blockIdField,
  operations: z
    .array(
      z.discriminatedUnion("op", [
        z.strictObject({
          op: z.literal("insert"),
          line: lineField.describe("Insert before this line, 0-based; line_count appends"),
          content: textField.describe("Whole lines; a missing final newline is added"),
        }),
        z.strictObject({ op: z.literal("delete"), ...range, expected_text: expected }),
        z.strictObject({
          op: z.literal("replace"),
          ...range,
          content: textField.describe('Whole lines; "" deletes the range'),
          expected_text: expected,
        }),
      ]),
    )
    .min(1)
    .max(limits.editOperations),
  base_version: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe("The version you read, which the line numbers refer to. Default: the current one"),
});

export const blockEdit = tool({
  name: "block.edit",
  description:
    "Edit a block by line. Line numbers are 0-based, end_line is exclusive, and all of them refer to the text before this " +
    "call (at base_version, if given; lines that others moved are found, lines that they changed are refused " +
    "with `stale` and the current lines). All operations apply or none; they must not overlap. Pass expected_text to be sure " +
    "of what you replace. One call is one undo step.",
  input,
  output: z.object({ version: z.number().int(), line_count: z.number().int() }),
  example: {
    block_id: "ID",
    operations: [
      { op: "replace", start_line: 0, end_line: 1, content: "new line", expected_text: "old line" },
    ],
    base_version: 1,
  },
  access: "write",
  carriesText: true,
  async run(call, { block_id, operations, base_version }) {
    const clean = operations.map(cleaned);
    return writeSince(call, block_id, base_version, (draft, block, since) => {
      const splices = planLines(draft.text(block_id), clean, block.version, since);
      if (isProblem(splices)) return splices;
      const after = splices.length === 0 ? block : draft.splice(block_id, splices);
      if (isProblem(after)) return after;
      return { version: after.version, line_count: draft.text(block_id).lineCount };
    });
  },
});

type Given = z.infer<typeof input>["operations"][number];

function cleaned(operation: Given): LineOperation {
  if (operation.op === "insert") return { ...operation, content: cleanText(operation.content) };
  const { expected_text, ...rest } = operation;
  const wanted = expected_text === undefined ? {} : { expected_text: cleanText(expected_text) };
  if (rest.op === "delete") return { ...rest, ...wanted };
  return { ...rest, ...wanted, content: cleanText(rest.content) };
}
