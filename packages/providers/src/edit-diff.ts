/**
 * Diffs of changes that are known only as they were asked for: an edit's old and new text, or a whole file that was
 * written over another.
 *
 * Nobody has compared them with the file, so a change that is made here says `unverified`. Where in the file an edit
 * is was not said: its ranges start at 0, which says "not known", never at a number made up.
 */

import type { PatchChange } from "./apply-patch.ts";
import { ASKED_DIFF_CHARS } from "./limits.ts";
import { hunksOf, unifiedDiff } from "./unified-diff.ts";

interface Edit {
  readonly before: string;
  readonly after: string;
}

/** A file that was edited. One edit of nothing into something is a file that was made. */
export function editedFile(path: string, edits: readonly Edit[]): PatchChange {
  const [first] = edits;
  if (edits.length === 1 && first?.before === "") return newFile(path, first.after);
  const hunks = edits.flatMap((edit) =>
    hunksOf(asLines(edit)).map((hunk) => ({ ...hunk, oldStart: 0, newStart: 0 })),
  );
  const diff = unifiedDiff(path, hunks);
  return diff === "" ? { path, kind: "modify" } : { path, kind: "modify", diff, unverified: true };
}

export function newFile(path: string, content: string): PatchChange {
  const diff = unifiedDiff(path, { before: "", after: content }, "add");
  return diff === "" ? { path, kind: "add" } : { path, kind: "add", diff };
}

/** A file that was written over another one: what it holds now is known, what it held is not. */
export function overwrittenFile(path: string, content: string): PatchChange {
  const diff = unifiedDiff(path, hunksOf({ before: "", after: content }));
  return diff === "" ? { path, kind: "modify" } : { path, kind: "modify", diff, unverified: true };
}

/** The change as a question shows it. One that is longer is asked for by its input. */
export function askedText({ diff }: PatchChange): string | undefined {
  return diff === undefined || diff.length > ASKED_DIFF_CHARS ? undefined : diff;
}

/** A piece of a file has no end of file: the last line of each side counts as whole. */
function asLines({ before, after }: Edit): Edit {
  const whole = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);
  return { before: whole(before), after: whole(after) };
}
