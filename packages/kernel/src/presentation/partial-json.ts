/**
 * A JSON value read while it is still being written: pieces go in, the value so far comes out.
 *
 * Not a replacement for JSON.parse: a whole value is parsed by that. Work is linear in the characters pushed, however
 * finely they are cut; nothing is read twice and nothing is ever thrown. Half a surrogate pair or half an escape is
 * held back until its other half arrives. Numbers and literals show up when they are whole, strings at once. What JSON
 * does not allow breaks the reader for good: it keeps the value that it had.
 */

import type { Json } from "../model/json.ts";
import { limits } from "../model/limits.ts";
import { JSON_NUMBER_CHARS } from "./limits.ts";

type PartialState = "open" | "complete" | "broken";

export type PartialPath = readonly (string | number)[];

/** A string that may still grow. `since` costs what it returns, not the whole length. */
interface GrowingString {
  readonly length: number;
  readonly complete: boolean;
  text(): string;
  since(offset: number): string;
}

type Container = Json[] | Record<string, Json>;

interface Frame {
  readonly value: Container;
  /** The key or index that is being filled. */
  key: string | number;
}

/** What the grammar expects next; plain numbers, because this is compared once per character. */
const VALUE = 0;
const ELEMENT_OR_END = 1;
const KEY_OR_END = 2;
const KEY = 3;
const COLON = 4;
const COMMA_OR_END = 5;
const STRING = 6;
const ESCAPE = 7;
const UNICODE = 8;
const BARE = 9;
const DONE = 10;
const BROKEN = 11;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const HEX = /^[0-9a-fA-F]$/;
const BARE_CHARACTER = /[-+.0-9a-zA-Z]/;
const LITERALS = new Map<string, Json>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

export class PartialJson {
  readonly #maxDepth: number;
  #expect = VALUE;
  readonly #stack: Frame[] = [];
  #root: Json | undefined;
  #readsKey = false;
  /** The open string: as one growing text, and as the pieces it came in. */
  #text = "";
  #pieces: string[] = [];
  /** A high surrogate whose other half has not come yet. */
  #half = "";
  #digits = "";
  #bare = "";

  constructor(maxDepth: number = limits.jsonDepth - 8) {
    this.#maxDepth = maxDepth;
  }

  get state(): PartialState {
    if (this.#expect === DONE) return "complete";
    return this.#expect === BROKEN ? "broken" : "open";
  }

  get complete(): boolean {
    return this.#expect === DONE;
  }

  get broken(): boolean {
    return this.#expect === BROKEN;
  }

  push(chunk: string): void {
    let i = 0;
    while (i < chunk.length) {
      if (this.#expect === STRING) i = this.#readString(chunk, i);
      else if (this.#expect === BROKEN) return;
      else if (this.#expect === ESCAPE) this.#readEscape(chunk[i++] as string);
      else if (this.#expect === UNICODE) this.#readUnicode(chunk[i++] as string);
      else if (this.#expect === BARE) i = this.#readBare(chunk, i);
      else this.#readStructure(chunk[i++] as string);
    }
  }

  /** Nothing follows: settles a number that stands alone, and says how it ended. */
  end(): PartialState {
    if (this.#expect === BARE && this.#stack.length === 0) this.#closeBare();
    return this.state;
  }

  /**
   * The value so far; undefined before the first one has begun. It is the reader's own, changed by later pushes: copy
   * it to keep it.
   */
  value(): Json | undefined {
    if (this.#readsValueString()) this.#put(this.#text);
    return this.#root;
  }

  /** The string at `path`, whole or growing; undefined where there is none (yet). */
  string(path: PartialPath): GrowingString | undefined {
    if (this.#readsValueString() && this.#isOpenPath(path)) return this.#growing();
    const value = valueAt(this.#root, path);
    return typeof value === "string" ? wholeString(value) : undefined;
  }

  /** Where the string that is being written stands; undefined while none is. */
  openPath(): PartialPath | undefined {
    return this.#readsValueString() ? this.#stack.map((frame) => frame.key) : undefined;
  }

  #growing(): GrowingString {
    const pieces = this.#pieces;
    const count = pieces.length;
    const text = this.#text;
    return {
      length: text.length,
      complete: false,
      text: () => text,
      since: (offset) => lastOf(pieces, count, text.length - offset),
    };
  }

  #readsValueString(): boolean {
    const expect = this.#expect;
    return !this.#readsKey && (expect === STRING || expect === ESCAPE || expect === UNICODE);
  }

  #isOpenPath(path: PartialPath): boolean {
    const stack = this.#stack;
    return path.length === stack.length && stack.every((frame, i) => frame.key === path[i]);
  }

  #readStructure(character: string): void {
    if (character === " " || character === "\n" || character === "\r" || character === "\t") return;
    const expect = this.#expect;
    if (expect === DONE) return this.#break();
    if (expect === COLON) return this.#move(character === ":" ? VALUE : BROKEN);
    if (expect === COMMA_OR_END) return this.#readComma(character);
    if (expect === KEY || expect === KEY_OR_END) {
      if (character === '"') return this.#openString(true);
      if (character === "}" && expect === KEY_OR_END) return this.#closeContainer();
      return this.#break();
    }
    if (character === "]" && expect === ELEMENT_OR_END) return this.#closeContainer();
    this.#openValue(character);
  }

  #openValue(character: string): void {
    if (character === '"') return this.#openString(false);
    if (character === "{") return this.#openContainer({}, "", KEY_OR_END);
    if (character === "[") return this.#openContainer([], 0, ELEMENT_OR_END);
    if (!BARE_CHARACTER.test(character)) return this.#break();
    this.#bare = character;
    this.#expect = BARE;
  }

  #readComma(character: string): void {
    const frame = this.#stack[this.#stack.length - 1] as Frame;
    const isArray = Array.isArray(frame.value);
    if (character === (isArray ? "]" : "}")) return this.#closeContainer();
    if (character !== ",") return this.#break();
    if (isArray) frame.key = (frame.key as number) + 1;
    this.#expect = isArray ? VALUE : KEY;
  }

  #openContainer(value: Container, key: string | number, expect: number): void {
    if (this.#stack.length >= this.#maxDepth) return this.#break();
    this.#put(value);
    this.#stack.push({ value, key });
    this.#expect = expect;
  }

  #closeContainer(): void {
    this.#stack.pop();
    this.#afterValue();
  }

  #openString(isKey: boolean): void {
    this.#readsKey = isKey;
    this.#text = "";
    this.#pieces = [];
    this.#expect = STRING;
  }

  /** Takes the run of plain characters at `from`, and what ended it; returns where to go on. */
  #readString(chunk: string, from: number): number {
    let i = from;
    let code = 0;
    for (; i < chunk.length; i++) {
      code = chunk.charCodeAt(i);
      if (code === QUOTE || code === BACKSLASH || code < 0x20) break;
    }
    if (i > from) this.#append(chunk.slice(from, i));
    if (i === chunk.length) return i;
    if (code === QUOTE) this.#closeString();
    else if (code === BACKSLASH) this.#expect = ESCAPE;
    else this.#break();
    return i + 1;
  }

  #readEscape(character: string): void {
    if (character === "u") {
      this.#digits = "";
      this.#expect = UNICODE;
      return;
    }
    const plain = ESCAPES[character];
    if (plain === undefined) return this.#break();
    this.#append(plain);
    this.#expect = STRING;
  }

