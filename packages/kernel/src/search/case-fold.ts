/**
 * Case folding that keeps every offset: a text and its folded form have the same length in UTF-16 units, so a place
 * found in one is the place in the other. `toLowerCase` does not keep it ("İ" grows, a final sigma depends on its
 * neighbours).
 *
 * It is the simple folding of Unicode: two characters fold to the same one exactly if the regex engine takes them for
 * equal when it ignores case (checked against it for every character that has case). Full folding, where "ß" is "ss",
 * and normalization are not done here.
 */

/** Characters whose partner neither upper nor lower case finds. */
const PARTNERS: ReadonlyMap<number, number> = new Map([
  [0x1fd3, 0x0390],
  [0x1fe3, 0x03b0],
  [0xfb05, 0xfb06],
]);

const DOTLESS_I = 0x131; // its upper case is I, but it is no i in any other way

/** Cached folds of BMP units; 0 is not known yet. */
const known = new Uint16Array(0x10000);

const NOT_ASCII = /[\u0080-\uffff]/;

/** The text with every character folded; its length stays the same. */
export function foldCase(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + 8_192, text.length);
    if (isHighHalf(text.charCodeAt(end - 1)) && end < text.length) end++;
    parts.push(foldPart(text, at, end));
    at = end;
  }
  return parts.join("");
}

function foldPart(text: string, from: number, to: number): string {
  const units = new Uint16Array(to - from);
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at);
    if (isHighHalf(unit) && at + 1 < to) {
      const folded = foldPoint(text.codePointAt(at) as number);
      const pair = String.fromCodePoint(folded);
      units[at - from] = pair.charCodeAt(0);
      // A high surrogate without its low half is one unit and stays as it is.
      if (pair.length === 2) units[++at - from] = pair.charCodeAt(1);
    } else {
      units[at - from] = known[unit] || foldUnit(unit);
    }
  }
  return Reflect.apply(String.fromCharCode, null, units);
}

function foldUnit(unit: number): number {
  const folded = foldPoint(unit);
  known[unit] = folded;
  return folded;
}

/** Up, then down: that joins all characters that share an upper case, such as σ, ς and Σ. */
function foldPoint(point: number): number {
  const partner = PARTNERS.get(point);
  if (partner !== undefined) return partner;
  if (point === DOTLESS_I) return point;
  const upper = single(String.fromCodePoint(point).toUpperCase(), point);
  return single(String.fromCodePoint(upper).toLowerCase(), upper);
}

/** The single character of `text` if it has as many units as `point`; otherwise `point`. */
function single(text: string, point: number): number {
  const first = text.codePointAt(0) as number;
  const isOne = text.length === (first > 0xffff ? 2 : 1);
  return isOne && first > 0xffff === point > 0xffff ? first : point;
}

function isHighHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
