/**
 * Words that are longer than any line, such as data in base 64, with places at which a browser may break them. Without these it looks
 * through the whole rest of the word for each of its lines: half a million characters took most of a minute. The text stays as it is.
 */
import { Fragment, type ReactNode } from "react";

const LONG_CHARS = 1_000;
const PART_CHARS = 200;
const LONG = new RegExp(`\\S{${LONG_CHARS}}`);
/** No part ends within a character that is written as a pair. */
const PARTS = new RegExp(`[\\s\\S]{1,${PART_CHARS}}(?![\\udc00-\\udfff])`, "g");

export function breakable(text: string): ReactNode {
  if (text.length < LONG_CHARS || !LONG.test(text)) return text;
  return (text.match(PARTS) ?? [text]).map((part, i) => (
    <Fragment key={i}>
      {i > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
