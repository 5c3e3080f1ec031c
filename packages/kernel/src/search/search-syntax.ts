/**
 * What a regular expression demands of a text, read from its syntax: strings that every text with a match must
 * contain, and whether a match can leave its line. It is read only for patterns that the engine has already accepted,
 * and knows just enough of RE2's syntax for that: it decides nothing about what matches.
 *
 * Invariant: it errs on one side. Where it is not sure it demands nothing and says that a match may leave its line;
 * so a block is never passed over wrongly (fuzzed against the engine). All strings are case-folded, because the
 * filters are, so the flag `i` makes no difference here.
 */

import { limits } from "../model/limits.ts";
import { foldCase } from "./case-fold.ts";

/**
 * Conditions on a folded text: it contains all of `strings`, and of every group at least one alternative holds.
 * Nothing in either: no condition.
 */
export interface Demand {
  readonly strings: readonly string[];
  readonly groups: readonly (readonly Demand[])[];
}

interface PatternShape {
  readonly demand: Demand;
  /** Every match lies within a line and depends only on that line. */
  readonly lineBound: boolean;
}

/** Parts of a pattern, by what they can match. `exact`: all the strings that they can match, if these are few. */
type Part =
  | { readonly exact: readonly string[] }
  /** Otherwise: how a match can begin, how it can end, and what the text must contain anyway. */
  | {
      readonly exact: null;
      readonly head: readonly string[];
      readonly tail: readonly string[];
      readonly demand: Demand;
    };

/** A named set of characters. All that matters of it is whether a newline is in it; undefined: not known. */
interface CharacterSet {
  readonly newline: boolean | undefined;
}

const NOTHING: Demand = { strings: [], groups: [] };
const EMPTY: Part = { exact: [""] };
const ANYTHING: Part = { exact: null, head: [""], tail: [""], demand: NOTHING };

export function shapeOf(pattern: string): PatternShape {
  const reader = new Reader(pattern);
  const part = reader.alternatives();
  // The reader stopped early: it misread a pattern that the engine accepts, so its result is unusable.
  if (reader.failed || !reader.atEnd) return { demand: NOTHING, lineBound: false };
  return { demand: demandOf(part), lineBound: reader.lineBound };
}

/** A literal demands itself. */
export function shapeOfLiteral(literal: string): PatternShape {
  return { demand: { strings: [foldCase(literal)], groups: [] }, lineBound: !literal.includes("\n") };
}

class Reader {
  lineBound = true;
  failed = false;
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  get atEnd(): boolean {
    return this.failed || this.#at >= this.#pattern.length;
  }

