/**
 * Unified diffs: read what models and tools really write, find where each hunk belongs, turn it into splices. Pure.
 *
 * Reading is generous: file headers may be missing, hunk headers may be bare or have wrong counts, an empty line may
 * stand for an empty context line, line ends may have been changed on the way. Placing is strict: every context and
 * removed line must be there, the same to the character (the "\r" of a line end aside, and the newline at the very end).
 * A hunk may have moved; where it could belong to several places and nothing decides between them, it is refused.
 *
 * Invariant: all hunks or none, in order, without overlap.
 */

import { limits } from "../model/limits.ts";
import type { Splice } from "../model/op.ts";
import { type Problem, problem } from "../model/problem.ts";
import { hasCrlf, quoteLines, trimmedSplice } from "./line-edit.ts";
import type { Text } from "./text.ts";

export interface HunkLine {
  readonly sign: " " | "+" | "-";
  readonly text: string;
  /** "\ No newline at end of file" follows it. */
  readonly noNewline: boolean;
}

export interface Hunk {
  /** 0-based line of the old text that the header names; undefined where it names none. */
  readonly line: number | undefined;
  readonly lines: readonly HunkLine[];
}

export interface PlacedHunk {
  /** Where it was found, 0-based, in the text before the patch. */
  readonly line: number;
  /** Distance from the line in its header, given how far the one before it was off. */
  readonly offset: number;
  readonly added: number;
  readonly removed: number;
}

export interface HunkError {
  readonly hunk: number;
  readonly message: string;
  readonly expected_line?: number;
  readonly candidates?: readonly number[];
  /** The lines that are there instead, from `expected_line` on; cut where they are too long for an answer. */
  readonly actual?: string;
  readonly actual_cut?: true;
}

export interface PatchPlan {
  readonly splices: readonly Splice[];
  readonly hunks: readonly PlacedHunk[];
}

