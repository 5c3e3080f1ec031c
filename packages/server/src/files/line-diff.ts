/**
 * How one text differs from another, by lines. Lines include their newline, so a missing one at the end is a difference.
 *
 * What is the same at both ends is set aside, and the rest is compared by Myers' algorithm within bounds: quick where little
 * has changed. Where much has, lines that stand once in each text and in the same order hold the two together (patience),
 * and what is between them is compared in the same way. A stretch that is beyond the bounds even then counts as wholly
 * different: coarser, never wrong.
 */

import { bounds } from "./limits.ts";

/** Lines [aFrom, aTo) of one text correspond to lines [bFrom, bTo) of the other. */
export interface LineChange {
  readonly aFrom: number;
  readonly aTo: number;
  readonly bFrom: number;
  readonly bTo: number;
}

export function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline + 1;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

/** In order; between two changes there is at least one equal line. */
export function diffLines(a: readonly string[], b: readonly string[]): LineChange[] {
  const changes: LineChange[] = [];
  const add = (change: LineChange) => {
    if (change.aFrom === change.aTo && change.bFrom === change.bTo) return;
    const last = changes.at(-1);
    if (last && last.aTo === change.aFrom && last.bTo === change.bFrom)
      changes[changes.length - 1] = { ...last, aTo: change.aTo, bTo: change.bTo };
    else changes.push(change);
  };
  const whole = trimmed(a, b, { aFrom: 0, aTo: a.length, bFrom: 0, bTo: b.length });
  const few = shortest(a, b, whole);
  if (few) {
    for (const change of few) add(change);
    return changes;
  }
  let { aFrom, bFrom } = whole;
  for (const [inA, inB] of anchors(a, b, whole)) {
    for (const change of stretch(a, b, { aFrom, aTo: inA, bFrom, bTo: inB })) add(change);
    aFrom = inA + 1;
    bFrom = inB + 1;
  }
  for (const change of stretch(a, b, { ...whole, aFrom, bFrom })) add(change);
  return changes;
}

function trimmed(a: readonly string[], b: readonly string[], range: LineChange): LineChange {
  let { aFrom, aTo, bFrom, bTo } = range;
  while (aFrom < aTo && bFrom < bTo && a[aFrom] === b[bFrom]) {
    aFrom++;
    bFrom++;
  }
  while (aFrom < aTo && bFrom < bTo && a[aTo - 1] === b[bTo - 1]) {
    aTo--;
    bTo--;
  }
  return { aFrom, aTo, bFrom, bTo };
}

/** The longest sequence of lines that are unique in each text, in the order of both. */
function anchors(a: readonly string[], b: readonly string[], range: LineChange): [number, number][] {
  const inA = onceIn(a, range.aFrom, range.aTo);
  const inB = onceIn(b, range.bFrom, range.bTo);
  const pairs: [number, number][] = [];
  for (const [line, at] of inA) {
    const other = at === -1 ? undefined : inB.get(line);
    if (other !== undefined && other !== -1) pairs.push([at, other]);
  }
  return longestRow(pairs);
}

/** The position of each line; -1 for duplicates. */
function onceIn(lines: readonly string[], from: number, to: number): Map<string, number> {
  const once = new Map<string, number>();
  for (let at = from; at < to; at++) {
    const line = lines[at] as string;
    once.set(line, once.has(line) ? -1 : at);
  }
  return once;
}

/** Of pairs in rising order of their first number, the longest part that also rises in the second. */
function longestRow(pairs: readonly [number, number][]): [number, number][] {
  const ends: number[] = []; // for each length, the pair with the smallest second number that ends such a row
  const before = new Int32Array(pairs.length).fill(-1);
  pairs.forEach(([, second], at) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] as number] as [number, number])[1] < second) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before[at] = ends[low - 1] as number;
    ends[low] = at;
  });
  const row: [number, number][] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] as number)
    row.push(pairs[at] as [number, number]);
  return row.reverse();
}

/** The changes of one stretch; all of it where they are too many. */
function stretch(a: readonly string[], b: readonly string[], range: LineChange): LineChange[] {
  const part = trimmed(a, b, range);
  return shortest(a, b, part) ?? [part];
}

/** The shortest edit script, if it is found within the limits. */
function shortest(a: readonly string[], b: readonly string[], part: LineChange): LineChange[] | undefined {
  const { aFrom, aTo, bFrom, bTo } = part;
  if (aFrom === aTo || bFrom === bTo) return [part];
  const most = Math.min(aTo - aFrom + (bTo - bFrom), bounds.diffEdits);
  let left = bounds.diffSteps;
  // reached[d][k + d]: how far into `a` d edits get on diagonal k.
  const reached: Int32Array[] = [];
  for (let d = 0; d <= most && left > 0; d++) {
    const row = new Int32Array(2 * d + 1);
    reached.push(row);
    for (let k = -d; k <= d; k += 2) {
      const from = d === 0 ? 0 : stepInto(reached[d - 1] as Int32Array, d, k);
      let x = from;
      while (aFrom + x < aTo && bFrom + x - k < bTo && a[aFrom + x] === b[bFrom + x - k]) x++;
      left -= x - from + 1;
      row[k + d] = x;
      if (aFrom + x >= aTo && bFrom + x - k >= bTo) return traced(reached, k, part);
    }
  }
  return undefined;
}

function stepInto(previous: Int32Array, d: number, k: number): number {
  return comesFromAbove(previous, d, k) ? at(previous, d, k + 1) : at(previous, d, k - 1) + 1;
}

/** Whether an insertion (from diagonal k + 1) gets further than a deletion (from k - 1). */
function comesFromAbove(previous: Int32Array, d: number, k: number): boolean {
  return k === -d || (k !== d && at(previous, d, k - 1) < at(previous, d, k + 1));
}

function at(previous: Int32Array, d: number, diagonal: number): number {
  return Math.abs(diagonal) > d - 1 ? -1 : (previous[diagonal + d - 1] as number);
}

/** Backwards from the end: each edit is a change of one line; the caller joins neighbours. */
function traced(reached: readonly Int32Array[], last: number, { aFrom, bFrom }: LineChange): LineChange[] {
  const changes: LineChange[] = [];
  let k = last;
  for (let d = reached.length - 1; d > 0; d--) {
    const previous = reached[d - 1] as Int32Array;
    const isInsertion = comesFromAbove(previous, d, k);
    const from = isInsertion ? k + 1 : k - 1;
    const x = at(previous, d, from);
    const y = x - from;
    changes.push({
      aFrom: aFrom + x,
      aTo: aFrom + x + (isInsertion ? 0 : 1),
      bFrom: bFrom + y,
      bTo: bFrom + y + (isInsertion ? 1 : 0),
    });
    k = from;
  }
  return changes.reverse();
}