  /** Up to a closing parenthesis or the end. */
  alternatives(): Part {
    const parts = [this.#sequence()];
    while (this.#takes("|")) parts.push(this.#sequence());
    return parts.length === 1 ? (parts[0] as Part) : either(parts);
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (!this.atEnd && this.#peek() !== "|" && this.#peek() !== ")") {
      const repeat = this.#repeat();
      // A repetition takes the one part before it, which may be the last character of a quoted string.
      if (repeat !== undefined) parts.push(repeated(parts.pop() ?? EMPTY, repeat));
      else parts.push(...this.#atoms());
    }
    return inOrder(parts);
  }

  #repeat(): { min: number; max: number } | undefined {
    const [whole, min, comma, max] =
      /^(?:[*+?]|\{(0|[1-9]\d{0,7})(?:(,)(0|[1-9]\d{0,7})?)?\})/.exec(
        this.#pattern.slice(this.#at, this.#at + 24),
      ) ?? [];
    if (whole === undefined) return undefined;
    this.#at += whole.length;
    this.#takes("?"); // not greedy: the same strings
    if (whole === "*") return { min: 0, max: Number.POSITIVE_INFINITY };
    if (whole === "+") return { min: 1, max: Number.POSITIVE_INFINITY };
    if (whole === "?") return { min: 0, max: 1 };
    const least = Number(min);
    if (comma === undefined) return { min: least, max: least };
    return { min: least, max: max === undefined ? Number.POSITIVE_INFINITY : Number(max) };
  }

  #atoms(): Part[] {
    switch (this.#peek()) {
      case "(":
        return this.#group();
      case "[":
        return [this.#class()];
      case "\\":
        return this.#escape();
      case "^":
      case "$":
        this.#at++;
        return [EMPTY];
      case ".":
        this.#at++;
        return [ANYTHING];
      default:
        return [this.#literal(this.#point())];
    }
  }

  /** `(?i)` is not a part: a repetition after it applies to what is before it. */
  #group(): Part[] {
    this.#at++;
    if (this.#takes("?")) {
      const [whole, flags] =
        /^(?:P?<\w+>|([imsU]*(?:-[imsU]+)?)[:)])/.exec(this.#pattern.slice(this.#at)) ?? [];
      if (whole === undefined) return [this.#giveUp()];
      this.#at += whole.length;
      // `.` may match a newline from here on, or `^` and `$` mean the ends of the text.
      if (flags !== undefined && /^[imU]*s|-[isU]*m/.test(flags)) this.lineBound = false;
      if (whole.endsWith(")")) return [];
    }
    const part = this.alternatives();
    return [this.#takes(")") ? part : this.#giveUp()];
  }

  #escape(): Part[] {
    const letter = this.#pattern[this.#at + 1] ?? "";
    if (letter === "Q") return this.#quoted();
    if ("AzbB".includes(letter)) {
      this.#at += 2;
      if (letter === "A" || letter === "z") this.lineBound = false;
      return [EMPTY];
    }
    const set = this.#setEscape();
    if (set === undefined) return [this.#literal(this.#escapedPoint())];
    if (set.newline !== false) this.lineBound = false;
    return [ANYTHING];
  }

  #quoted(): Part[] {
    this.#at += 2;
    const end = this.#pattern.indexOf("\\E", this.#at);
    const text = this.#pattern.slice(this.#at, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#pattern.length : end + 2;
    return Array.from(text, (character) => this.#literal(character.codePointAt(0)));
  }

  /** `\d`, `\pL`, …; undefined: no set. */
  #setEscape(): CharacterSet | undefined {
    const [whole, letter, property] =
      /^\\(?:([dDsSwW])|[pP](?:\{([^}]*)\}|.))/su.exec(this.#pattern.slice(this.#at, this.#at + 80)) ?? [];
    if (whole === undefined) return undefined;
    this.#at += whole.length;
    if (letter !== undefined) return { newline: "DsW".includes(letter) };
    // Letters and numbers are no newlines; of the other properties nothing is assumed.
    const isPlain = /^[LN][a-z]?$/.test(property ?? whole.slice(2));
    return { newline: isPlain ? whole[1] === "P" : undefined };
  }

  #class(): Part {
    this.#at++;
    const negated = this.#takes("^");
    let mayBeNewline = false;
    let isNewline = false;
    const characters = new Set<string>();
    let isSmall = !negated;
    for (let first = true; first || this.#peek() !== "]"; first = false) {
      if (this.atEnd) return this.#giveUp();
      const set = this.#namedSet() ?? this.#setEscape();
      if (set !== undefined) {
        mayBeNewline ||= set.newline !== false;
        isNewline ||= set.newline === true;
        isSmall = false;
        continue;
      }
      const low = this.#classPoint();
      let high = low;
      if (this.#peek() === "-" && this.#pattern[this.#at + 1] !== "]") {
        this.#at++;
        high = this.#classPoint();
      }
      if (low === undefined || high === undefined) return this.#giveUp();
      if (low <= 10 && high >= 10) isNewline = mayBeNewline = true;
      isSmall &&= high - low <= 2 * limits.patternStrings;
      for (let point = low; isSmall && point <= high; point++)
        characters.add(foldCase(String.fromCodePoint(point)));
    }
    this.#at++;
    if (negated ? !isNewline : mayBeNewline) this.lineBound = false;
    return isSmall && characters.size <= limits.patternStrings ? { exact: [...characters] } : ANYTHING;
  }

  /** `[:alpha:]` */
  #namedSet(): CharacterSet | undefined {
    const [whole, not, name] = /^\[:(\^?)(\w+):\]/.exec(this.#pattern.slice(this.#at, this.#at + 16)) ?? [];
    if (whole === undefined || name === undefined) return undefined;
    this.#at += whole.length;
    return { newline: ["space", "cntrl", "ascii"].includes(name) !== (not === "^") };
  }

  #classPoint(): number | undefined {
    return this.#peek() === "\\" ? this.#escapedPoint() : this.#point();
  }

  /** The character of an escape; undefined if it is not one known here. */
  #escapedPoint(): number | undefined {
    const rest = this.#pattern.slice(this.#at, this.#at + 16);
    const [whole, hex, braced, octal, letter, other] =
      /^\\(?:x([\da-fA-F]{2})|x\{([\da-fA-F]{1,9})\}|(0[0-7]{0,2}|[1-7][0-7]{1,2})|([afnrtv])|([^\da-zA-Z\u0080-\uffff]))/.exec(
        rest,
      ) ?? [];
    if (whole === undefined) {
      this.#giveUp();
      return undefined;
    }
    this.#at += whole.length;
    if (letter !== undefined) return { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 }[letter];
    if (other !== undefined) return other.charCodeAt(0);
    return octal !== undefined ? Number.parseInt(octal, 8) : Number.parseInt((hex ?? braced) as string, 16);
  }

