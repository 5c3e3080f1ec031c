/**
 * block.read: a block's text, by lines, with the numbers that block.edit takes. An answer is bounded in lines and
 * bytes; a cut answer ends with the range to read next.
 */

import { z } from "zod";
import { limits } from "../model/limits.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import { lineNumber } from "../text/quoted-lines.ts";
import { type Text, utf8Length } from "../text/text.ts";
import { blockIdField, lineField, tool } from "./tool.ts";
import { blockSchema, blockView } from "./view.ts";

const input = z.strictObject({
  block_id: blockIdField,
  line_numbers: z
    .boolean()
    .default(true)
    .describe("Prefix each line with its 0-based number, right-aligned in 5 columns, and a tab"),
  range: z
    .strictObject({
      start: lineField.describe("First line, 0-based"),
      end: lineField.optional().describe("Exclusive. Default: to the end"),
      column: z
        .number()
        .int()
        .min(0)
        .optional()
        .describe("Where to start in the first line, in UTF-16 units: to continue in a very long line"),
    })
    .optional(),
});

export const blockRead = tool({
  name: "block.read",
  description:
    "Read a block's text. Lines are numbered from 0, as block.edit takes them; the prefix (number and tab) is not part of " +
    `the text. A range has an exclusive end. At most ${limits.readLines} lines and ${limits.guestReadBytes} bytes at a time (${limits.readBytes} for the owner); ` +
    "truncated means there is more, and the last line of content says how to continue. A range past the end is clamped, and " +
    "clamped says to which lines.",
  input,
  output: blockSchema.omit({ side: true, born: true, newlines: true, chars: true }).extend({
    content: z.string(),
    line_count: z.number().int(),
    truncated: z.boolean(),
    clamped: z
      .object({ start: z.number().int(), end: z.number().int() })
      .optional()
      .describe("The range went past the end; these lines were read instead"),
    next: z.object({ start: z.number().int(), column: z.number().int().optional() }).optional(),
  }),
  access: "read",
  async run(call, { block_id, line_numbers, range }) {
    const read = await call.kernel.read(block_id);
    if (isProblem(read)) return read;
    const { block, text } = read;
    const { lineCount } = text;
    const start = Math.min(range?.start ?? 0, lineCount);
    const end = Math.min(range?.end ?? lineCount, lineCount);
    const refused = checkRange(text, range?.start ?? 0, range?.end, range?.column);
    if (refused) return refused;
    const isClamped = (range?.start ?? 0) > lineCount || (range?.end ?? 0) > lineCount;
    const maxBytes = call.caller.role === "owner" ? limits.readBytes : limits.guestReadBytes;
    const shown = show(text, { start, end, column: range?.column ?? 0 }, line_numbers, maxBytes);
    const { side: _side, born: _born, newlines: _newlines, chars: _chars, ...view } = blockView(block);
    return { ...view, line_count: lineCount, ...shown, ...(isClamped ? { clamped: { start, end } } : {}) };
  },
});

function checkRange(
  text: Text,
  start: number,
  end: number | undefined,
  column: number | undefined,
): Problem | undefined {
  const { lineCount } = text;
  if (end !== undefined && end < start) {
    const message = `lines ${start}..${end}: the end comes before the start; 0-based, end exclusive`;
    return problem("out_of_range", message, { start, end, line_count: lineCount });
  }
  if (column === undefined) return undefined;
  const from = text.lineStart(start);
  const length = text.lineStart(start + 1) - from;
  if (column > length || start >= lineCount) {
    return problem(
      "out_of_range",
      `column ${column} is past the end of line ${start}, which has ${length} units`,
      {
        line: start,
        column,
        line_chars: length,
      },
    );
  }
  if (text.isCharacterBoundary(from + column)) return undefined;
  return problem("boundary", `column ${column} of line ${start} is inside a character`, {
    line: start,
    column,
    before: column - 1,
    after: column + 1,
  });
}

interface Range {
  readonly start: number;
  readonly end: number;
  /** In the first line. */
  readonly column: number;
}

interface Shown {
  readonly content: string;
  readonly truncated: boolean;
  readonly next?: { readonly start: number; readonly column?: number };
}

/** Whole lines as long as they fit; a line that fits no answer is cut at a character. */
function show(text: Text, { start, end, column }: Range, numbered: boolean, maxBytes: number): Shown {
  const last = Math.min(end, start + limits.readLines);
  const from = text.lineStart(start) + column;
  // A unit is at least one byte: no need to look further than there is room.
  const looked = text.slice(from, Math.min(text.lineStart(last), from + maxBytes + 1));
  const pieces: string[] = [];
  let bytes = 0;
  let line = start;
  for (let at = 0; at < looked.length; line++) {
    const content = looked.slice(at, looked.indexOf("\n", at) + 1 || looked.length);
    const prefix = numbered ? `${lineNumber(line)}\t` : "";
    const room = maxBytes - bytes - prefix.length;
    const size = utf8Length(content);
    if (size > room) {
      if (pieces.length > 0) return cut(pieces, text, { start: line }, end);
      const fitting = headOf(content, room);
      pieces.push(prefix + fitting, "\n");
      return cut(pieces, text, { start: line, column: column + fitting.length }, end);
    }
    pieces.push(prefix, content);
    bytes += prefix.length + size;
    at += content.length;
  }
  if (last < end) return cut(pieces, text, { start: last }, end);
  return { content: pieces.join(""), truncated: false };
}

function headOf(content: string, maxBytes: number): string {
  let bytes = 0;
  let at = 0;
  for (const character of content) {
    bytes += utf8Length(character);
    if (bytes > maxBytes) break;
    at += character.length;
  }
  return content.slice(0, at);
}

function cut(
  pieces: readonly string[],
  text: Text,
  next: { readonly start: number; readonly column?: number },
  end: number,
): Shown {
  const range = JSON.stringify({ ...next, end });
  const marker = `… cut here; the text has ${text.lineCount} lines; read on with range ${range}`;
  return { content: pieces.join("") + marker, truncated: true, next };
}
