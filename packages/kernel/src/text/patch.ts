/**
 * Unified diffs: what a patch does to a text, as splices. Pure. hunk.ts reads it, hunk-place.ts finds where each hunk belongs.
 *
 * Invariant: all hunks or none, in order, without overlap.
 */

import type { Splice } from "../model/op.ts";
import { type Problem, problem } from "../model/problem.ts";
import { type Hunk, type HunkLine, oldLines, parsePatch } from "./hunk.ts";
import { type HunkError, type Place, Places, placeAll } from "./hunk-place.ts";
import { bareLine, eolOf } from "./line-end.ts";
import type { Text } from "./text.ts";
import { trimmedSplice } from "./trimmed-splice.ts";

interface PlacedHunk {
  /** Where it was found, 0-based, in the text before the patch. */
  readonly line: number;
  /** Distance from the line in its header, given how far the one before it was off. */
  readonly offset: number;
  readonly added: number;
  readonly removed: number;
}

interface PatchPlan {
  readonly splices: readonly Splice[];
  readonly hunks: readonly PlacedHunk[];
}

/** What the patch does to `text`, or the errors of all hunks that cannot be placed. */
export function planPatch(text: Text, patch: string): PatchPlan | { readonly errors: HunkError[] } | Problem {
  const parsed = parsePatch(patch);
  if ("problem" in parsed) return parsed;
  const places = new Places(text);
  const errors: HunkError[] = [];
  const placed = placeAll(places, parsed.hunks, errors);
  if (places.isSpent)
    return problem("too_large", "its hunks match too many places: add context lines or send fewer hunks");
  if (errors.length > 0) return { errors };
  const splices: Splice[] = [];
  const blind = parsed.hunks.every(({ lines }) =>
    lines.every(({ sign, text }) => sign === "+" && !text.endsWith("\r")),
  );
  for (const [i, hunk] of parsed.hunks.entries()) {
    splices.push(...spliceHunk(places, hunk, placed[i] as Place, blind));
  }
  return {
    splices: splices.reverse(),
    hunks: parsed.hunks.map(({ lines }, i) => ({
      line: (placed[i] as Place).line,
      offset: (placed[i] as Place).offset,
      added: lines.filter(({ sign }) => sign === "+").length,
      removed: lines.filter(({ sign }) => sign === "-").length,
    })),
  };
}

/**
 * The splices of a placed hunk, first to last, in offsets of the text before the patch. `blind`: the patch has no old
 * lines at all, so it cannot know the text's line ends.
 */
function spliceHunk(places: Places, hunk: Hunk, place: Place, blind: boolean): Splice[] {
  const { text, lines } = places;
  const old = oldLines(hunk);
  // Line ends differ between patch and text: then added lines end as the text's do.
  const translated = blind || old.some((line, k) => lines[place.line + k] !== line.text);
  const eol = eolOf(text);
  const added = ({ text: line, noNewline }: HunkLine): string => {
    const content = translated ? bareLine(line) : line;
    return noNewline ? content : content + (translated ? eol : "\n");
  };
  const reachesEnd = places.endsOpen && place.line + old.length === lines.length;
  if (place.loose && reachesEnd) return spliceOpenEnd(places, hunk, place, added);
  const splices: Splice[] = [];
  let line = place.line;
  for (let i = 0; i < hunk.lines.length; ) {
    if ((hunk.lines[i] as HunkLine).sign === " ") {
      line++;
      i++;
      continue;
    }
    let ins = "";
    const first = line;
    for (; i < hunk.lines.length && (hunk.lines[i] as HunkLine).sign !== " "; i++) {
      const changed = hunk.lines[i] as HunkLine;
      if (changed.sign === "-") line++;
      else ins += added(changed);
    }
    const splice = trimmedSplice(text, text.lineStart(first), text.lineStart(line), ins);
    if (splice) splices.push(splice);
  }
  return splices;
}

/** At the end of a text without a final newline, of which the patch says nothing: a new last line has none either. */
function spliceOpenEnd(
  { text, lines }: Places,
  hunk: Hunk,
  place: Place,
  added: (line: HunkLine) => string,
): Splice[] {
  const eol = eolOf(text);
  const from = text.lineStart(place.line);
  let line = place.line;
  // With no old lines the hunk stands behind the last line, which has to end first.
  let result = line === lines.length ? eol : "";
  let isOpen = false;
  for (const changed of hunk.lines) {
    if (changed.sign === "+") result += added(changed);
    else if (changed.sign === " ") result += (lines[line] as string) + (line + 1 < lines.length ? "\n" : eol);
    if (changed.sign !== "-") isOpen = changed.sign === "+" || line + 1 === lines.length;
    if (changed.sign !== "+") line++;
  }
  const said = hunk.lines.some(({ noNewline }) => noNewline);
  const splice = trimmedSplice(
    text,
    from,
    text.length,
    said || !isOpen ? result : result.replace(/\r?\n$/, ""),
  );
  return splice ? [splice] : [];
}
