/**
 * The patch format that models write for `apply_patch` → changes, each with a unified diff.
 *
 *     *** Begin Patch
 *     *** Add File: path          then `+` lines
 *     *** Update File: path       then optionally `*** Move to: path`, then hunks that begin with `@@`
 *     *** Delete File: path
 *     *** End Patch
 *
 * It has no line numbers: a hunk's range starts at 0, which says "not known", never at a number made up. Total, for
 * patches that are still being written too: what is not understood is left out of the diff.
 */

import type { ChangeKind, Hunk } from "./unified-diff.ts";
import { unifiedDiff } from "./unified-diff.ts";

export type PatchChange = {
  readonly path: string;
  readonly kind: ChangeKind;
  readonly diff?: string;
  readonly movedTo?: string;
  /** The requested diff; it was not compared with the file. */
  readonly unverified?: boolean;
};

interface Draft {
  readonly path: string;
  readonly kind: ChangeKind;
  movedTo: string | undefined;
  readonly hunks: string[][];
}

const HEADERS: readonly (readonly [string, ChangeKind])[] = [
  ["*** Add File: ", "add"],
  ["*** Update File: ", "modify"],
  ["*** Delete File: ", "delete"],
];
const MOVE = "*** Move to: ";

/** Empty where the text is no such patch. */
export function patchChanges(patch: string): readonly PatchChange[] {
  const drafts: Draft[] = [];
  for (const line of patch.split(/\r?\n/)) {
    const opened = openFile(line);
    if (opened !== undefined) drafts.push(opened);
    else readLine(drafts.at(-1), line);
  }
  return drafts.map(finish);
}

function openFile(line: string): Draft | undefined {
  for (const [header, kind] of HEADERS) {
    if (!line.startsWith(header)) continue;
    return { path: line.slice(header.length).trim(), kind, movedTo: undefined, hunks: [] };
  }
  return undefined;
}

function readLine(draft: Draft | undefined, line: string): void {
  if (draft === undefined) return;
  if (line.startsWith(MOVE)) draft.movedTo = line.slice(MOVE.length).trim();
  else if (line.startsWith("@@")) draft.hunks.push([]);
  else if (/^[-+ ]/.test(line)) {
    if (draft.hunks.length === 0) draft.hunks.push([]);
    draft.hunks.at(-1)?.push(line);
  }
}

function finish(draft: Draft): PatchChange {
  const hunks = draft.hunks.filter((lines) => lines.length > 0).map((lines) => hunkOf(lines, draft.kind));
  const diff = unifiedDiff(draft.path, hunks, draft.kind, draft.movedTo ?? draft.path);
  return {
    path: draft.path,
    kind: draft.kind,
    ...(diff === "" ? {} : { diff }),
    ...(diff !== "" && draft.kind === "modify" ? { unverified: true } : {}),
    ...(draft.movedTo === undefined ? {} : { movedTo: draft.movedTo }),
  };
}

function hunkOf(lines: readonly string[], kind: ChangeKind): Hunk {
  const oldLines = lines.filter((line) => !line.startsWith("+")).length;
  const newLines = lines.filter((line) => !line.startsWith("-")).length;
  return { oldStart: 0, oldLines, newStart: kind === "add" ? 1 : 0, newLines, lines };
}
