/**
 * JSON values that are written over several lines, between lines that hold one each: pretty-printed events, one after the other,
 * or one array of all of them.
 *
 * A value begins with a line that starts with a bracket and leaves one open, and ends with the line that closes the last of
 * them. No character is looked at twice, so that a value is given as soon as it is whole, however long it is.
 */

import { bounds } from "../limits.ts";
import { parseText } from "./json.ts";

type Gathered =
  /** A line by itself: an event, or noise. */
  | { readonly line: string }
  /** A value over several lines. */
  | { readonly value: string }
  /** Lines that looked like the beginning of a value, and are none. */
  | { readonly lines: readonly string[] };

export class DocumentReader {
  #lines: string[] = [];
  #chars = 0;
  #depth = 0;

  /** A line that is not blank, in; what is whole with it, out. */
  push(line: string): readonly Gathered[] {
    if (this.#lines.length === 0 && !beginsValue(line)) return [{ line }];
    // An object has no objects without a name: the beginning was none, and the line stands for itself.
    if (this.#isObject() && isWholeObject(line)) return [...this.#giveUp(), { line }];
    this.#lines.push(line);
    this.#chars += line.length;
    this.#depth += depthOf(line);
    if (this.#depth <= 0) return this.#take();
    return this.#chars > bounds.lineBytes ? this.#giveUp() : [];
  }

  /** What has begun and is not whole. */
  end(): readonly string[] {
    const left = this.#lines;
    this.#clear();
    return left;
  }

  #isObject(): boolean {
    return this.#depth === 1 && this.#lines[0]?.trimStart().startsWith("{") === true;
  }

  #take(): readonly Gathered[] {
    const value = this.#lines.join("\n");
    this.#clear();
    return [{ value }];
  }

  #giveUp(): readonly Gathered[] {
    const lines = this.#lines;
    this.#clear();
    return [{ lines }];
  }

  #clear(): void {
    this.#lines = [];
    this.#chars = 0;
    this.#depth = 0;
  }
}

/** Nothing, a name or another bracket stands behind the bracket that opens a value. */
const OPENING = /^\ufeff?\s*(\{\s*("|$)|\[\s*(["{[]|$))/;

/** A line that was cut in its middle seldom ends where a printer breaks lines: behind one of `{[,:`. */
function beginsValue(line: string): boolean {
  const text = line.trimEnd();
  const last = text.charCodeAt(text.length - 1);
  if (last !== 0x7b && last !== 0x5b && last !== 0x2c && last !== 0x3a) return false;
  if (!OPENING.test(text)) return false;
  const depth = depthOf(text);
  return depth > 0 && depth <= bounds.eventDepth;
}

function isWholeObject(line: string): boolean {
  const text = line.trim();
  return text.startsWith("{") && text.endsWith("}") && text.length > 2 && parseText(text) !== undefined;
}

/** How many brackets the line leaves open, strings aside; no string goes over a line. */
function depthOf(line: string): number {
  let depth = 0;
  let isInString = false;
  for (let i = 0; i < line.length; i++) {
    const code = line.charCodeAt(i);
    if (isInString) {
      if (code === 0x5c) i++;
      else if (code === 0x22) isInString = false;
    } else if (code === 0x22) isInString = true;
    else if (code === 0x7b || code === 0x5b) depth++;
    else if (code === 0x7d || code === 0x5d) depth--;
  }
  return depth;
}
