/**
 * Bytes → lines of text, for any chunking.
 *
 * Splits at the byte `\n` (and, where asked, at a lone `\r`), so that no character is ever cut: a line is decoded when
 * it is whole. Bytes that are not UTF-8 become U+FFFD. A line over the bound keeps its beginning and says how much was
 * left out; memory stays below twice the bound.
 */

import { bounds, FIRST_BUFFER_BYTES, SEGMENT_BYTES } from "../limits.ts";

export interface Line {
  readonly text: string;
  /** The stream ended without a line end. */
  readonly torn: boolean;
  /** Bytes left out because the line was too long; the text is then its beginning. */
  readonly omittedBytes: number;
}

const LF = 0x0a;
const CR = 0x0d;

/** Lines are decoded whole, so one decoder without a memory serves all readers. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export class LineReader {
  readonly #splitsAtCr: boolean;
  readonly #maxBytes: number;
  #buffer = new Uint8Array(0);
  #used = 0;
  #omitted = 0;
  /** The last byte was a `\r` that ended a line: a ` ` right after it belongs to it. */
  #afterCr = false;
  #atStart = true;

  constructor(options: { readonly splitsAtCr?: boolean; readonly maxBytes?: number } = {}) {
    this.#splitsAtCr = options.splitsAtCr ?? false;
    this.#maxBytes = options.maxBytes ?? bounds.lineBytes;
  }

  push(chunk: Uint8Array): Line[] {
    const lines: Line[] = [];
    let from = 0;
    if (this.#afterCr && chunk.length > 0) {
      if (chunk[0] === LF) from = 1;
      this.#afterCr = false;
    }
    while (from < chunk.length) {
      const whole = this.#wholeLines(chunk, from);
      if (whole > from) {
        this.#takeAll(from === 0 && whole === chunk.length ? chunk : chunk.subarray(from, whole), lines);
        from = whole;
        continue;
      }
      const end = this.#findEnd(chunk, from);
      if (end === -1) {
        this.#keep(chunk.subarray(from));
        break;
      }
      lines.push(this.#take(chunk.subarray(from, end), false));
      from = end + 1;
      if (chunk[end] !== CR) continue;
      if (from === chunk.length) this.#afterCr = true;
      else if (chunk[from] === LF) from++;
    }
    return lines;
  }

  /** The stream is over: the rest, as a torn line. */
  end(): Line[] {
    if (this.#used === 0 && this.#omitted === 0) return [];
    return [this.#take(new Uint8Array(0), true)];
  }

  /**
   * The end of the whole lines in the chunk that can be decoded together, which is far cheaper than one by one; `from`
   * if there are none, or if they need a closer look.
   */
  #wholeLines(chunk: Uint8Array, from: number): number {
    if (this.#used > 0 || this.#omitted > 0) return from;
    const window = Math.min(chunk.length, from + Math.min(SEGMENT_BYTES, this.#maxBytes));
    const last = chunk.lastIndexOf(LF, window - 1);
    if (last < from) return from;
    if (this.#splitsAtCr && chunk.subarray(from, last).includes(CR)) return from;
    return last + 1;
  }

  #takeAll(bytes: Uint8Array, lines: Line[]): void {
    const text = decoder.decode(bytes);
    let from = this.#atStart && text.charCodeAt(0) === 0xfeff ? 1 : 0;
    this.#atStart = false;
    for (let end = text.indexOf("\n", from); end !== -1; end = text.indexOf("\n", from)) {
      const bare = end > from && text.charCodeAt(end - 1) === CR ? end - 1 : end;
      lines.push({ text: text.slice(from, bare), torn: false, omittedBytes: 0 });
      from = end + 1;
    }
  }

  #findEnd(chunk: Uint8Array, from: number): number {
    const lf = chunk.indexOf(LF, from);
    if (!this.#splitsAtCr) return lf;
    const cr = chunk.subarray(0, lf === -1 ? chunk.length : lf).indexOf(CR, from);
    return cr === -1 ? lf : cr;
  }

  #take(rest: Uint8Array, torn: boolean): Line {
    let bytes = rest;
    if (this.#used > 0 || this.#omitted > 0 || rest.length > this.#maxBytes) {
      this.#keep(rest);
      bytes = this.#buffer.subarray(0, this.#used);
    }
    if (!torn && bytes.length > 0 && bytes[bytes.length - 1] === CR) bytes = bytes.subarray(0, -1);
    let text = decoder.decode(bytes);
    if (this.#atStart && text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    this.#atStart = false;
    const omittedBytes = this.#omitted;
    this.#used = 0;
    this.#omitted = 0;
    if (this.#buffer.length > bounds.keptLineBytes) this.#buffer = new Uint8Array(0);
    return { text, torn, omittedBytes };
  }

  #keep(bytes: Uint8Array): void {
    if (this.#omitted > 0) {
      this.#omitted += bytes.length;
      return;
    }
    if (this.#used + bytes.length > this.#maxBytes) return this.#cut(bytes);
    this.#reserve(this.#used + bytes.length);
    this.#buffer.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  /** The line has become too long: keeps its beginning, counts the rest. */
  #cut(bytes: Uint8Array): void {
    const length = this.#used + bytes.length;
    const kept = new Uint8Array(Math.min(bounds.keptLineBytes, this.#maxBytes));
    const held = Math.min(this.#used, kept.length);
    kept.set(this.#buffer.subarray(0, held));
    kept.set(bytes.subarray(0, kept.length - held), held);
    this.#buffer = kept;
    this.#used = kept.length;
    this.#omitted = length - kept.length;
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const grown = Math.max(bytes, this.#buffer.length * 2, FIRST_BUFFER_BYTES);
    const buffer = new Uint8Array(Math.max(bytes, Math.min(grown, this.#maxBytes)));
    buffer.set(this.#buffer.subarray(0, this.#used));
    this.#buffer = buffer;
  }
}
