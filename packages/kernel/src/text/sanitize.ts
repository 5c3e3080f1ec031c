/**
 * Sanitizes every text once, on its way in: afterwards memory, disk, file and viewer have the same units.
 *
 * A lone surrogate becomes U+FFFD, and U+0000 becomes U+2400 (its visible picture): SQLite and PostgreSQL would store
 * neither unchanged. A high surrogate at the very end of a streamed piece is held back, because its other half may
 * follow.
 */

const NUL_PICTURE = "\u2400";

/** `text` as it is kept. Returns the same string when nothing had to be replaced. */
export function cleanText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", NUL_PICTURE) : wellFormed;
}

/** Splits a streamed piece into what can be kept now and a high surrogate that waits for its other half. */
export function splitTail(text: string): { readonly ready: string; readonly held: string } {
  const last = text.charCodeAt(text.length - 1);
  if (last >= 0xd800 && last <= 0xdbff) return { ready: text.slice(0, -1), held: text.slice(-1) };
  return { ready: text, held: "" };
}

/** Whether an offset lies between the two halves of a surrogate pair. */
export function splitsPair(before: string, after: string): boolean {
  if (before === "" || after === "") return false;
  const high = before.charCodeAt(before.length - 1);
  const low = after.charCodeAt(0);
  return high >= 0xd800 && high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
}
