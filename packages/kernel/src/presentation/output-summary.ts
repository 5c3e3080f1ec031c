/**
 * The line that sums up a successful command: the one in which a test runner counts, else the last line of output. Only
 * the last lines are examined, so that a long output need not be read.
 */
import { plural } from "./format.ts";
import { SUMMARY_CHARS, SUMMARY_LINES } from "./limits.ts";

const COUNTS =
  /\b\d+ (?:tests? )?(?:passed|passing|pass|ok|succeeded|failed|failing)\b|\bTests?:?\s+\d+|\bok\b.*\b\d+ tests?\b/i;
/** Lines that say how long it took, or nothing at all, say less than the one before them. */
const EMPTY = /^(?:[\s=\-–—─│|.*~#{}()[\],;]*|[#ℹ] duration_ms [\d.]+)$/;

/** Of an output whose end was not kept, how much there was: its last line is none that the command ended with. */
export function cutSummary(chars: number, truncatedChars: number | undefined): string | undefined {
  return truncatedChars === undefined || truncatedChars === 0
    ? undefined
    : plural(chars + truncatedChars, "character");
}

/** Of the last lines of an output, without terminal codes; empty where nothing was printed. */
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