  #literal(point: number | undefined): Part {
    if (point === undefined || point > 0x10ffff) return this.#giveUp();
    if (point === 10) this.lineBound = false;
    return { exact: [foldCase(String.fromCodePoint(point))] };
  }

  #point(): number | undefined {
    const point = this.#pattern.codePointAt(this.#at);
    if (point !== undefined) this.#at += point > 0xffff ? 2 : 1;
    return point;
  }

  #peek(): string {
    return this.#pattern[this.#at] ?? "";
  }

  #takes(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }

  #giveUp(): Part {
    this.failed = true;
    return ANYTHING;
  }
}

function either(parts: readonly Part[]): Part {
  const all: string[] = [];
  for (const part of parts) {
    if (part.exact === null)
      return { exact: null, head: [""], tail: [""], demand: anyOf(parts.map(demandOf)) };
    all.push(...part.exact);
  }
  const strings = [...new Set(all)];
  if (isFew(strings)) return { exact: strings };
  return { exact: null, head: [""], tail: [""], demand: oneOf(strings) };
}

/** `X{3}` contains XXX; `X{3,}` begins and ends with X. More than three of them add no useful demand. */
function repeated(part: Part, { min, max }: { min: number; max: number }): Part {
  if (min === 0 && max === 1 && part.exact !== null) return either([part, EMPTY]);
  if (min === 0) return ANYTHING;
  // Inexact parts are not expanded: nested repetitions would triple the demand at every level.
  const first = part.exact === null ? part : inOrder(new Array<Part>(Math.min(min, 3)).fill(part));
  if (max === min && min <= 3 && part.exact !== null) return first;
  const ends = { head: first.exact ?? first.head, tail: first.exact ?? first.tail };
  return { exact: null, ...ends, demand: demandOf(first) };
}

function inOrder(parts: readonly Part[]): Part {
  let current: readonly string[] = [""];
  let head: readonly string[] | undefined;
  const demands: Demand[] = [];
  for (const part of parts) {
    const next = part.exact ?? part.head;
    let joined = product(current, next);
    if (joined === undefined) {
      // Too many or too long: demand what there is, and continue with its last two units, which trigrams may straddle.
      demands.push(oneOf(current));
      head ??= current;
      joined = product([...new Set(current.map((text) => text.slice(-2)))], next) ?? next;
    }
    if (part.exact !== null) {
      current = joined;
    } else {
      demands.push(oneOf(joined), part.demand);
      head ??= joined;
      current = part.tail;
    }
  }
  if (head === undefined) return { exact: current };
  return { exact: null, head, tail: current, demand: allOf([...demands, oneOf(current)]) };
}

function demandOf(part: Part): Demand {
  return part.exact === null ? part.demand : oneOf(part.exact);
}

/** The text holds one of these strings. */
function oneOf(strings: readonly string[]): Demand {
  // A string of fewer than three units has no trigram to look up.
  if (strings.some((text) => text.length < 3)) return NOTHING;
  return anyOf(strings.map((text) => ({ strings: [text], groups: [] })));
}

function anyOf(demands: readonly Demand[]): Demand {
  if (demands.some((demand) => demand.strings.length === 0 && demand.groups.length === 0)) return NOTHING;
  return demands.length === 1 ? (demands[0] as Demand) : { strings: [], groups: [demands] };
}

function allOf(demands: readonly Demand[]): Demand {
  return {
    strings: [...new Set(demands.flatMap((demand) => demand.strings))],
    groups: demands.flatMap((demand) => demand.groups),
  };
}

function product(left: readonly string[], right: readonly string[]): readonly string[] | undefined {
  if (left.length * right.length > limits.patternStrings) return undefined;
  const strings = left.flatMap((start) => right.map((end) => start + end));
  return isFew(strings) ? strings : undefined;
}

function isFew(strings: readonly string[]): boolean {
  return (
    strings.length <= limits.patternStrings &&
    strings.every((text) => text.length <= limits.patternStringChars)
  );
}
