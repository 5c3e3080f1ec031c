/**
 * A proposal for merging two texts with a common origin, line by line. If only one side has changed something, that
 * side wins; if both have, both versions are there between markers, for a person to decide. Pure.
 *
 * It only proposes: what is written is what the person leaves in the field.
 */

import { diffArrays } from "diff";
import { MERGED_EDITS } from "./limits.ts";

export const MINE = "<<<<<<< here";
export const BETWEEN = "=======";
export const DISK = ">>>>>>> disk";

/** Never a line: the ends of a text. */
const START = "\0start";
const END = "\0end";

export function proposeMerge(base: string | undefined, mine: string, disk: string): string {
  const known = base === undefined ? undefined : `\n${[START, base, END].join("\n")}\n`;
  const parts = diffArrays(mine.split("\n"), disk.split("\n"), { maxEditLength: MERGED_EDITS });
  // Two texts with hardly a line in common: comparing them would block the page, and there is nothing to merge.
  if (parts === undefined) return decide([mine], [disk], ([text]) => text === base).join("\n");
  const merged: string[] = [];
  let before = START;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i];
    if (!part) break;
    if (!part.added && !part.removed) {
      for (const line of part.value) merged.push(line);
      before = part.value.at(-1) ?? before;
      continue;
    }
    const follower = parts[i + 1];
    const isPair = follower !== undefined && (follower.added || follower.removed);
    const changed = isPair ? [part, follower] : [part];
    if (isPair) i++;
    const side = (isMine: boolean) => changed.find((each) => each.removed === isMine)?.value ?? [];
    const after = parts[i + 1]?.value[0] ?? END;
    const isOld = (lines: readonly string[]) =>
      known?.includes(`\n${[before, ...lines, after].join("\n")}\n`) ?? false;
    for (const line of decide(side(true), side(false), isOld)) merged.push(line);
  }
  return merged.join("\n");
}

/** Whether conflict marks are left. */
export function hasMarks(text: string): boolean {
  return text.split("\n").some((line) => line === MINE || line === DISK);
}

/** Lines that were there before are lines that this side has not changed. */
function decide(
  mine: readonly string[],
  disk: readonly string[],
  isOld: (lines: readonly string[]) => boolean,
): readonly string[] {
  if (isOld(mine)) return disk;
  if (isOld(disk)) return mine;
  return [MINE, ...mine, BETWEEN, ...disk, DISK];
}
