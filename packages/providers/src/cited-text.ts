/**
 * A text that comes in parts. An API splits an answer at its citations: each cited passage is a content block of its own,
 * and what stands between two of them is one more. For a reader that is one text, with citations at their places.
 *
 * A part belongs to the text in front of it if either has citations; that is the same however the parts come, in deltas
 * or whole. Until a part's first citation, or its end, tells, its text is held back.
 */

import { type Json, type JsonObject, jsonText } from "@blockyard/kernel";

/** A citation, and the characters of the text before it. */
export interface Cited {
  readonly citation: Json;
  readonly start: number;
  readonly end: number;
}

/** The text so far; open until something other than text follows. */
export interface CitedText {
  text: string;
  readonly cited: Cited[];
}

/** A content block that may be part of the text in front of it. */
export interface TextPart {
  text: string;
  citations: Json[];
  isJoined: boolean;
}

/** The first part: the text itself. */
export function firstPart(text: string, citations: readonly Json[]): CitedText {
  const whole: CitedText = { text: "", cited: [] };
  join(whole, { text, citations: [...citations], isJoined: true });
  return whole;
}

export function nextPart(before: CitedText): TextPart {
  return { text: "", citations: [], isJoined: before.cited.length > 0 };
}

/** What to write now: nothing while its place is unknown. */
export function addText(part: TextPart, delta: string): string {
  part.text += delta;
  return part.isJoined ? delta : "";
}

/** What to write now: everything held back, if this decides its place. */
export function addCitation(part: TextPart, citation: Json): string {
  part.citations.push(citation);
  if (part.isJoined) return "";
  part.isJoined = true;
  return part.text;
}

/** The part is complete. Whether it belongs to the previous text; if so that text has grown. */
export function endPart(before: CitedText, part: TextPart): boolean {
  if (!part.isJoined && part.citations.length === 0) return false;
  part.isJoined = true;
  join(before, part);
  return true;
}

function join(before: CitedText, part: TextPart): void {
  const start = before.text.length;
  before.text += part.text;
  for (const citation of part.citations) before.cited.push({ citation, start, end: before.text.length });
}

/** An annotation's place in its text: undefined if it states none, or the text has no such place. */
export type PlaceOf = (annotation: JsonObject) => Pick<Cited, "start" | "end"> | object;

/**
 * Places of annotations of OpenAI's APIs. They count characters as Python does, by code points; servers that speak the
 * same protocol may count UTF-16 units. The passage is mostly a link in Markdown, so its address decides.
 */
export function placesIn(text: string): PlaceOf {
  // The code points that take two units, by their number.
  const wide = [...text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)].map(({ index }, i) => index - i);
  const units = (points: number) => points + countBelow(wide, points);
  return ({ start_index: first, end_index: last, url }) => {
    if (!isCount(first) || !isCount(last) || last <= first) return {};
    const isLink = (from: number, to: number) => {
      const passage = text.slice(from, to);
      return /^\(?\[/.test(passage) && passage.endsWith(")") && passage.includes(jsonText(url));
    };
    const [start, end] = [units(first), units(last)];
    if (!isLink(start, end) && isLink(first, last)) return { start: first, end: last };
    return end > text.length ? {} : { start, end };
  };
}

function isCount(value: Json | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** How many of the sorted numbers are below one. */
function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