/** What the patch does to `text`, or the errors of all hunks that cannot be placed. */
export function planPatch(text: Text, patch: string): PatchPlan | { readonly errors: HunkError[] } | Problem {
  const parsed = parsePatch(patch);
  if ("problem" in parsed) return parsed;
  const places = new Places(text);
  const errors: HunkError[] = [];
  const placed = placeAll(places, parsed.hunks, errors);
  if (places.isSpent)
    return problem("too_large", "its hunks match too many places: add context lines or send fewer hunks");
  if (errors.length > 0) return { errors };
  const splices: Splice[] = [];
  const blind = parsed.hunks.every(({ lines }) =>
    lines.every(({ sign, text }) => sign === "+" && !text.endsWith("\r")),
  );
  for (const [i, hunk] of parsed.hunks.entries()) {
    splices.push(...spliceHunk(places, hunk, placed[i] as Place, blind));
  }
  return {
    splices: splices.reverse(),
    hunks: parsed.hunks.map(({ lines }, i) => ({
      line: (placed[i] as Place).line,
      offset: (placed[i] as Place).offset,
      added: lines.filter(({ sign }) => sign === "+").length,
      removed: lines.filter(({ sign }) => sign === "-").length,
    })),
  };
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading

const HEADER = /^@@+\s*-(\d{1,9})(?:,(\d{1,9}))?\s+\+(\d{1,9})(?:,(\d{1,9}))?/;

export function parsePatch(patch: string): { readonly hunks: readonly Hunk[] } | Problem {
  if (patch.length > limits.patchChars) {
    return problem(
      "too_large",
      `the patch has ${patch.length} characters; the limit is ${limits.patchChars}`,
      {
        chars: patch.length,
        max_chars: limits.patchChars,
      },
    );
  }
  const lines = splitPatch(patch);
  const hunks: Hunk[] = [];
  let headers = 0;
  let starts = 0;
  let at = 0;
  if (!lines.some((line) => line.startsWith("@@"))) {
    const first = lines.findIndex(isBody);
    if (first === -1) return notAPatch();
    const body = readUntilHeader(lines, isFileHeader(lines, first) ? first + 2 : first);
    if ("problem" in body) return body;
    return { hunks: [{ line: undefined, lines: body.lines }] };
  }
  while (at < lines.length) {
    const line = lines[at] as string;
    if (isFileHeader(lines, at)) {
      headers++;
      at += 2;
    } else if (line.startsWith("@@")) {
      const hunk = readHunk(lines, at);
      if ("problem" in hunk) return hunk;
      hunks.push(hunk.hunk);
      at = hunk.next;
    } else {
      if (isGitStart(line)) starts++;
      at++; // what stands between hunks is for people: "index", a message
    }
  }
  // A file that is only renamed, or is binary, has a start and no header.
  const files = Math.max(headers, starts);
  if (files > 1) {
    return problem("patch", `the patch changes ${files} files; send only the part for this block`, {
      files,
    });
  }
  return hunks.length === 0 ? notAPatch() : { hunks };
}

/** A patch whose own headers end in CRLF was carried over CRLF: that "\r" belongs to none of its lines. */
function splitPatch(patch: string): string[] {
  const lines = patch.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const headers = lines.filter((line) => line.startsWith("@@"));
  const carried = headers.length > 0 && headers.every((line) => line.endsWith("\r"));
  return carried ? lines.map((line) => line.replace(/\r$/, "")) : lines;
}

function notAPatch(): Problem {
  return problem(
    "patch",
    "it contains no hunk: a hunk is a line @@ -start,count +start,count @@ followed by lines that start with ' ', '-' or '+'",
  );
}

function isBody(line: string): boolean {
  return line[0] === " " || line[0] === "+" || line[0] === "-";
}

function isFileHeader(lines: readonly string[], at: number): boolean {
  return /^--- /.test(lines[at] ?? "") && /^\+\+\+ /.test(lines[at + 1] ?? "");
}

function readHunk(
  lines: readonly string[],
  at: number,
): { readonly hunk: Hunk; readonly next: number } | Problem {
  const header = HEADER.exec(lines[at] as string);
  const counts = header ? { old: Number(header[2] ?? 1), fresh: Number(header[4] ?? 1) } : undefined;
  const body = (counts && readCounted(lines, at + 1, counts)) ?? readUntilHeader(lines, at + 1);
  if ("problem" in body) return body;
  const { next } = body;
  const isInsertion = body.lines.every(({ sign }) => sign === "+");
  // "-5,0" stands behind line 5, "-5,1" at it; added lines alone under a count that is wrong stand nowhere.
  if (header === null || (isInsertion && counts?.old !== 0)) {
    return { hunk: { line: undefined, lines: body.lines }, next };
  }
  const start = Number(header[1]);
  const line = isInsertion ? start : Math.max(0, start - 1);
  return { hunk: { line, lines: body.lines }, next };
}

interface Body {
  readonly lines: readonly HunkLine[];
  readonly next: number;
}

/** As many lines as the header says; undefined if that does not work out. */
function readCounted(
  lines: readonly string[],
  from: number,
  counts: { readonly old: number; readonly fresh: number },
): Body | undefined {
  const body: HunkLine[] = [];
  let { old, fresh } = counts;
  let at = from;
  while (old > 0 || fresh > 0) {
    const line = readLine(lines, at);
    if (line === undefined) return undefined;
    if (line.sign !== "+") old--;
    if (line.sign !== "-") fresh--;
    if (old < 0 || fresh < 0) return undefined;
    body.push(line);
    at += line.noNewline ? 2 : 1;
  }
  const next = lines[at];
  const isSignature = next === "-- " || next === "--";
  if (next !== undefined && isBody(next) && !isSignature && !isFileHeader(lines, at)) return undefined;
  if (body.length === 0) return undefined;
  return { lines: body, next: isSignature ? lines.length : at };
}

/** Counts that are wrong or missing are found by counting: a hunk goes to the next header. */
function readUntilHeader(lines: readonly string[], from: number): Body | Problem {
  let end = from;
  while (end < lines.length && !(lines[end] as string).startsWith("@@") && !isFileStart(lines, end)) end++;
  const next = end;
  while (end > from && (lines[end - 1] as string).trim() === "" && lines[end - 1] !== " ") end--;
  const body: HunkLine[] = [];
  for (let at = from; at < end; ) {
    const line = readLine(lines, at);
    if (line === undefined) {
      return problem("patch", `line ${at + 1} of the patch starts with none of ' ', '-', '+', '@@'`, {
        patch_line: at + 1,
        text: (lines[at] as string).slice(0, 200).toWellFormed(),
      });
    }
    body.push(line);
    at += line.noNewline ? 2 : 1;
  }
  if (body.length === 0)
    return problem("patch", `the hunk before line ${from + 1} of the patch is empty`, { patch_line: from });
  return { lines: body, next };
}

function isFileStart(lines: readonly string[], at: number): boolean {
  return isFileHeader(lines, at) || isGitStart(lines[at] as string);
}

function isGitStart(line: string): boolean {
  return line.startsWith("diff --git ");
}

function readLine(lines: readonly string[], at: number): HunkLine | undefined {
  const line = lines[at];
  if (line === undefined) return undefined;
  const noNewline = (lines[at + 1] ?? "").startsWith("\\");
  // Editors take the blank off an empty context line.
  if (line === "" || line === "\r") return { sign: " ", text: line, noNewline };
  if (!isBody(line)) return undefined;
  return { sign: line[0] as HunkLine["sign"], text: line.slice(1), noNewline };
}

// ---------------------------------------------------------------------------------------------------------------------
// Placing

interface Place {
  readonly line: number;
  readonly offset: number;
  /** Line ends and the newline at the end of the text were left out of the comparison. */
  readonly loose: boolean;
}

/** The text as lines, with an index of where each line occurs, made when it is first needed. */
class Places {
  readonly text: Text;
  readonly lines: readonly string[];
  readonly endsOpen: boolean;
  #exact: Map<string, number[]> | undefined;
  #loose: Map<string, number[]> | undefined;
  #looks: number = limits.patchLooks;

  constructor(text: Text) {
    this.text = text;
    this.lines = text.lines(0, text.lineCount);
    this.endsOpen = text.length > 0 && !text.endsWithNewline;
  }

  /** Whether more lines were looked at than may be. From then on no place is found. */
  get isSpent(): boolean {
    return this.#looks < 0;
  }

  /** Whether the hunk's old lines are at `line`. */
  fits(old: readonly HunkLine[], line: number, loose: boolean): boolean {
    if (line < 0 || line + old.length > this.lines.length) return false;
    for (const [i, { text, noNewline }] of old.entries()) {
      const there = this.lines[line + i] as string;
      if (loose ? bare(there) !== bare(text) : there !== text) return false;
      const isOpen = this.endsOpen && line + i === this.lines.length - 1;
      if (noNewline ? !isOpen : isOpen && !loose) return false;
    }
    return true;
  }

  /** Every line in `from..to` at which the hunk fits; looks only where its rarest line is. */
  all(old: readonly HunkLine[], from: number, to: number, loose: boolean): number[] {
    const index = this.#index(loose);
    let rarest: { readonly at: number; readonly where: readonly number[] } | undefined;
    for (const [at, { text }] of old.entries()) {
      const where = index.get(loose ? bare(text) : text) ?? [];
      if (rarest === undefined || where.length < rarest.where.length) rarest = { at, where };
    }
    const { at, where } = rarest ?? { at: 0, where: [] };
    this.#looks -= where.length * old.length;
    if (this.isSpent) return [];
    return where
      .map((line) => line - at)
      .filter((line) => line >= from && line <= to && this.fits(old, line, loose));
  }

  #index(loose: boolean): Map<string, number[]> {
    const known = loose ? this.#loose : this.#exact;
    if (known) return known;
    const index = new Map<string, number[]>();
    for (const [i, line] of this.lines.entries()) {
      const key = loose ? bare(line) : line;
      const where = index.get(key);
      if (where) where.push(i);
      else index.set(key, [i]);
    }
    if (loose) this.#loose = index;
    else this.#exact = index;
    return index;
  }
}

