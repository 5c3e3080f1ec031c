/**
 * A text that comes in pieces, without its secrets: a line is given when it is whole, since a secret may be cut anywhere. What
 * names a secret waits for the line that follows, a private key for its end. Lines without an end are given from a length on, cut
 * between two words. Whatever the pieces, each character is looked at a bounded number of times.
 */

import { HELD_CHARS, KEPT_CHARS, SECRET_NAME_CHARS } from "./limits.ts";
import { redactText, type Seen } from "./redact.ts";

/** A line that names the next value: `password:`, `Bearer`. */
const NAMES_NEXT = /(?:[:=]["'\\]{0,3}|\b(?:basic|bearer))\s*$/i;
const KEY_START = "-----BEGIN ";
const KEY_END = "-----END ";

export class TextRedactor {
  readonly #found: Seen;
  #held = "";
  #isInKey = false;

  constructor(found: Seen = () => undefined) {
    this.#found = found;
  }

  /** What can be released now, without secrets. */
  push(text: string): string {
    const from = Math.max(0, this.#held.length - KEY_END.length);
    this.#held += text;
    if (this.#held.length < HELD_CHARS) {
      if (!text.includes("\n")) return "";
      if (this.#isInKey && !this.#held.slice(from).includes(KEY_END)) return "";
    }
    return this.#give(this.#readyChars());
  }

  /** The rest, when nothing more comes. */
  end(): string {
    return this.#give(this.#held.length);
  }

  #give(chars: number): string {
    const ready = this.#held.slice(0, chars);
    this.#held = this.#held.slice(chars);
    return ready === "" ? "" : redactText(ready, this.#found);
  }

  #readyChars(): number {
    const held = this.#held;
    let end = held.lastIndexOf("\n") + 1;
    if (NAMES_NEXT.test(held.slice(Math.max(0, end - SECRET_NAME_CHARS), end)))
      end = held.lastIndexOf("\n", end - 2) + 1;
    const key = held.lastIndexOf(KEY_START);
    this.#isInKey = key >= 0 && held.indexOf(KEY_END, key) === -1;
    if (this.#isInKey) end = Math.min(end, key);
    if (held.length - end < HELD_CHARS) return end;
    this.#isInKey = false;
    const most = held.length - KEPT_CHARS;
    return Math.max(end, held.lastIndexOf(" ", most) + 1) || most;
  }
}
