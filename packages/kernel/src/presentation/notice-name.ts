/** What a notice is about, in words that stand before its text: nothing where the text begins with the same word. */

/** `notice` as its provider names it: "rate_limit". */
export function noticeName(notice: string | undefined, text: string): string | undefined {
  if (notice === undefined || notice === "") return undefined;
  const name = notice.replaceAll("_", " ");
  const start = text.slice(0, name.length).toLowerCase();
  return start === name.toLowerCase() ? undefined : name;
}
