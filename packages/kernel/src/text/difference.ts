/** The single splice that turns one text into another: their common start and end stay. It never splits a character. */

import type { Splice } from "../model/op.ts";

/** The one splice that turns `before`, which lies at `at`, into `after`. */
export function difference(at: number, before: string, after: string): Splice {
  const max = Math.min(before.length, after.length);
  let start = 0;
  while (start < max && before[start] === after[start]) start++;
  let end = 0;
  while (end < max - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  if (start > 0 && isHighSurrogate(before.charCodeAt(start - 1))) start--;
  if (end > 0 && isLowSurrogate(before.charCodeAt(before.length - end))) end--;
  return {
    at: at + start,
    del: before.slice(start, before.length - end),
    ins: after.slice(start, after.length - end),
  };
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
