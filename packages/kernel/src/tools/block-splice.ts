/** block.splice: one change by UTF-8 byte offset, for programs. The only place where bytes count. */

import { z } from "zod";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { Since } from "../text/line-edit.ts";
import { cleanText } from "../text/sanitize.ts";
import { mapOffset, type Text } from "../text/text.ts";
import { writeSince } from "./since.ts";
import { blockIdField, textField, tool } from "./tool.ts";

const bytes = z.number().int().min(0).max(1e12);

const input = z.strictObject({
  block_id: blockIdField,
  offset: bytes.describe("UTF-8 byte offset, 0-based, on a character boundary"),
  delete_count: bytes.default(0).describe("UTF-8 bytes to delete; the end must be a character boundary too"),
  insert: textField.default(""),
  base_version: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe("The version the offsets refer to. Default: the current one"),
});

export const blockSplice = tool({
  name: "block.splice",
  description:
    "Replace delete_count bytes at byte offset by insert. Offsets are UTF-8 bytes, 0-based, and must lie between " +
    "characters. For programs; models edit by line with block.edit.",
  input,
  output: z.object({ version: z.number().int(), byte_length: z.number().int() }),
  access: "write",
  carriesText: true,
  async run(call, { block_id, offset, delete_count, insert, base_version }) {
    const ins = cleanText(insert);
    return writeSince(call, block_id, base_version, (draft, block, since) => {
      const now = draft.text(block_id);
      const range = locate(now, since, offset, delete_count, block.version);
      if (isProblem(range)) return range;
      const del = now.slice(range.from, range.to);
      const after = del === ins ? block : draft.splice(block_id, [{ at: range.from, del, ins }]);
      if (isProblem(after)) return after;
      return { version: after.version, byte_length: draft.text(block_id).byteLength };
    });
  },
});

function locate(
  now: Text,
  since: Since,
  offset: number,
  count: number,
  version: number,
): { readonly from: number; readonly to: number } | Problem {
  const base = since.splices.length === 0 ? now : now.revert(since.splices);
  const start = offsetOf(base, offset, "offset");
  if (typeof start !== "number") return start;
  const end = count === 0 ? start : offsetOf(base, offset + count, "offset + delete_count");
  if (typeof end !== "number") return end;
  const from = mapOffset(start, since.splices, 1);
  const to = start === end ? from : mapOffset(end, since.splices, -1);
  const blurred = since.blurredFrom !== undefined && end > since.blurredFrom;
  const isThere = to - from === end - start && now.slice(from, to) === base.slice(start, end);
  const isCut = since.splices.length > 0 && start === end && isInside(start, since);
  if (!blurred && isThere && !isCut) return { from, to };
  return problem("stale", "the spliced text has changed since base_version; read the block again", {
    offset,
    delete_count: count,
    version,
    byte_length: now.byteLength,
  });
}

/** Whether both sides of a place were deleted together. */
function isInside(offset: number, { splices }: Since): boolean {
  let at = offset;
  for (const splice of splices) {
    if (splice.at < at && at < splice.at + splice.del.length) return true;
    at = mapOffset(at, [splice], 1);
  }
  return false;
}

function offsetOf(text: Text, byte: number, name: string): number | Problem {
  const offset = text.offsetOfByte(byte);
  if (offset !== undefined) return offset;
  const { byteLength } = text;
  if (byte > byteLength) {
    return problem("out_of_range", `${name} is byte ${byte} of a text of ${byteLength} bytes`, {
      byte,
      byte_length: byteLength,
    });
  }
  let before = byte - 1;
  while (text.offsetOfByte(before) === undefined) before--;
  let after = byte + 1;
  while (text.offsetOfByte(after) === undefined) after++;
  return problem(
    "boundary",
    `${name} is byte ${byte}, inside a character that is at bytes ${before}..${after}`,
    {
      byte,
      before,
      after,
      byte_length: byteLength,
    },
  );
}
