/**
 * The visible part of a collapsed result, so that a renderer need not have its text. By the rules of loudness.ts:
 * nothing, the line that sums up a command, or its first and last lines.
 */

import type { ClosedResult } from "../model/change.ts";
import { isEnded, type Kind } from "../model/kind.ts";
import { CLOSED_LINE_CHARS, CLOSED_RESULT_CHARS, SUMMARY_LINES } from "./limits.ts";
import { endsOf, isCutLine, isFailedResult, type Lines } from "./long-text.ts";
import { type Facts, formOf, tailLines } from "./loudness.ts";
import { cutSummary, outputSummary } from "./output-summary.ts";
import { plainTerminal } from "./terminal-text.ts";

/** Changes and lists are drawn from more than their text. */
const KINDS: readonly Kind[] = ["tool_result", "code", "command"];

type Closing = Facts & { readonly chars: number };

/** Undefined: it is shown whole, or is as short as what it shows. */
export function closedResult(
  result: Closing,
  call: Facts | undefined,
  lines: Lines,
): ClosedResult | undefined {
  const { kind, status, chars } = result;
  if (chars < CLOSED_RESULT_CHARS || !isEnded(status) || !KINDS.includes(kind)) return undefined;
  const form = formOf(result, call, { lines: lines.length, chars });
  if (form === "line") return kind === "command" && !isFailedResult(result) ? summaryOf(result, lines) : {};
  if (form !== "ends" && form !== "tail") return undefined;
  const { head, left, tail } = endsOf(lines, form === "tail" ? tailLines(result, lines.length) : undefined);
  if (left === 0 && !head.some(isCutLine)) return undefined;
  return { lines: lines.length, head: head.map(bounded), tail: tail.map(bounded) };
}

function bounded(line: string): string {
  return line.length <= CLOSED_LINE_CHARS ? line : line.slice(0, CLOSED_LINE_CHARS).toWellFormed();
}

function summaryOf({ chars, metadata }: Closing, lines: Lines): ClosedResult {
  const cut = cutSummary(chars, metadata.truncatedChars);
  if (cut !== undefined) return { summary: cut };
  const last = lines.slice(Math.max(0, lines.length - SUMMARY_LINES), lines.length);
  return { summary: outputSummary(last.map(plainTerminal)) };
}
