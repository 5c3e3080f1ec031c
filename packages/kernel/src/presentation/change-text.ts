/**
 * The visible text of a file change: its diff, and the tool's message if there is none.
 *
 * A sentence is no diff: a text without any sign of one is never drawn as unchanged lines.
 */

import { looksLikeDiff } from "../model/diff-lines.ts";
import type { Metadata } from "../model/metadata.ts";
import { plural } from "./format.ts";

type Change = Metadata<"file_change">["changes"][number];

export interface ChangeText {
  readonly diff: string;
  /** What the tool said instead. */
  readonly note: string;
}

/** Shown beside a diff that was only requested. */
export const UNVERIFIED = "not checked against the file";

/** Above changes that were found by comparing the folder; undefined above others. */
export function observedHeading({ observed, leftOut }: Metadata<"file_change">): string | undefined {
  if (!observed) return undefined;
  return `Also changed while this turn ran${leftOut === undefined ? "" : `, and ${plural(leftOut, "more file")}`}`;
}

/** One for each change: its own diff; the block's text replaces it if there is only one. */
export function changeTexts(changes: readonly Change[], text: string): readonly ChangeText[] {
  return changes.map(({ diff }) => {
    if (diff !== undefined) return { diff, note: "" };
    if (changes.length !== 1 || text === "") return { diff: "", note: "" };
    return looksLikeDiff(text) ? { diff: text, note: "" } : { diff: "", note: text };
  });
}

/** The number of lines a diff adds and deletes. A deleted line of two dashes looks like a header only outside of a hunk. */
export function changedIn(diff: string): { readonly added: number; readonly deleted: number } {
  let [added, deleted] = [0, 0];
  let isInside = !/^@@/m.test(diff);
  for (const line of diff.split("\n")) {
    if (line.startsWith("@@")) isInside = true;
    else if (/^(diff --git |--- (a\/|\/)|\+\+\+ (b\/|\/))/.test(line)) isInside &&= !line.startsWith("diff");
    else if (isInside && line.startsWith("+")) added++;
    else if (isInside && line.startsWith("-")) deleted++;
  }
  return { added, deleted };
}
