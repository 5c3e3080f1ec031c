/**
 * Three-way merge by lines: what two sides made of one text, joined. Pure; the block's side is `mine`, the disk's is
 * `theirs`, and the answer is what must be done to `mine`.
 *
 * Changes are joined where at least one unchanged line is between them. The same change on both sides counts once. All
 * else overlaps: then nothing is joined at all, and the overlapping stretches are named.
 */

import type { Splice } from "@blockyard/kernel";
import { diffLines, type LineChange, linesOf } from "./line-diff.ts";

/** Lines of the one side, and of the other, that both replace the same lines. Counted from 0. */
export interface Region {
  readonly line: number;
  readonly lines: number;
  readonly diskLine: number;
  readonly diskLines: number;
}

type Merge =
  /** The splices lead from `mine` to the merged text, applied one after the other. */
  | { readonly type: "merged"; readonly splices: readonly Splice[] }
  | { readonly type: "overlap"; readonly regions: readonly Region[] };

export function mergeTexts(base: string, mine: string, theirs: string): Merge {
  const [inBase, inMine, inTheirs] = [linesOf(base), linesOf(mine), linesOf(theirs)];
  const groups = grouped(diffLines(inBase, inMine), diffLines(inBase, inTheirs));
  const regions: Region[] = [];
  const replaced: LineChange[] = []; // lines of mine by lines of theirs
  for (const { mine: own, theirs: other } of groups) {
    if (!isChanged(other)) continue;
    const change = { aFrom: own.bFrom, aTo: own.bTo, bFrom: other.bFrom, bTo: other.bTo };
    if (!isChanged(own)) replaced.push(change);
    else if (!isSame(inMine, inTheirs, change)) regions.push(regionOf(change));
  }
  if (regions.length > 0) return { type: "overlap", regions };
  return { type: "merged", splices: splicesOf(inMine, inTheirs, replaced) };
}

/** What leads from one text to another: only the lines that differ. */
export function splicesBetween(from: string, to: string): readonly Splice[] {
  const [a, b] = [linesOf(from), linesOf(to)];
  return splicesOf(a, b, diffLines(a, b));
}

/** Changes of both sides that overlap or touch, taken together over the same lines of the base. */
interface Group {
  readonly mine: Side;
  readonly theirs: Side;
}

interface Side extends LineChange {
  /** How many changes of this side the group has. */
  readonly changes: number;
}

function isChanged({ changes }: Side): boolean {
  return changes > 0;
}

function grouped(mine: readonly LineChange[], theirs: readonly LineChange[]): Group[] {
  const groups: Group[] = [];
  let [m, t] = [0, 0];
  let [mineShift, theirsShift] = [0, 0]; // how far lines of each side lie behind those of the base
  while (m < mine.length || t < theirs.length) {
    const from = Math.min(mine[m]?.aFrom ?? Infinity, theirs[t]?.aFrom ?? Infinity);
    let to = from;
    const [firstM, firstT] = [m, t];
    const touches = (change: LineChange | undefined) => change !== undefined && change.aFrom <= to;
    while (touches(mine[m]) || touches(theirs[t])) {
      const next = touches(mine[m]) ? (mine[m++] as LineChange) : (theirs[t++] as LineChange);
      to = Math.max(to, next.aTo);
    }
    const own = sideOf(mine.slice(firstM, m), from, to, mineShift);
    const other = sideOf(theirs.slice(firstT, t), from, to, theirsShift);
    groups.push({ mine: own, theirs: other });
    mineShift = own.bTo - to;
    theirsShift = other.bTo - to;
  }
  return groups;
}

/** Lines [from, to) of the base, as this side has them. */
function sideOf(changes: readonly LineChange[], from: number, to: number, shift: number): Side {
  const grown = changes.reduce((sum, { aFrom, aTo, bFrom, bTo }) => sum + (bTo - bFrom) - (aTo - aFrom), 0);
  return { aFrom: from, aTo: to, bFrom: from + shift, bTo: to + shift + grown, changes: changes.length };
}

function isSame(a: readonly string[], b: readonly string[], { aFrom, aTo, bFrom, bTo }: LineChange): boolean {
  if (aTo - aFrom !== bTo - bFrom) return false;
  for (let i = 0; i < aTo - aFrom; i++) if (a[aFrom + i] !== b[bFrom + i]) return false;
  return true;
}

function regionOf({ aFrom, aTo, bFrom, bTo }: LineChange): Region {
  return { line: aFrom, lines: aTo - aFrom, diskLine: bFrom, diskLines: bTo - bFrom };
}

/** The last one first, so that none moves another. */
function splicesOf(a: readonly string[], b: readonly string[], changes: readonly LineChange[]): Splice[] {
  const starts = new Float64Array(a.length + 1);
  for (let i = 0; i < a.length; i++) starts[i + 1] = (starts[i] as number) + (a[i] as string).length;
  return changes
    .map(({ aFrom, aTo, bFrom, bTo }) =>
      trimmedSplice(starts[aFrom] as number, a.slice(aFrom, aTo).join(""), b.slice(bFrom, bTo).join("")),
    )
    .filter(({ del, ins }) => del !== ins)
    .reverse();
}

/** Without what is the same at both ends: characters that stay keep their author. No character is cut in two. */
function trimmedSplice(at: number, del: string, ins: string): Splice {
  const most = Math.min(del.length, ins.length);
  let front = 0;
  while (front < most && del[front] === ins[front]) front++;
  if (isHalf(del, front) || isHalf(ins, front)) front--;
  let back = 0;
  while (back < most - front && del[del.length - 1 - back] === ins[ins.length - 1 - back]) back++;
  if (back > 0 && (isHalf(del, del.length - back) || isHalf(ins, ins.length - back))) back--;
  return {
    at: at + front,
    del: del.slice(front, del.length - back),
    ins: ins.slice(front, ins.length - back),
  };
}

/** Whether a cut before `at` would go through a surrogate pair. */
function isHalf(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  const unit = text.charCodeAt(at);
  const before = text.charCodeAt(at - 1);
  return unit >= 0xdc00 && unit <= 0xdfff && before >= 0xd800 && before <= 0xdbff;
}
