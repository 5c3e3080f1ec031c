/**
 * Tokens: what texts are indexed by. A case-folded text is cut into runs of one class of characters: letters and digits, or
 * punctuation; white space separates and is not indexed. A run is a token. Of a run of more than MAX_RUN_UNITS, and of one in a
 * script that does not separate words, every string of three units is a token instead, a gram.
 *
 * A string that a text must hold is cut the same way (`piecesOf`). A piece inside the string is a whole run of the text; the
 * first and the last may be parts of longer runs.
 *
 * A key is a token as a binary string: one character for each byte, units from 0x80 on in two or three bytes as in UTF-8 (halves
 * of surrogate pairs by themselves). Keys are ordered by their bytes. Keys that are not tokens begin with a byte below 0x20.
 *
 * Invariant: if a text holds a string, every piece of the string is found among the text's tokens as its `Piece` says.
 */
import { MAX_RUN_UNITS } from "../limits.ts";

/** Separates keys; no key holds it. */
export const SEPARATOR = "\0";
const SEPARATOR_IN_GRAMS = "\u0002";
const GRAM = "\u0001";
const PATH = "\u0003";
const KIND = "\u0004";
const CONVERSATION = "\u0005";

type UnitClass = 0 | 1 | 2 | 3;
const SPACE = 0;
const WORD = 1;
const PUNCTUATION = 2;
/** Scripts without spaces between words, and everything beyond the basic plane. */
const UNSPACED = 3;

/** The class of every UTF-16 unit. */
const CLASSES = classes();

/** A part of a demanded string that is a run, or lies in one. */
export interface Piece {
  readonly text: string;
  /** Whether the run begins, ends with the piece. */
  readonly isStart: boolean;
  readonly isEnd: boolean;
  readonly isWord: boolean;
  /** The run is indexed by its grams, whatever else it holds. */
  readonly isGrams: boolean;
}

/** Where `visit` finds a key: bytes from 0 to `length` of the buffer, which is used again. */
type KeyVisitor = (bytes: Uint8Array, length: number, hash: number) => void;

const scratch = new Uint8Array(4 + MAX_RUN_UNITS * 3);

/** Calls `visit` for every token of a folded text from one place to another, in the order of the text, repeated ones too. */
export function visitTokens(folded: string, from: number, to: number, visit: KeyVisitor): void {
  for (let at = from; at < to; ) {
    const kind = CLASSES[folded.charCodeAt(at)] as UnitClass;
    if (kind === SPACE) {
      at++;
      continue;
    }
    const end = runEnd(folded, at, to, kind);
    if (kind === UNSPACED || end - at > MAX_RUN_UNITS) {
      for (let gram = at; gram + 3 <= end; gram++) visitKey(folded, gram, gram + 3, true, visit);
    } else visitKey(folded, at, end, false, visit);
    at = end;
  }
}

/** The end of the run that a place lies in: texts are indexed in parts, which must not part a run. */
export function endOfRun(folded: string, at: number): number {
  if (at === 0 || at >= folded.length) return Math.min(at, folded.length);
  const kind = CLASSES[folded.charCodeAt(at - 1)] as UnitClass;
  return runEnd(folded, at, folded.length, kind);
}

/** The pieces of a folded string that say anything about a text that holds it. */
export function piecesOf(folded: string): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < folded.length; ) {
    const kind = CLASSES[folded.charCodeAt(at)] as UnitClass;
    const end = runEnd(folded, at, folded.length, kind);
    const isGrams = kind === UNSPACED || end - at > MAX_RUN_UNITS;
    const isStart = at > 0;
    const isEnd = end < folded.length;
    const says = isGrams ? end - at >= 3 : (isStart && isEnd) || end - at >= 3;
    if (kind !== SPACE && says)
      pieces.push({ text: folded.slice(at, end), isStart, isEnd, isWord: kind !== PUNCTUATION, isGrams });
    at = end;
  }
  return pieces;
}

/** The keys of a string's grams. */
export function gramKeys(text: string): string[] {
  const keys = new Set<string>();
  for (let at = 0; at + 3 <= text.length; at++) keys.add(GRAM + encodeKey(text.slice(at, at + 3)));
  return [...keys];
}

export function encodeKey(text: string): string {
  let key = "";
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) key += text[at];
    else if (unit < 0x800) key += String.fromCharCode(0xc0 | (unit >> 6), 0x80 | (unit & 0x3f));
    else key += String.fromCharCode(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f));
  }
  return key;
}

/** Keys of what else a block is found by. */
export function kindKey(kind: string): string {
  return KIND + kind;
}

export function pathKey(path: string): string {
  return PATH + encodeKey(path.replaceAll(SEPARATOR, ""));
}

export function conversationKey(row: number): string {
  return CONVERSATION + row.toString(36);
}

/** A string of keys with what stands for separators in grams, which are keys themselves. */
export function inGrams(keys: string): string {
  return keys.replaceAll(SEPARATOR, SEPARATOR_IN_GRAMS);
}

/** Whether a key is a token that a part of it may be asked for. */
export function isRunKey(key: string): boolean {
  return key.charCodeAt(0) > 0x20;
}

/** The hash that `visitTokens` gives, of a key. */
export function hashOfKey(bytes: Uint8Array, length: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < length; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

function runEnd(text: string, from: number, to: number, kind: UnitClass): number {
  let end = from;
  while (end < to && CLASSES[text.charCodeAt(end)] === kind) end++;
  return end;
}

function visitKey(text: string, from: number, to: number, isGram: boolean, visit: KeyVisitor): void {
  let length = 0;
  if (isGram) scratch[length++] = 1;
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) scratch[length++] = unit;
    else if (unit < 0x800) {
      scratch[length++] = 0xc0 | (unit >> 6);
      scratch[length++] = 0x80 | (unit & 0x3f);
    } else {
      scratch[length++] = 0xe0 | (unit >> 12);
      scratch[length++] = 0x80 | ((unit >> 6) & 0x3f);
      scratch[length++] = 0x80 | (unit & 0x3f);
    }
  }
  visit(scratch, length, hashOfKey(scratch, length));
}

function classes(): Uint8Array {
  const table = new Uint8Array(0x10000);
  for (let unit = 0; unit < 0x10000; unit++) {
    const char = String.fromCharCode(unit);
    if (unit <= 0x20 || unit === 0x7f || /\s/.test(char)) table[unit] = SPACE;
    else if (unit < 0x80) table[unit] = /\w/.test(char) ? WORD : PUNCTUATION;
    else table[unit] = unit < 0x2e80 ? WORD : UNSPACED;
  }
  return table;
}
