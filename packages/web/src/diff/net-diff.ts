/**
 * The net change of a file that was edited several times: its consecutive diffs, combined into one. A diff knows only
 * the lines near its changes, so the file is a sequence of known lines and unknown stretches. Pure. Undefined if it
 * cannot be computed: a diff without positions, or one that does not fit the result of the earlier ones.
 */
import { type DiffRow, diffRows, editRows } from "./diff-rows.ts";
import { CONTEXT_LINES } from "./limits.ts";

/** Lines that nobody has shown, from this one of the first file on. */
interface Stretch {
  readonly type: "stretch";
  readonly old: number;
  readonly count: number;
}

/** A line that is there now. Without `old` it was not at first. */
interface Line {
  readonly type: "line";
  readonly text: string;
  readonly old?: number;
}

/** A line that was there at first, where it stood. */
interface Gone {
  readonly type: "gone";
  readonly text: string;
  readonly old: number;
}

type Part = Stretch | Line | Gone;

export function netRows(diffs: readonly string[]): readonly DiffRow[] | undefined {
  let file: readonly Part[] = [{ type: "stretch", old: 1, count: Number.POSITIVE_INFINITY }];
  for (const diff of diffs) {
    const after = applied(file, diff);
    if (!after) return undefined;
    file = after;
  }
  return drawn(file);
}

/** The file after one more diff; its rows are met from the top down. */
function applied(file: readonly Part[], diff: string): readonly Part[] | undefined {
  const rows = diffRows(diff).filter(({ type }) => type === "same" || type === "add" || type === "delete");
  if (rows.length === 0) return undefined;
  const left = [...file];
  const done: Part[] = [];
  let at = 1; // the line of this diff's old file that is next
  let grown = 0; // lines that it has added so far, less those that it has deleted
  for (const row of rows) {
    const place = row.type === "add" ? (row.new ?? Number.NaN) - grown : (row.old ?? Number.NaN);
    if (!(place >= at) || skipTo(left, done, at, place) !== place) return undefined;
    at = place;
    if (row.type === "add") {
      done.push({ type: "line", text: row.text });
      grown++;
      continue;
    }
    const line = takeLine(left, done, row.text);
    if (!line) return undefined;
    at++;
    if (row.type === "same") done.push(line);
    else {
      grown--;
      if (line.old !== undefined) done.push({ type: "gone", text: line.text, old: line.old });
    }
  }
  return [...done, ...left];
}

/** Passes over what lies before a line; the line that was come to. */
function skipTo(left: Part[], done: Part[], from: number, to: number): number {
  let at = from;
  while (at < to) {
    const part = left.shift();
    if (!part) break;
    if (part.type !== "stretch") {
      done.push(part);
      if (part.type === "line") at++;
      continue;
    }
    const count = Math.min(part.count, to - at);
    done.push({ ...part, count });
    if (part.count > count)
      left.unshift({ type: "stretch", old: part.old + count, count: part.count - count });
    at += count;
  }
  return at;
}

/** The next line, if it is this one; what is gone before it stays where it was. */
function takeLine(left: Part[], done: Part[], text: string): Line | undefined {
  for (;;) {
    const part = left.shift();
    if (part?.type === "gone") done.push(part);
    else if (part?.type === "line") return part.text === text ? part : undefined;
    else if (!part) return undefined;
    else {
      if (part.count > 1) left.unshift({ type: "stretch", old: part.old + 1, count: part.count - 1 });
      return { type: "line", text, old: part.old };
    }
  }
}

/** Changed places with the lines around them, a row of its own where lines are left out. */
function drawn(file: readonly Part[]): readonly DiffRow[] {
  const all = numberedRows(file);
  const changes = all.flatMap((row, i) => (row !== "gap" && row.type !== "same" ? [i] : []));
  const isNear = (at: number) => changes.some((i) => Math.abs(i - at) <= CONTEXT_LINES);
  const rows: DiffRow[] = [];
  let isCut = false;
  all.forEach((row, i) => {
    if (row === "gap" || !isNear(i)) isCut = true;
    else {
      const first = row.old ?? row.new;
      if (isCut && !(rows.length === 0 && first === 1)) rows.push({ type: "hunk", text: "" });
      isCut = false;
      rows.push(row);
    }
  });
  return rows;
}

function numberedRows(file: readonly Part[]): readonly (DiffRow | "gap")[] {
  const rows: (DiffRow | "gap")[] = [];
  let now = 1;
  for (let i = 0; i < file.length; ) {
    const part = file[i] as Part;
    if (part.type === "stretch") {
      rows.push("gap");
      now += part.count;
      i++;
    } else if (part.type === "line" && part.old !== undefined) {
      rows.push({ type: "same", old: part.old, new: now++, text: part.text });
      i++;
    } else {
      const changed: Part[] = [];
      for (let next = file[i]; next && isChanged(next); next = file[++i]) changed.push(next);
      rows.push(...changedRows(changed, now));
      now += changed.filter(({ type }) => type === "line").length;
    }
  }
  return rows;
}

function isChanged(part: Part): boolean {
  return part.type === "gone" || (part.type === "line" && part.old === undefined);
}

/** What was deleted and what took its place; a line that came back has not changed. */
function changedRows(parts: readonly Part[], from: number): readonly DiffRow[] {
  const gone = parts.flatMap((part) => (part.type === "gone" ? [part] : []));
  const come = parts.flatMap((part) => (part.type === "line" ? [part.text] : []));
  const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
  return editRows(text(gone.map((part) => part.text)), text(come)).map((row) => ({
    ...row,
    ...(row.old === undefined ? {} : { old: (gone[row.old - 1] as Gone).old }),
    ...(row.new === undefined ? {} : { new: from + row.new - 1 }),
  }));
}
