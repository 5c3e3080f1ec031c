/**
 * The length of a text, and the visible part of a long one. Long means many lines, or a few very long ones, such as a
 * minified file or ASCII art. loudness.ts decides what is collapsed, and how.
 */

import { askOf } from "../model/ask.ts";
import type { Status } from "../model/kind.ts";
import type { AnyMetadata } from "../model/metadata.ts";
import { EXCERPT_CHARS, FOLD_CHARS, FOLD_LINES, HEAD_LINES, TAIL_LINES } from "./limits.ts";

/** What is known of something that may be closed, before anybody has opened it. */
export interface Extent {
  readonly lines: number;
  readonly chars: number;
  /** Of a diff: lines that are added or deleted. */
  readonly changed?: number | undefined;
}

/** Whether a result was asked for by a person: its command was run again, or its call was allowed. */
export function isAskedFor(
  result: Pick<AnyMetadata, "notice">,
  call: Pick<AnyMetadata, "ask" | "approval"> | undefined,
): boolean {
  const ask = askOf(call);
  const isAllowed = ask?.state === "allowed" && ask.answeredBy !== undefined;
  return result.notice === "rerun" || isAllowed;
}

/** Whether a result tells of a failure, or of something that was cut off. */
export function isFailedResult({
  status,
  metadata,
}: {
  readonly status: Status;
  readonly metadata: Pick<AnyMetadata, "isError" | "exitCode">;
}): boolean {
  const { isError, exitCode } = metadata;
  return isError === true || status === "error" || (typeof exitCode === "number" && exitCode !== 0);
}

/** Lines of which only some are read. An array is one; a text that is not cut into lines can be one too. */
export interface Lines {
  readonly length: number;
  slice(from: number, to: number): readonly string[];
}

/** What a closed result shows of itself: its first and last lines, with so many left out between them. */
export interface Excerpt {
  readonly head: readonly string[];
  readonly left: number;
  readonly tail: readonly string[];
}

/** The first and the last lines; with `tailOnly`, only so many of the last. */
export function excerptOf(lines: Lines, tailOnly?: number): Excerpt {
  const { head, left, tail } = endsOf(lines, tailOnly);
  return { head: head.map(cutLine), left, tail: tail.map(cutLine) };
}

/** The same lines as they are, however long. */
export function endsOf(lines: Lines, tailOnly?: number): Excerpt {
  const head = tailOnly === undefined ? HEAD_LINES : 0;
  const tail = tailOnly ?? TAIL_LINES;
  const { length } = lines;
  if (length <= head + tail) return { head: lines.slice(0, length), left: 0, tail: [] };
  return {
    head: lines.slice(0, head),
    left: length - head - tail,
    tail: lines.slice(length - tail, length),
  };
}

/** Whether an excerpt shows less of a line than there is. */
export function isCutLine(line: string): boolean {
  return line.length > EXCERPT_CHARS;
}

/** A line of an excerpt. */
export function cutLine(line: string): string {
  return line.length <= EXCERPT_CHARS ? line : `${line.slice(0, EXCERPT_CHARS).toWellFormed()}…`;
}

/** That lines are left out, in words. */
export function leftWords({ left }: Excerpt): string {
  return left === 0 ? "" : `… ${left.toLocaleString("en-US")} more line${left === 1 ? "" : "s"}`;
}

export function isLong(lines: number, chars: number): boolean {
  return lines > FOLD_LINES || chars > FOLD_CHARS;
}

/** How much there is, in words. */
export function amountOf(lines: number, chars: number): string {
  const amount = `${lines.toLocaleString("en-US")} line${lines === 1 ? "" : "s"}`;
  return lines <= FOLD_LINES && chars > FOLD_CHARS
    ? `${amount} of ${chars.toLocaleString("en-US")} characters`
    : amount;
}
