/**
 * Diffs as rows: a unified diff, or a text before and after, becomes lines with their numbers on both sides and the words
 * that changed in them. Pure; tolerant of what agents print (missing headers, wrong counts, no newline at the end).
 */

import { diffArrays, diffWordsWithSpace } from "diff";
import { EDIT_DIFF_MS, MARKED_LINE_CHARS } from "./limits.ts";

export interface DiffRow {
  readonly type: "same" | "add" | "delete" | "hunk" | "note";
  readonly old?: number;
  readonly new?: number;
  readonly text: string;
  /** The positions of the changed words in the text. */
  readonly marks?: readonly (readonly [number, number])[];
}

const HUNK = /^@@ -(\d{1,9})(?:,(\d+))? \+(\d{1,9})(?:,(\d+))? @@ ?(.*)$/;
const HEADER =
  /^(diff --git |index |--- |\+\+\+ |new file mode|deleted file mode|old mode|new mode|similarity |rename |copy )/;
/** Lines that have less in common than this are two lines, not a changed one. */
const MARK_SHARE = 0.4;

export function diffRows(diff: string): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  // NaN if the number is unknown.
  let oldLine = 1;
  let newLine = 1;
  let isInside = !/^@@ /m.test(diff);
  const lines = diff.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const line of lines) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      oldLine = firstLine(hunk[1], hunk[2]);
      newLine = firstLine(hunk[3], hunk[4]);
      isInside = true;
      rows.push({ type: "hunk", text: hunk[5] ?? "" });
    } else if (line.startsWith("@@")) {
      isInside = true;
      rows.push({ type: "hunk", text: line.replace(/^@@ ?/, "") });
    } else if (isHeader(line, isInside)) {
      isInside = isInside && !line.startsWith("diff --git ");
    } else if (line.startsWith("+"))
      rows.push({ type: "add", ...numbered("new", newLine++), text: line.slice(1) });
    else if (line.startsWith("-"))
      rows.push({ type: "delete", ...numbered("old", oldLine++), text: line.slice(1) });
    else if (line.startsWith("\\")) rows.push({ type: "note", text: line.slice(1).trim() });
    // A text without signs is no diff, but a tool's message instead: nothing of it is removed.
    else
      rows.push({
        type: "same",
        ...numbered("old", oldLine++),
        ...numbered("new", newLine++),
        text: line.replace(/^ /, ""),
      });
  }
  return withMarks(startsAtTop(rows) ? rows.slice(1) : rows);
}

/** A range of lines that starts at 0 has no place in the file: a requested edit. */
function firstLine(start: string | undefined, count: string | undefined): number {
  return start === "0" && count !== "0" ? Number.NaN : Number(start);
}

function numbered(side: "old" | "new", line: number): { old?: number; new?: number } {
  return Number.isNaN(line) ? {} : { [side]: line };
}

/** A first hunk that leaves nothing out above it, or has no place, needs no line of its own. */
function startsAtTop([hunk, next]: readonly DiffRow[]): boolean {
  return hunk?.type === "hunk" && hunk.text === "" && (next?.old ?? next?.new ?? 1) === 1;
}

/** A line of `---` inside a hunk is a deleted `--`: headers count only outside, or as the pair that they are. */
function isHeader(line: string, isInside: boolean): boolean {
  if (!isInside) return true;
  return HEADER.test(line) && !/^(--- |\+\+\+ )/.test(line)
    ? true
    : /^(--- (a\/|\/)|\+\+\+ (b\/|\/))/.test(line);
}

/** The difference of two complete texts, such as an edit's old and new text. */
export function editRows(before: string, after: string): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  let oldLine = 1;
  let newLine = 1;
  const parts = diffArrays(linesOf(before), linesOf(after), { timeout: EDIT_DIFF_MS }) ?? [
    { removed: true, added: false, value: linesOf(before) },
    { removed: false, added: true, value: linesOf(after) },
  ];
  for (const part of parts) {
    for (const text of part.value) {
      if (part.added) rows.push({ type: "add", new: newLine++, text });
      else if (part.removed) rows.push({ type: "delete", old: oldLine++, text });
      else rows.push({ type: "same", old: oldLine++, new: newLine++, text });
    }
  }
  return withMarks(rows);
}

export interface SplitRow {
  readonly left?: DiffRow;
  readonly right?: DiffRow;
}

/** The same rows side by side: deleted lines beside their replacements. */
export function splitRows(rows: readonly DiffRow[]): readonly SplitRow[] {
  const split: SplitRow[] = [];
  for (let i = 0; i < rows.length; ) {
    const row = rows[i] as DiffRow;
    if (row.type !== "delete" && row.type !== "add") {
      split.push({ left: row, right: row });
      i++;
      continue;
    }
    const deleted = takeWhile(rows, i, "delete");
    const added = takeWhile(rows, i + deleted.length, "add");
    for (let j = 0; j < Math.max(deleted.length, added.length); j++) {
      const [left, right] = [deleted[j], added[j]];
      split.push({ ...(left ? { left } : {}), ...(right ? { right } : {}) });
    }
    i += deleted.length + added.length;
  }
  return split;
}

export function countChanges(rows: readonly DiffRow[]): { added: number; deleted: number } {
  return {
    added: rows.filter((row) => row.type === "add").length,
    deleted: rows.filter((row) => row.type === "delete").length,
  };
}

/** Finds the words that changed in lines that were replaced one for one. */
function withMarks(rows: readonly DiffRow[]): readonly DiffRow[] {
  const marked = [...rows];
  for (let i = 0; i < rows.length; i++) {
    if (rows[i]?.type !== "delete") continue;
    const deleted = takeWhile(rows, i, "delete");
    const added = takeWhile(rows, i + deleted.length, "add");
    for (let j = 0; j < Math.min(deleted.length, added.length); j++) {
      const marks = wordMarks((deleted[j] as DiffRow).text, (added[j] as DiffRow).text);
      if (!marks) continue;
      marked[i + j] = { ...(deleted[j] as DiffRow), marks: marks.old };
      marked[i + deleted.length + j] = { ...(added[j] as DiffRow), marks: marks.new };
    }
    i += deleted.length + added.length - 1;
  }
  return marked;
}

type Marks = readonly (readonly [number, number])[];

function wordMarks(before: string, after: string): { old: Marks; new: Marks } | undefined {
  if (before.length > MARKED_LINE_CHARS || after.length > MARKED_LINE_CHARS) return undefined;
  const oldMarks: [number, number][] = [];
  const newMarks: [number, number][] = [];
  let [oldAt, newAt, same] = [0, 0, 0];
  for (const { value, added, removed } of diffWordsWithSpace(before, after)) {
    const { length } = value;
    if (added) {
      newMarks.push([newAt, newAt + length]);
      newAt += length;
    } else if (removed) {
      oldMarks.push([oldAt, oldAt + length]);
      oldAt += length;
    } else {
      oldAt += length;
      newAt += length;
      same += value.trim().length;
    }
  }
  const longest = Math.max(before.trim().length, after.trim().length);
  return longest > 0 && same / longest >= MARK_SHARE ? { old: oldMarks, new: newMarks } : undefined;
}

function takeWhile(rows: readonly DiffRow[], from: number, type: DiffRow["type"]): readonly DiffRow[] {
  let end = from;
  while (rows[end]?.type === type) end++;
  return rows.slice(from, end);
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
