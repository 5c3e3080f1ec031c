/**
 * The line that sums up a successful command: the one in which a test runner counts, else the last line of output. Only
 * the last lines are examined, so that a long output need not be read.
 */
import { plural } from "./format.ts";
import { SUMMARY_CHARS, SUMMARY_LINES } from "./limits.ts";

const COUNTS =
  /\b\d+ (?:tests? )?(?:passed|passing|pass|ok|succeeded|failed|failing)\b|\bTests?:?\s+\d+|\bok\b.*\b\d+ tests?\b/i;
/** Lines with only a duration, or with nothing, say less than the one before them. */
const EMPTY = /^(?:[\s=\-–—─│|.*~#{}()[\],;]*|[#ℹ] duration_ms [\d.]+)$/;

/** If the end of an output was not kept, its size: its last line is not the one that the command ended with. */
export function cutSummary(chars: number, truncatedChars: number | undefined): string | undefined {
  return truncatedChars === undefined || truncatedChars === 0
    ? undefined
    : plural(chars + truncatedChars, "character");
}

/** The last meaningful line of an output, without terminal codes; empty if nothing was printed. */
export function outputSummary(lines: readonly string[]): string {
  const last = lines.slice(-SUMMARY_LINES).filter((line) => !EMPTY.test(line));
  const inRows = countedInRows(last);
  if (inRows !== undefined) return inRows;
  const counted = last.findLast((line) => line.length < 400 && COUNTS.test(line));
  const line = (counted ?? last.at(-1) ?? "").replace(/\s+/g, " ").trim();
  return line.length <= SUMMARY_CHARS ? line : `${line.slice(0, SUMMARY_CHARS - 1).toWellFormed()}…`;
}

/** Node's own test runner counts in rows: `# pass 5`, `# fail 0`. */
function countedInRows(lines: readonly string[]): string | undefined {
  const count = (word: string) => {
    const row = lines.findLast((line) => new RegExp(`^[#ℹ] ${word} \\d+$`).test(line.trim()));
    return row === undefined ? undefined : Number(row.trim().split(" ").at(-1));
  };
  const [passed, failed] = [count("pass"), count("fail")];
  if (failed === undefined) return undefined;
  if (passed === undefined) return `${failed} failed`;
  return failed === 0 ? `${passed} passed` : `${passed} passed, ${failed} failed`;
}
