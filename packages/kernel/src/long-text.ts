/**
 * What is too long to be shown before somebody asks for it: many lines, or few that are very long, such as a minified file
 * or a picture in letters. One rule, so that the page and exports close the same things and say the same of them.
 */

const FOLD_LINES = 10;
const FOLD_CHARS = 4_000;
/** Of a diff, by the lines that it changes: what stands around them for orientation does not count. */
const FOLD_CHANGED = 30;
const FOLD_DIFF_CHARS = 20_000;

/** What is known of something that may be closed, before anybody has opened it. */
export interface Extent {
  readonly lines: number;
  readonly chars: number;
  /** Of a diff: lines that are added or deleted. */
  readonly changed?: number | undefined;
  /** A person asked for exactly this: ran it again, or allowed it. */
  readonly isAskedFor?: boolean | undefined;
}

/** Whether it is closed until somebody opens it. */
export function isClosedFirst({ lines, chars, changed, isAskedFor }: Extent): boolean {
  if (isAskedFor) return false;
  if (changed !== undefined) return changed > FOLD_CHANGED || chars > FOLD_DIFF_CHARS;
  return isLong(lines, chars);
}

/** Whether a result was asked for by a person: its command was run again, or its call was allowed. */
export function isAskedFor(
  result: { readonly notice?: unknown },
  call: { readonly approval?: unknown } | undefined,
): boolean {
  const approval = call?.approval as { readonly state?: string; readonly answeredBy?: string } | undefined;
  const isAllowed = approval?.state === "allowed" && approval.answeredBy !== undefined;
  return result.notice === "rerun" || isAllowed;
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