function bare(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

function oldLines(hunk: Hunk): HunkLine[] {
  return hunk.lines.filter(({ sign }) => sign !== "+");
}

function placeAll(places: Places, hunks: readonly Hunk[], errors: HunkError[]): (Place | undefined)[] {
  const placed: (Place | undefined)[] = [];
  let from = 0;
  let drift = 0;
  for (const [i, hunk] of hunks.entries()) {
    if (places.isSpent) break;
    const place = placeHunk(places, hunks, i, from, drift);
    if ("message" in place) {
      errors.push(place);
      placed.push(undefined);
      continue;
    }
    placed.push(place);
    from = place.line + oldLines(hunk).length;
    drift = hunk.line === undefined ? drift : place.line - hunk.line;
  }
  return placed;
}

function placeHunk(
  places: Places,
  hunks: readonly Hunk[],
  i: number,
  from: number,
  drift: number,
): Place | HunkError {
  const hunk = hunks[i] as Hunk;
  const old = oldLines(hunk);
  if (old.length === 0) return placeInsertion(places, hunk, i, from, drift);
  const expected = hunk.line === undefined ? undefined : hunk.line + drift;
  if (expected !== undefined && expected >= from) {
    for (const loose of [false, true]) {
      if (places.fits(old, expected, loose)) return { line: expected, offset: 0, loose };
    }
  }
  for (const loose of [false, true]) {
    const found = choose(places, hunks, i, from, expected, loose);
    if (found !== undefined) return found;
  }
  return notFound(places, old, i, from, expected);
}

/** The only place, or the nearest one to where the header says; undefined if there is none. */
function choose(
  places: Places,
  hunks: readonly Hunk[],
  i: number,
  from: number,
  expected: number | undefined,
  loose: boolean,
): Place | HunkError | undefined {
  const old = oldLines(hunks[i] as Hunk);
  const near = expected === undefined ? places.lines.length : limits.patchSearchLines;
  const middle = expected ?? 0;
  const all = places.all(old, Math.max(from, middle - near), middle + near, loose);
  const [only, second] = all;
  if (only === undefined) return undefined;
  const at = (line: number): Place => ({ line, offset: expected === undefined ? 0 : line - expected, loose });
  if (second === undefined) return at(only);
  // Those behind which the next hunks still find their only places.
  const last = lastStart(places, hunks, i, loose);
  const possible = all.filter((line) => line <= last);
  const ranked = (possible.length === 0 ? all : possible).toSorted(
    (a, b) => Math.abs(a - middle) - Math.abs(b - middle),
  );
  const [nearest, next] = ranked as [number, number | undefined];
  if (next === undefined) return at(nearest);
  if (expected !== undefined && Math.abs(nearest - middle) < Math.abs(next - middle)) return at(nearest);
  return {
    hunk: i,
    message: `its lines are at several places (${ranked.slice(0, 5).join(", ")}) and its header does not say which; add context lines or a line number`,
    ...(expected === undefined ? {} : { expected_line: expected }),
    candidates: ranked.slice(0, 20),
  };
}

/** The last line at which hunk `i` may start, given that a later hunk has one place only. */
function lastStart(places: Places, hunks: readonly Hunk[], i: number, loose: boolean): number {
  let room = oldLines(hunks[i] as Hunk).length;
  for (const hunk of hunks.slice(i + 1)) {
    const old = oldLines(hunk);
    if (old.length === 0) continue;
    const [only, second] = places.all(old, 0, places.lines.length, loose);
    if (places.isSpent) break;
    if (only !== undefined && second === undefined) return only - room;
    room += old.length;
  }
  return Number.POSITIVE_INFINITY;
}

/** A hunk of added lines alone: there is nothing to look for, so its header must say where. */
function placeInsertion(
  places: Places,
  hunk: Hunk,
  i: number,
  from: number,
  drift: number,
): Place | HunkError {
  const count = places.lines.length;
  if (count === 0) return { line: 0, offset: 0, loose: true };
  if (hunk.line === undefined) {
    return {
      hunk: i,
      message: "it adds lines without context and its header does not say after which line (-N,0)",
    };
  }
  const line = hunk.line + drift;
  if (line < from || line > count) {
    return { hunk: i, message: `it adds lines after line ${line} of ${count}`, expected_line: line };
  }
  return { line, offset: 0, loose: true };
}

function notFound(
  places: Places,
  old: readonly HunkLine[],
  i: number,
  from: number,
  expected: number | undefined,
): HunkError {
  const before = places.all(old, 0, from - 1, true);
  if (before.length > 0) {
    return {
      hunk: i,
      message: `its lines are at ${before.slice(0, 5).join(", ")} only, before the end of the previous hunk (line ${from}); hunks must be in order and must not overlap`,
      candidates: before.slice(0, 20),
    };
  }
  const unmarked = old.map((line) => ({ ...line, noNewline: false }));
  const [marked] = old.some(({ noNewline }) => noNewline)
    ? places.all(unmarked, from, places.lines.length, true)
    : [];
  if (marked !== undefined) {
    return {
      hunk: i,
      message: `its lines are at ${marked}, but it says "\\ No newline at end of file" where the text has a newline; remove that line from the patch`,
      candidates: [marked],
    };
  }
  if (expected === undefined)
    return { hunk: i, message: "its context and removed lines are not in the text" };
  const differs = old.findIndex(({ text }, k) => bare(places.lines[expected + k] ?? "\n") !== bare(text));
  const where =
    differs === -1
      ? ""
      : `; at line ${expected + differs} it expects ${JSON.stringify((old[differs] as HunkLine).text.slice(0, 200).toWellFormed())}`;
  return {
    hunk: i,
    message: `its context and removed lines do not match the text exactly${where}`,
    expected_line: expected,
    ...actualAt(places, expected, old.length),
  };
}

/** The lines that stand where the hunk should go. */
function actualAt({ text }: Places, line: number, count: number): Pick<HunkError, "actual" | "actual_cut"> {
  const { text: actual, isCut } = quoteLines(text, line, line + count);
  return isCut ? { actual, actual_cut: true } : { actual };
}

// ---------------------------------------------------------------------------------------------------------------------
// Splices

/**
 * The splices of a placed hunk, first to last, in offsets of the text before the patch. `blind`: the patch has no old
 * lines at all, so it cannot know the text's line ends.
 */
function spliceHunk(places: Places, hunk: Hunk, place: Place, blind: boolean): Splice[] {
  const { text, lines } = places;
  const old = oldLines(hunk);
  // Line ends differ between patch and text: then added lines end as the text's do.
  const translated = blind || old.some((line, k) => lines[place.line + k] !== line.text);
  const eol = hasCrlf(text) ? "\r\n" : "\n";
  const added = ({ text: line, noNewline }: HunkLine): string => {
    const content = translated ? bare(line) : line;
    return noNewline ? content : content + (translated ? eol : "\n");
  };
  const reachesEnd = places.endsOpen && place.line + old.length === lines.length;
  if (place.loose && reachesEnd) return spliceOpenEnd(places, hunk, place, added);
  const splices: Splice[] = [];
  let line = place.line;
  for (let i = 0; i < hunk.lines.length; ) {
    if ((hunk.lines[i] as HunkLine).sign === " ") {
      line++;
      i++;
      continue;
    }
    let ins = "";
    const first = line;
    for (; i < hunk.lines.length && (hunk.lines[i] as HunkLine).sign !== " "; i++) {
      const changed = hunk.lines[i] as HunkLine;
      if (changed.sign === "-") line++;
      else ins += added(changed);
    }
    const splice = trimmedSplice(text, text.lineStart(first), text.lineStart(line), ins);
    if (splice) splices.push(splice);
  }
  return splices;
}

/** At the end of a text without a final newline, of which the patch says nothing: a new last line has none either. */
function spliceOpenEnd(
  { text, lines }: Places,
  hunk: Hunk,
  place: Place,
  added: (line: HunkLine) => string,
): Splice[] {
  const eol = hasCrlf(text) ? "\r\n" : "\n";
  const from = text.lineStart(place.line);
  let line = place.line;
  // With no old lines the hunk stands behind the last line, which has to end first.
  let result = line === lines.length ? eol : "";
  let isOpen = false;
  for (const changed of hunk.lines) {
    if (changed.sign === "+") result += added(changed);
    else if (changed.sign === " ") result += (lines[line] as string) + (line + 1 < lines.length ? "\n" : eol);
    if (changed.sign !== "-") isOpen = changed.sign === "+" || line + 1 === lines.length;
    if (changed.sign !== "+") line++;
  }
  const said = hunk.lines.some(({ noNewline }) => noNewline);
  const splice = trimmedSplice(
    text,
    from,
    text.length,
    said || !isOpen ? result : result.replace(/\r?\n$/, ""),
  );
  return splice ? [splice] : [];
}
