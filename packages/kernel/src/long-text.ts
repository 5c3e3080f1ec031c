/**
 * What is too long to be shown before somebody asks for it: many lines, or few that are very long, such as a minified file
 * or a picture in letters. One rule, so that the page and exports close the same things and say the same of them.
 */

const FOLD_LINES = 10;
const FOLD_CHARS = 4_000;

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
