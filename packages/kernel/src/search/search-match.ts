/**
 * The matches of a pattern in one text: lines, columns and the lines around them. Lines are 0-based and end at `\n`
 * only; behind a last `\n` there is no further line. Columns are UTF-16 units.
 *
 * Invariant: costs the way to the last match asked for, not the text. Newlines are counted on the way, no list of lines
 * is ever made, and how much of the text an answer can repeat is bounded however long its lines are.
 */

import { limits } from "../model/limits.ts";
import type { SearchMatch } from "../ports/store.ts";
import type { Pattern } from "./pattern.ts";

interface MatchOptions {
  readonly contextLines: number;
  readonly maxMatches: number;
  /** Whether the time for this search is over. */
  readonly isLate: () => boolean;
}

export interface Matches {
  readonly matches: readonly SearchMatch[];
  /** There may be more matches than these. */
  readonly more: boolean;
  /** The deadline was the reason. */
  readonly late: boolean;
}

export function matchText(text: string, pattern: Pattern, options: MatchOptions): Matches {
  const matches: SearchMatch[] = [];
  const lines = new LineCounter(text, Math.min(options.contextLines, limits.contextLines));
  let contentChars = 0;
  let more = false;
  const end = text.length;
  const endsLine = end === 0 || text.charCodeAt(end - 1) === 10;
  const visit = (start: number, stop: number) => {
    // Behind the last newline there is no line, so nothing is found there.
    if (endsLine && start === end) return true;
    if (matches.length >= options.maxMatches || contentChars > limits.searchContentChars) {
      more = true;
      return false;
    }
    const match = lines.show(start, stop);
    contentChars += match.content.length;
    matches.push(match);
    return true;
  };
  const late = pattern.find(text, visit, options.isLate) === "late";
  return { matches, more: more || late, late };
}

const CUT = "…";
const LINE_CHARS = limits.searchLineChars;

/** Knows where the line at hand begins and the few lines before it; goes only forward. */
class LineCounter {
  readonly #text: string;
  readonly #context: number;
  /** Where the last lines begin: line n at n modulo the length. */
  readonly #starts: number[];
  #line = 0;
  /** The end of the line at hand, if it was looked for: the text may be one line, with a thousand matches. */
  #lineEnd = -1;

  constructor(text: string, contextLines: number) {
    this.#text = text;
    this.#context = contextLines;
    this.#starts = new Array<number>(contextLines + 1).fill(0);
  }

  show(start: number, end: number): SearchMatch {
    this.#goTo(start);
    const from = this.#start(this.#line);
    const place = { line: this.#line, start: start - from, end: end - from };
    const contentLine = Math.max(0, this.#line - this.#context);
    const shown: string[] = [];
    for (let line = contentLine; line < this.#line; line++) {
      shown.push(headOf(this.#text, this.#start(line), this.#start(line + 1) - 1));
    }
    const { text, shownFrom, isWhole } = this.#matchedLine(start, end);
    shown.push(text);
    // Behind a line that was cut, where the next one begins is not known without reading it all.
    if (isWhole) this.#linesAfter(end, shown);
    const content = shown.join("\n");
    return shownFrom === undefined
      ? { ...place, content, contentLine }
      : { ...place, content, contentLine, shownFrom };
  }

  #goTo(place: number): void {
    for (;;) {
      const next = this.#end();
      if (next >= place) return;
      this.#line++;
      this.#starts[this.#line % this.#starts.length] = next + 1;
      this.#lineEnd = -1;
    }
  }

  #end(): number {
    if (this.#lineEnd === -1) {
      const end = this.#text.indexOf("\n", this.#start(this.#line));
      this.#lineEnd = end === -1 ? this.#text.length : end;
    }
    return this.#lineEnd;
  }

  #start(line: number): number {
    return this.#starts[line % this.#starts.length]!;
  }

  #matchedLine(
    start: number,
    end: number,
  ): { readonly text: string; readonly shownFrom?: number; readonly isWhole: boolean } {
    const from = this.#start(this.#line);
    const to = this.#end();
    if (to - from <= LINE_CHARS) return { text: this.#text.slice(from, to), isWhole: true };
    // A window that begins a little before the match, and goes to the line's end where that is near.
    const lead = Math.min(LINE_CHARS / 4, Math.max(0, LINE_CHARS - (end - start)));
    const first = whole(this.#text, Math.max(from, Math.min(start - lead, to - LINE_CHARS)));
    const last = whole(this.#text, Math.min(to, first + LINE_CHARS));
    const middle = this.#text.slice(first, last);
    const cut = last < to ? middle + CUT : middle;
    if (first === from) return { text: cut, isWhole: last === to };
    return { text: CUT + cut, shownFrom: first - from, isWhole: last === to };
  }

  /** The further lines of the match itself, and the context behind it. */
  #linesAfter(end: number, shown: string[]): void {
    let at = this.#end() + 1;
    let context = this.#context;
    for (let own = 0; at < this.#text.length; ) {
      // A line that begins before the match's end is its own; the bound on those is the one on context.
      if (at < end && own < limits.contextLines) own++;
      else if (context-- <= 0) return;
      const near = this.#text.slice(at, at + LINE_CHARS + 1);
      const length = near.indexOf("\n");
      const isLast = at + near.length === this.#text.length;
      if (length === -1 && !(isLast && near.length <= LINE_CHARS)) {
        shown.push(headOf(this.#text, at, this.#text.length));
        return;
      }
      shown.push(length === -1 ? near : near.slice(0, length));
      at += length === -1 ? near.length + 1 : length + 1;
    }
  }
}

/** A line, cut where it is too long. */
function headOf(text: string, from: number, to: number): string {
  if (to - from <= LINE_CHARS) return text.slice(from, to);
  return text.slice(from, whole(text, from + LINE_CHARS)) + CUT;
}

/** The place itself, or one less where it would part a surrogate pair. */
function whole(text: string, place: number): number {
  const unit = text.charCodeAt(place);
  return unit >= 0xdc00 && unit <= 0xdfff && place > 0 ? place - 1 : place;
}
