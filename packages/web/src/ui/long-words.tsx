/**
 * Words that are longer than any line, such as data in base 64, with places at which a browser may break them. Without these it looks
 * through the whole rest of the word for each of its lines: half a million characters took most of a minute. The text stays as it is.
 */

import { Fragment, type ReactNode } from "react";
import { LONG_WORD_CHARS, WORD_PART_CHARS } from "./limits.ts";

/** Searched from the start of a word, so that each character is read once. */
const LONG = new RegExp(`(?<!\\S)\\S{${LONG_WORD_CHARS}}`);
/** No part ends within a character that is written as a pair. */
const PARTS = new RegExp(`[\\s\\S]{1,${WORD_PART_CHARS}}(?![\\udc00-\\udfff])`, "g");

/**
 * The same for a line of many pieces that is one word, such as a coloured one: says of each piece, in order, whether it
 * begins with a place to break.
 */
export function wordBreaks(): (text: string) => boolean {
  let chars = 0;
  return (text) => {
    const space = text.search(/\s/);
    const isLong = chars > 0 && chars + (space === -1 ? text.length : space) > WORD_PART_CHARS * 2;
    const before = isLong || space !== -1 ? 0 : chars;
    chars = before + lastWordChars(text);
    return isLong;
  };
}

/** How long the last word of a text is; of a long one, that it is long. */
function lastWordChars(text: string): number {
  const first = Math.max(0, text.length - LONG_WORD_CHARS);
  for (let at = text.length; at > first; at--) if (/\s/.test(text[at - 1] as string)) return text.length - at;
  return text.length - first;
}

export function isLongLine(chars: number): boolean {
  return chars >= LONG_WORD_CHARS;
}

export function breakable(text: string): ReactNode {
  if (text.length < LONG_WORD_CHARS || !LONG.test(text)) return text;
  return (text.match(PARTS) ?? [text]).map((part, i) => (
    <Fragment key={i}>
      {i > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
