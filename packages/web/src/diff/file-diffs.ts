/**
 * The diff of several files, cut into one for each. Only the pair of headers between two hunks begins another file: the numbers of a
 * hunk say how many lines are its own, whatever they look like. Pure.
 */

export interface FileDiff {
  /** Unknown where the diff has no headers. */
  readonly path?: string;
  readonly kind: "add" | "modify" | "delete";
  readonly movedTo?: string;
  readonly diff: string;
}

const HUNK = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/;
const NOWHERE = "/dev/null";

export function fileDiffs(diff: string): readonly FileDiff[] {
  const files: { head: Omit<FileDiff, "diff">; lines: string[] }[] = [];
  const lines = diff.split("\n");
  if (lines.at(-1) === "") lines.pop();
  let [oldLeft, newLeft] = [0, 0];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string;
    const next = lines[i + 1];
    const isBetween = oldLeft <= 0 && newLeft <= 0;
    if (isBetween && line.startsWith("--- ") && next?.startsWith("+++ ")) {
      files.push({ head: headOf(line.slice(4), next.slice(4)), lines: [] });
      i++;
      continue;
    }
    const hunk = isBetween ? HUNK.exec(line) : null;
    if (hunk) [oldLeft, newLeft] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1)];
    else {
      if (!line.startsWith("+") && !line.startsWith("\\")) oldLeft--;
      if (!line.startsWith("-") && !line.startsWith("\\")) newLeft--;
    }
    if (files.length === 0) files.push({ head: { kind: "modify" }, lines: [] });
    files.at(-1)?.lines.push(line);
  }
  return files.map(({ head, lines: own }) => ({ ...head, diff: own.map((line) => `${line}\n`).join("") }));
}

function headOf(from: string, to: string): Omit<FileDiff, "diff"> {
  if (from === NOWHERE) return { path: to, kind: "add" };
  if (to === NOWHERE) return { path: from, kind: "delete" };
  const isMoved = from.replace(/^a\//, "") !== to.replace(/^b\//, "");
  return { path: from, kind: "modify", ...(isMoved ? { movedTo: to } : {}) };
}
