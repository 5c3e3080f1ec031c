/**
 * Line edits: a batch of inserts, deletes and replaces by line number, planned on one text and turned into splices.
 * Pure: it reads texts and returns splices or a problem; it writes nothing.
 *
 * Lines are 0-based, ends exclusive, as in text.ts. All numbers of a batch refer to the same base text. If the base is
 * older than the current text, `Since` has the changes in between, and every line in question must still exist,
 * unchanged; otherwise the answer is `stale` with the current lines.
 *
 * Invariant: the whole batch or nothing. A batch is refused before its first splice is made.
 */

import { limits } from "../model/limits.ts";
import type { Splice } from "../model/op.ts";
import { type Problem, problem } from "../model/problem.ts";
import { eolOf, withEol, withoutReturns } from "./line-end.ts";
import { type QuotedLines, quoteLines } from "./quoted-lines.ts";
import { mapOffset, type Text } from "./text.ts";
import { trimmedSplice } from "./trimmed-splice.ts";

export type LineOperation =
  | { readonly op: "insert"; readonly line: number; readonly content: string }
  | {
      readonly op: "delete";
      readonly start_line: number;
      readonly end_line: number;
      readonly expected_text?: string | undefined;
    }
  | {
      readonly op: "replace";
      readonly start_line: number;
      readonly end_line: number;
      readonly content: string;
      readonly expected_text?: string | undefined;
    };

/**
 * From a base version to the present: the splices in order. `blurredFrom`: the base version lies inside a merged run that
 * starts at this offset; how much of the run was there is not known, and the base text holds all of it.
 */
export interface Since {
  readonly splices: readonly Splice[];
  readonly blurredFrom?: number;
}

/** One replacement of `from..to` in the present text. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly content: string;
  /** What must follow the content: whole lines inside a text, nothing at the end of one without a final newline. */
  readonly isInsert: boolean;
}

const NOTHING: Since = { splices: [] };

/** The splices that the batch comes to, or why none of it is done. `version` is that of `now`, for problems. */
export function planLines(
  now: Text,
  operations: readonly LineOperation[],
  version: number,
  since: Since = NOTHING,
): Splice[] | Problem {
  const base = since.splices.length === 0 ? now : now.revert(since.splices);
  const refused = checkRanges(base, operations, version) ?? checkOverlaps(operations);
  if (refused) return refused;
  const edits: Edit[] = [];
  for (const [index, operation] of operations.entries()) {
    const edit = place({ base, now, since, version }, operation, index);
    if ("problem" in edit) return edit;
    edits.push(edit);
  }
  return toSplices(now, edits);
}

// ---------------------------------------------------------------------------------------------------------------------
// Checks that need the numbers only

function checkRanges(base: Text, operations: readonly LineOperation[], version: number): Problem | undefined {
  const count = base.lineCount;
  for (const [index, operation] of operations.entries()) {
    const { op } = operation;
    const where = { operation: index, line_count: count, version };
    if (op === "insert") {
      if (operation.line <= count) continue;
      return problem(
        "out_of_range",
        `operation ${index}: insert at line ${operation.line} of ${count}; lines are 0-based, ${count} appends`,
        { ...where, line: operation.line },
      );
    }
    const { start_line, end_line } = operation;
    const numbers = { ...where, start_line, end_line };
    if (start_line >= end_line) {
      return problem(
        "out_of_range",
        `operation ${index}: ${op} of lines ${start_line}..${end_line} is empty; end_line is exclusive. ` +
          "To add lines, use insert",
        numbers,
      );
    }
    if (end_line > count) {
      return problem(
        "out_of_range",
        `operation ${index}: ${op} of lines ${start_line}..${end_line} (exclusive) of ${count}; lines are 0-based`,
        numbers,
      );
    }
  }
  return undefined;
}

/** Two ranges may touch, not share a line; an insert may stand at a range's edges, not inside it. */
function checkOverlaps(operations: readonly LineOperation[]): Problem | undefined {
  const spans = operations
    .map((operation, index) =>
      operation.op === "insert"
        ? { index, start: operation.line, end: operation.line }
        : { index, start: operation.start_line, end: operation.end_line },
    )
    .sort((a, b) => a.start - b.start || a.end - b.end);
  let widest: (typeof spans)[number] | undefined;
  for (const span of spans) {
    if (
      widest !== undefined &&
      span.start < widest.end &&
      (span.end > span.start || span.start > widest.start)
    )
      return overlap(widest, span);
    if (widest === undefined || span.end >= widest.end) widest = span;
  }
  return undefined;
}

