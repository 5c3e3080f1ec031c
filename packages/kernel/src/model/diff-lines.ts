/** Reads a unified diff without applying it: whether a text is one, and how many lines it changes. */

/** Models sometimes send a sentence in place of a diff. */
export function looksLikeDiff(text: string): boolean {
  return /^(?:@@|[-+])/m.test(text);
}

/** Counts the added and removed lines, without headers. */
export function linesIn(diff: string): { readonly added: number; readonly removed: number } {
  let [added, removed, isBody] = [0, 0, !/^@@/m.test(diff)];
  for (const line of diff.split("\n")) {
    if (line.startsWith("@@")) isBody = true;
    else if (/^(diff --git|Index:|--- \S|\+\+\+ \S)/.test(line) && !isBody) continue;
    else if (line.startsWith("diff --git ")) isBody = false;
    else if (isBody && line.startsWith("+")) added++;
    else if (isBody && line.startsWith("-")) removed++;
  }
  return { added, removed };
}
