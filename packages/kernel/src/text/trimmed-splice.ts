/**
 * A replacement as the smallest splice: without the equal start and end, so that anchors and other edits next to the
 * change are not affected. It never splits a surrogate pair.
 */

import type { Splice } from "../model/op.ts";
import type { Text } from "./text.ts";

/** `from..to` of `text` replaced by `ins`, without the ends that stay as they are. */
export function trimmedSplice(text: Text, from: number, to: number, ins: string): Splice | undefined {
  const del = text.slice(from, to);
  if (del === ins) return undefined;
  const most = Math.min(del.length, ins.length);
  let head = 0;
  while (head < most && del.charCodeAt(head) === ins.charCodeAt(head)) head++;
  if (head > 0 && isHigh(del.charCodeAt(head - 1))) head--;
  let tail = 0;
  while (
    tail < most - head &&
    del.charCodeAt(del.length - 1 - tail) === ins.charCodeAt(ins.length - 1 - tail)
  )
    tail++;
  if (tail > 0 && isLow(del.charCodeAt(del.length - tail))) tail--;
  return {
    at: from + head,
    del: del.slice(head, del.length - tail),
    ins: ins.slice(head, ins.length - tail),
  };
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