interface LineSpan {
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

function overlap(a: LineSpan, b: LineSpan): Problem {
  const [first, second] = a.index < b.index ? [a, b] : [b, a];
  const lines = ({ start, end }: LineSpan) =>
    start === end ? `insert at ${start}` : `lines ${start}..${end}`;
  return problem(
    "overlap",
    `operations ${first.index} (${lines(first)}) and ${second.index} (${lines(second)}) overlap; ` +
      "all line numbers refer to the text before the batch",
    {
      operations: [first.index, second.index],
      lines: [
        [first.start, first.end],
        [second.start, second.end],
      ],
    },
  );
}

// ---------------------------------------------------------------------------------------------------------------------
// From lines of the base to places in the present text

interface EditBase {
  readonly base: Text;
  readonly now: Text;
  readonly since: Since;
  readonly version: number;
}

function place(editBase: EditBase, operation: LineOperation, index: number): Edit | Problem {
  if (operation.op === "insert") return placeInsert(editBase, operation.line, operation.content, index);
  const { start_line, end_line, expected_text } = operation;
  const range = carryRange(editBase, start_line, end_line, index);
  if ("problem" in range) return range;
  if (expected_text !== undefined) {
    const refused = checkExpected(editBase, operation, index, expected_text);
    if (refused) return refused;
  }
  return { ...range, content: operation.op === "delete" ? "" : operation.content, isInsert: false };
}

function checkExpected(
  { base, version }: EditBase,
  { start_line, end_line }: { readonly start_line: number; readonly end_line: number },
  index: number,
  expected: string,
): Problem | undefined {
  const start = base.lineStart(start_line);
  const end = base.lineStart(end_line);
  // Longer by more than every "\r" and the last newline: no need to build the strings.
  if (expected.length <= end - start + (end_line - start_line) + 2) {
    const actual = base.lines(start_line, end_line).join("\n");
    if (isSameText(actual, expected)) return undefined;
  }
  return problem(
    "mismatch",
    `operation ${index}: lines ${start_line}..${end_line} do not match expected_text; nothing was changed`,
    {
      ...{ operation: index, start_line, end_line, version },
      ...expectedDetails(expected),
      ...actualDetails(quoteLines(base, start_line, end_line)),
    },
  );
}

function expectedDetails(expected: string): Record<string, unknown> {
  if (expected.length <= limits.problemChars) return { expected };
  return { expected: expected.slice(0, limits.problemChars).toWellFormed(), expected_cut: true };
}

function actualDetails({ text, isCut }: QuotedLines): Record<string, unknown> {
  return isCut ? { actual: text, actual_cut: true } : { actual: text };
}

/** Exactly, or but for "\r" before line ends and one newline at the end of what was expected. */
function isSameText(actual: string, expected: string): boolean {
  if (actual === expected || `${actual}\n` === expected) return true;
  const plain = withoutReturns(actual);
  const wanted = withoutReturns(expected);
  return plain === wanted || `${plain}\n` === wanted;
}

function placeInsert(editBase: EditBase, line: number, content: string, index: number): Edit | Problem {
  const { base, now, since } = editBase;
  const at = base.lineStart(line);
  const atEnd = line === base.lineCount;
  const carried = carryPoint(at, since.splices, atEnd ? -1 : 1);
  const blurred = since.blurredFrom !== undefined && at > since.blurredFrom;
  const found = carried === undefined || blurred ? undefined : lineEdge(now, carried);
  if (found === undefined) return stale(editBase, index, { from: at, to: at });
  return { from: found, to: found, content, isInsert: true };
}

function carryRange(
  editBase: EditBase,
  startLine: number,
  endLine: number,
  index: number,
): { readonly from: number; readonly to: number } | Problem {
  const { base, now, since } = editBase;
  const start = base.lineStart(startLine);
  const end = base.lineStart(endLine);
  if (since.splices.length === 0 && since.blurredFrom === undefined) return { from: start, to: end };
  const from = mapOffset(start, since.splices, 1);
  const to = mapOffset(end, since.splices, -1);
  const blurred = since.blurredFrom !== undefined && end > since.blurredFrom;
  const isThere = to - from === end - start && now.slice(from, to) === base.slice(start, end);
  const edge = isThere && !blurred && now.isLineBoundary(from) ? lineEdge(now, to) : undefined;
  return edge === undefined ? stale(editBase, index, { from: start, to: end }) : { from, to: edge };
}

/** Where a place has come to lie; undefined if what was on both sides of it is gone. */
function carryPoint(offset: number, splices: readonly Splice[], side: -1 | 1): number | undefined {
  let at = offset;
  for (const splice of splices) {
    if (splice.at < at && at < splice.at + splice.del.length) return undefined;
    at = mapOffset(at, [splice], side);
  }
  return at;
}

/** The line boundary at `offset`; the last line of a text may have got its newline since. */
function lineEdge(now: Text, offset: number): number | undefined {
  if (now.isLineBoundary(offset)) return offset;
  if (now.slice(offset, offset + 1) === "\n") return offset + 1;
  if (now.slice(offset, offset + 2) === "\r\n") return offset + 2;
  return undefined;
}

function stale(
  { base, now, since, version }: EditBase,
  index: number,
  range: { from: number; to: number },
): Problem {
  const from = mapOffset(range.from, since.splices, -1);
  const to = mapOffset(range.to, since.splices, 1);
  const [low, high] = from < to ? [from, to] : [to, from];
  const start = now.lineAt(low);
  const isWhole = high > low && now.slice(high - 1, high) === "\n";
  const end = Math.min(now.lineCount, now.lineAt(high) + (isWhole ? 0 : 1));
  const fresh = quoteLines(now, start, end);
  return problem(
    "stale",
    `operation ${index}: its lines have changed since base_version; these are the lines at version ${version}`,
    {
      operation: index,
      version,
      line_count: now.lineCount,
      base_line_count: base.lineCount,
      fresh_start: Math.min(start, end),
      fresh_end: end,
      fresh: fresh.text,
      ...(fresh.isCut ? { fresh_cut: true } : {}),
    },
  );
}

// ---------------------------------------------------------------------------------------------------------------------
// Splices

/**
 * Contents become whole lines, then splices, last one first, so that no splice moves another. Inserts at one place stay
 * in the order of the batch, before a range that starts there and behind one that ends there.
 */
function toSplices(now: Text, edits: readonly Edit[]): Splice[] {
  const eol = eolOf(now);
  const sorted = edits
    .map((edit, order) => ({ edit, order }))
    .sort((a, b) => a.edit.from - b.edit.from || a.edit.to - b.edit.to || a.order - b.order);
  const splices: Splice[] = [];
  let end = 0; // of the present text that is settled
  let tail = ""; // the last unit before `end`, as edited
  for (const { edit } of sorted) {
    const before = edit.from > end ? now.slice(edit.from - 1, edit.from) : tail;
    const ins = edit.isInsert ? insertedLines(now, edit, before, eol) : replacedLines(now, edit, eol);
    const last = splices.at(-1);
    if (edit.isInsert && last !== undefined && last.at === edit.from && last.del === "") {
      splices[splices.length - 1] = { ...last, ins: last.ins + ins };
    } else {
      const splice = trimmedSplice(now, edit.from, edit.to, ins);
      if (splice) splices.push(splice);
    }
    end = edit.to;
    tail = ins === "" ? before : ins.slice(-1);
  }
  return splices.reverse();
}

function insertedLines(now: Text, edit: Edit, before: string, eol: string): string {
  const content = withEol(edit.content === "" ? "\n" : edit.content, eol);
  if (edit.from < now.length || (now.length > 0 && now.endsWithNewline)) {
    return content.endsWith("\n") ? content : content + eol;
  }
  // The end of a text without a final newline, or the empty text: the content's own end is the text's.
  return before === "" || before === "\n" ? content : eol + content;
}

function replacedLines(now: Text, edit: Edit, eol: string): string {
  if (edit.content === "") return "";
  const content = withEol(edit.content, eol);
  const endedLine = now.slice(edit.to - 1, edit.to) === "\n";
  return endedLine && !content.endsWith("\n") ? content + eol : content;
}
