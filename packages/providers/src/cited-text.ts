/**
 * A text that comes in parts. An API splits an answer at its citations: each cited passage is a content block of its own,
 * and what stands between two of them is one more. For a reader that is one text, with citations at their places.
 *
 * A part belongs to the text in front of it if either has citations; that is the same however the parts come, in deltas
 * or whole. Until a part's first citation, or its end, tells, its text is held back.
 */

import type { Json } from "@blockyard/kernel";

/** A citation, and the characters of the text that it stands behind. */
export interface Cited {
  readonly citation: Json;
  readonly start: number;
  readonly end: number;
}

/** The text so far; open until something else than a text follows. */
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

/** What is to be written now: nothing while it is not known where. */
export function addText(part: TextPart, delta: string): string {
  part.text += delta;
  return part.isJoined ? delta : "";
}

/** What is to be written now: all that was held back, if this is what tells. */
export function addCitation(part: TextPart, citation: Json): string {
  part.citations.push(citation);
  if (part.isJoined) return "";
  part.isJoined = true;
  return part.text;
}

/** The part is whole. Whether it belongs to the text before; if so that text has grown. */
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
