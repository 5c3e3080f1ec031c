/**
 * Lines in answers: numbered as block.read prints them, or quoted in a problem. It changes no text.
 *
 * A quote is bounded, in lines and in characters, and says where it was cut.
 */

import { limits } from "../model/limits.ts";
import type { Text } from "./text.ts";

/** A line's number as block.read prints it. */
export function lineNumber(line: number): string {
  return String(line).padStart(5);
}

/** Lines as a problem carries them: without numbers, joined by newlines, as `expected_text` takes them. */
export interface QuotedLines {
  readonly text: string;
  /** Only its beginning: all of it is more than a problem should carry. */
  readonly isCut: boolean;
}

/** The lines from `from` up to `to`. What is too long ends behind a whole line, if one fits. */
export function quoteLines(text: Text, from: number, to: number): QuotedLines {
  const first = Math.max(0, from);
  const end = Math.min(to, text.lineCount);
  const last = Math.min(end, first + limits.problemLines);
  const quoted: string[] = [];
  let chars = 0;
  for (let line = first; line < last; line++) {
    const start = text.lineStart(line);
    const next = text.lineStart(line + 1);
    const room = limits.problemChars - chars;
    if (next - start > room) {
      if (quoted.length > 0) return { text: quoted.join("\n"), isCut: true };
      return { text: text.slice(start, start + room).toWellFormed(), isCut: true };
    }
    quoted.push(text.slice(start, next).replace(/\n$/, ""));
    chars += next - start;
  }
  return { text: quoted.join("\n"), isCut: last < end };
}
