/** cursor.set: shows others where the caller is in a block's text. Writes nothing; see cursor.ts. */

import { z } from "zod";
import type { Op } from "../model/op.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import { mapOffset, type Text } from "../text/text.ts";
import { connect, gone, inFuture } from "./since.ts";
import { blockIdField, lineField, tool } from "./tool.ts";

const position = z.union([
  z.strictObject({
    line: lineField.describe("0-based"),
    column: z.number().int().min(0).default(0).describe("UTF-16 units, 0-based"),
  }),
  z.strictObject({ offset: z.number().int().min(0).describe("UTF-16 units from the start of the text") }),
]);

const input = z.strictObject({
  block_id: blockIdField.optional().describe("Default: none; your cursor is removed"),
  head: position.optional().describe("Where the cursor is. Default: the start"),
  anchor: position.optional().describe("The other end of the selection. Default: nothing is selected"),
  base_version: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe("The version the positions refer to. Default: the current one"),
});

type Position = z.infer<typeof position>;

export const cursorSet = tool({
  name: "cursor.set",
  description:
    "Show others where you are in a block: a cursor, or a selection from anchor to head. It moves along with edits and " +
    "disappears after a minute; set it again to keep it. Without block_id it is removed. Nothing is stored.",
  input,
  output: z.object({
    block_id: z.string().optional(),
    anchor: z.number().int().optional(),
    head: z.number().int().optional(),
    version: z.number().int().optional(),
  }),
  access: "read",
  async run({ kernel, caller, cursors }, { block_id, head, anchor, base_version }) {
    if (block_id === undefined) {
      cursors.remove(caller.agent);
      return {};
    }
    const told: Op[] = [];
    const stop = kernel.listen(({ ops }) => {
      for (const op of ops) if (op.block === block_id) told.push(op);
    });
    try {
      const read = await kernel.read(block_id);
      if (isProblem(read)) return read;
      const { block, text } = read;
      const base = base_version ?? block.version;
      if (base > block.version) return inFuture(block, base);
      const log = base === block.version ? { ops: [] } : await kernel.log(block_id, { version: base });
      if (isProblem(log)) return log;
      if (log.compacted) return gone(block_id, base, log.compacted.version);
      const since = connect(
        base,
        log.ops.filter(({ version }) => version <= block.version),
        block.version,
      );
      if (since === undefined) return problem("busy", `block ${block_id} changes too fast; try again`);
      const then = since.splices.length === 0 ? text : text.revert(since.splices);
      const from = offsetOf(then, head ?? { offset: 0 }, "head");
      if (typeof from !== "number") return from;
      const to = anchor === undefined ? from : offsetOf(then, anchor, "anchor");
      if (typeof to !== "number") return to;
      const carried = (offset: number) => mapOffset(offset, since.splices, -1);
      const cursor = { agent: caller.agent, block: block_id, anchor: carried(to), head: carried(from) };
      const set = cursors.set(cursor, block.conversation, block.version, told);
      if (isProblem(set)) return set;
      return { block_id, anchor: set.anchor, head: set.head, version: told.at(-1)?.version ?? block.version };
    } finally {
      stop();
    }
  },
});

function offsetOf(text: Text, given: Position, name: string): number | Problem {
  const offset = "offset" in given ? given.offset : fromLine(text, given, name);
  if (typeof offset !== "number") return offset;
  if (offset > text.length) {
    return problem("out_of_range", `${name}: offset ${offset} of a text of ${text.length} units`, {
      offset,
      length: text.length,
    });
  }
  if (text.isCharacterBoundary(offset)) return offset;
  return problem("boundary", `${name}: offset ${offset} is inside a character`, {
    offset,
    before: offset - 1,
    after: offset + 1,
  });
}

/** The end of a line is before its newline; behind the last line is the end of the text. */
function fromLine(
  text: Text,
  { line, column }: { line: number; column: number },
  name: string,
): number | Problem {
  const { lineCount } = text;
  if (line > lineCount) {
    return problem("out_of_range", `${name}: line ${line} of ${lineCount}`, { line, line_count: lineCount });
  }
  const start = text.lineStart(line);
  const end = text.lineStart(line + 1);
  const length = end > start && text.slice(end - 1, end) === "\n" ? end - 1 - start : end - start;
  if (column <= length) return start + column;
  return problem(
    "out_of_range",
    `${name}: column ${column} is past the end of line ${line}, which has ${length} units`,
    {
      line,
      column,
      line_chars: length,
    },
  );
}
