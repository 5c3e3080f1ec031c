/**
 * Where the hunks of a patch belong in a text. Pure; it parses no patch and makes no splices.
 *
 * Placing is strict: every context and removed line must match exactly (except for the "\r" of a line end and the
 * newline at the very end). A hunk may have moved; if it fits at several places and nothing decides between them, it is
 * refused.
 *
 * Invariant: hunks keep their order and do not overlap.
 */

import { limits } from "../model/limits.ts";
import { type Hunk, type HunkLine, oldLines } from "./hunk.ts";
import { bareLine } from "./line-end.ts";
import { quoteLines } from "./quoted-lines.ts";
import type { Text } from "./text.ts";

export interface Place {
  readonly line: number;
  readonly offset: number;
  /** Line ends and the newline at the end of the text were left out of the comparison. */
  readonly loose: boolean;
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

/** The places of all hunks; what cannot be placed is told in `errors`. */
export function placeAll(places: Places, hunks: readonly Hunk[], errors: HunkError[]): (Place | undefined)[] {
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

/** The text as lines, with an index of where each line occurs, made when it is first needed. */
export class Places {
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
      if (loose ? bareLine(there) !== bareLine(text) : there !== text) return false;
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
      const where = index.get(loose ? bareLine(text) : text) ?? [];
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
      const key = loose ? bareLine(line) : line;
      const where = index.get(key);
      if (where) where.push(i);
      else index.set(key, [i]);
    }
    if (loose) this.#loose = index;
    else this.#exact = index;
    return index;
  }
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
  const differs = old.findIndex(
    ({ text }, k) => bareLine(places.lines[expected + k] ?? "\n") !== bareLine(text),
  );
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