  #readUnicode(character: string): void {
    if (!HEX.test(character)) return this.#break();
    this.#digits += character;
    if (this.#digits.length < 4) return;
    this.#append(String.fromCharCode(Number.parseInt(this.#digits, 16)));
    this.#expect = STRING;
  }

  #append(piece: string): void {
    let text = this.#half + piece;
    this.#half = "";
    const last = text.charCodeAt(text.length - 1);
    if (last >= 0xd800 && last <= 0xdbff) {
      this.#half = text.slice(-1);
      text = text.slice(0, -1);
    }
    if (text === "") return;
    this.#text += text;
    if (!this.#readsKey) this.#pieces.push(text);
  }

  #closeString(): void {
    const text = this.#text + this.#half;
    this.#half = "";
    if (this.#readsKey) {
      (this.#stack[this.#stack.length - 1] as Frame).key = text;
      this.#readsKey = false;
      this.#expect = COLON;
      return;
    }
    this.#put(text);
    this.#afterValue();
  }

  #readBare(chunk: string, from: number): number {
    let i = from;
    while (i < chunk.length && BARE_CHARACTER.test(chunk[i] as string)) i++;
    this.#bare += chunk.slice(from, i);
    if (this.#bare.length > JSON_NUMBER_CHARS) this.#break();
    else if (i < chunk.length) this.#closeBare();
    return i;
  }

  #closeBare(): void {
    const bare = this.#bare;
    const literal = LITERALS.get(bare);
    if (literal === undefined && !NUMBER.test(bare)) return this.#break();
    this.#put(literal === undefined ? Number(bare) : literal);
    this.#afterValue();
  }

  #put(value: Json): void {
    const frame = this.#stack[this.#stack.length - 1];
    if (frame === undefined) this.#root = value;
    else if (frame.key !== "__proto__") (frame.value as Record<string | number, Json>)[frame.key] = value;
  }

  #afterValue(): void {
    this.#expect = this.#stack.length === 0 ? DONE : COMMA_OR_END;
  }

  #move(expect: number): void {
    this.#expect = expect;
  }

  #break(): void {
    if (this.#readsValueString()) this.#put(this.#text);
    this.#expect = BROKEN;
  }
}

function valueAt(root: Json | undefined, path: PartialPath): Json | undefined {
  let value = root;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string | number, Json>)[key];
  }
  return value;
}

function wholeString(value: string): GrowingString {
  return { length: value.length, complete: true, text: () => value, since: (offset) => value.slice(offset) };
}

/** The last `length` characters of what the first `count` pieces join to, without joining them all. */
function lastOf(pieces: readonly string[], count: number, length: number): string {
  let text = "";
  for (let i = count - 1; i >= 0 && text.length < length; i--) text = (pieces[i] as string) + text;
  return length <= 0 ? "" : text.slice(-length);
}
