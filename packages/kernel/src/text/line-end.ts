/**
 * Line ends: LF or CRLF, and lines without theirs. A text's own line end is that of its first line; inserted text gets
 * the same line ends.
 */

import type { Text } from "./text.ts";

/** What new lines of a text end with. */
export function eolOf(text: Text): "\n" | "\r\n" {
  return hasCrlf(text) ? "\r\n" : "\n";
}

/** Whether a text's lines end in CRLF: its first one decides. */
function hasCrlf(text: Text): boolean {
  const end = text.lineStart(1);
  return end >= 2 && text.slice(end - 2, end) === "\r\n";
}

/** `content` with the line ends `eol`. */
export function withEol(content: string, eol: string): string {
  return eol === "\n" ? content : content.replace(/\r?\n/g, eol);
}

/** Without the "\r" of line ends. */
export function withoutReturns(text: string): string {
  return text.replace(/\r(?=\n|$)/g, "");
}

/** A line without the "\r" at its end. */
export function bareLine(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
