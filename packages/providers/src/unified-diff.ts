/**
 * Unified diffs, from whatever a provider gives: ready hunks, or two texts.
 *
 * Deterministic and bounded: two texts that differ too much to be compared within the bound are shown as one hunk that
 * replaces everything. Paths are written as they came, without `a/` and `b/`; `/dev/null` stands for a file that was
 * not there.
 */

import { structuredPatch } from "diff";
import { DIFF_CONTEXT_LINES, DIFF_EDITS } from "./limits.ts";

export interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** Each with its ` `, `+`, `-` or `\` in front. */
  readonly lines: readonly string[];
}

export type ChangeKind = "add" | "modify" | "delete";

interface TextPair {
  readonly before: string;
  readonly after: string;
}

const NO_NEWLINE = "\\ No newline at end of file";

/** One file's diff; an empty string where nothing changed. */
export function unifiedDiff(
  path: string,
  source: readonly Hunk[] | TextPair,
  kind: ChangeKind = "modify",
  movedTo: string = path,
): string {
  const hunks = isPair(source) ? hunksOf(source, kind) : source;
  if (hunks.length === 0) return "";
  return `${fileHeader(path, kind, movedTo)}${hunks.flatMap(hunkLines).join("\n")}\n`;
}

/** What stands above a file's hunks; alone it says that the file is made, moved or deleted. */
export function fileHeader(path: string, kind: ChangeKind, movedTo: string = path): string {
  return `--- ${kind === "add" ? "/dev/null" : path}\n+++ ${kind === "delete" ? "/dev/null" : movedTo}\n`;
}

/** Hunks that turn one text into the other. */
export function hunksOf(pair: TextPair, kind: ChangeKind = "modify"): readonly Hunk[] {
  if (pair.before === pair.after) return [];
  if (kind === "add" || pair.before === "") return [wholeHunk("", pair.after)];
  if (kind === "delete" || pair.after === "") return [wholeHunk(pair.before, "")];
  const patch = structuredPatch("", "", pair.before, pair.after, undefined, undefined, {
    context: DIFF_CONTEXT_LINES,
    maxEditLength: DIFF_EDITS,
  });
  return patch === undefined ? [wholeHunk(pair.before, pair.after)] : patch.hunks;
}

/** The text of several files' diffs. */
export function joinDiffs(diffs: readonly (string | undefined)[]): string {
  return diffs.filter((diff) => diff !== undefined && diff !== "").join("");
}

function isPair(source: readonly Hunk[] | TextPair): source is TextPair {
  return !Array.isArray(source);
}

function hunkLines(hunk: Hunk): readonly string[] {
  return [
    `@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`,
    ...hunk.lines,
  ];
}

function range(start: number, lines: number): string {
  return lines === 1 ? String(start) : `${start},${lines}`;
}

function wholeHunk(before: string, after: string): Hunk {
  const removed = signed("-", before);
  const added = signed("+", after);
  return {
    oldStart: before === "" ? 0 : 1,
    oldLines: countSigned(removed),
    newStart: after === "" ? 0 : 1,
    newLines: countSigned(added),
    lines: [...removed, ...added],
  };
}

function signed(sign: string, text: string): readonly string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  const endsWithNewline = lines.at(-1) === "";
  if (endsWithNewline) lines.pop();
  const marked = lines.map((line) => sign + line);
  return endsWithNewline ? marked : [...marked, NO_NEWLINE];
}

function countSigned(lines: readonly string[]): number {
  return lines.at(-1) === NO_NEWLINE ? lines.length - 1 : lines.length;
}
