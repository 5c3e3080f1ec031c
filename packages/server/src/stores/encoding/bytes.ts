/**
 * Reading and writing small binary values: the alphabet of codec.ts and journal.ts.
 *
 *   varint   7 bits a byte, least significant first, up to 2^53 - 1
 *   number   a varint of 2n for whole numbers from 0 to 2^51, otherwise a varint of 1 and the 8 bytes of a double
 *   bytes    a varint length, then the bytes
 *   string   the same, in UTF-8
 *   json     a string
 *
 * A reader that runs past its end throws: bytes come with a checksum, so that this is a bug or a corrupt row.
 */

import type { Json } from "@blockyard/kernel";
import { KEPT_BYTES, SHORT_STRING_CHARS } from "./limits.ts";

export class ByteWriter {
  readonly #capacity: number;
  #buffer: Buffer;
  #at = 0;

  constructor(capacity = 4_096) {
    this.#capacity = capacity;
    this.#buffer = Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.#at;
  }

  /** The bytes written so far. This is the writer's own memory: the next write overwrites it. */
  view(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  /** The bytes written so far, as a copy. */
  copy(): Buffer {
    return Buffer.from(this.view());
  }

  /** Removes everything written after `length`. */
  rewind(length: number): void {
    this.#at = length;
  }

  /** Removes everything, and releases memory that was needed once for something large. */
  clear(): void {
    this.#at = 0;
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = Buffer.allocUnsafe(this.#capacity);
  }

  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    if (rest >= 0x1000_0000) {
      // The lower 28 bits first, so that all but a division uses 32-bit integers.
      const low = rest % 0x1000_0000;
      rest = (rest - low) / 0x1000_0000;
      for (let shift = 0; shift < 28; shift += 7) this.#buffer[this.#at++] = ((low >>> shift) & 0x7f) | 0x80;
    }
    while (rest > 0x7f) {
      this.#buffer[this.#at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#buffer[this.#at++] = rest;
  }

  number(value: number): void {
    if (Number.isInteger(value) && value >= 0 && value <= 2 ** 51 && !Object.is(value, -0)) {
      this.varint(value * 2);
      return;
    }
    this.varint(1);
    this.#reserve(8);
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  bytes(value: Uint8Array): void {
    this.varint(value.length);
    this.#reserve(value.length);
    this.#buffer.set(value, this.#at);
    this.#at += value.length;
  }

  string(value: string): void {
    if (value.length <= SHORT_STRING_CHARS && this.#ascii(value)) return;
    const length = Buffer.byteLength(value);
    this.varint(length);
    this.#reserve(length);
    this.#at += this.#buffer.write(value, this.#at);
  }

  json(value: unknown): void {
    this.string(JSON.stringify(value));
  }

  /** Most strings are short and plain: for them a loop is faster than two calls out of JavaScript. */
  #ascii(value: string): boolean {
    const { length } = value;
    this.#reserve(length + 2);
    const buffer = this.#buffer;
    let at = this.#at;
    if (length > 0x7f) {
      buffer[at++] = (length & 0x7f) | 0x80;
      buffer[at++] = length >>> 7;
    } else buffer[at++] = length;
    for (let i = 0; i < length; i++) {
      const unit = value.charCodeAt(i);
      if (unit > 0x7f) return false;
      buffer[at++] = unit;
    }
    this.#at = at;
    return true;
  }

  #reserve(count: number): void {
    if (this.#at + count <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + count));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}

export class ByteReader {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get done(): boolean {
    return this.#at === this.#buffer.length;
  }

  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.#buffer[this.#at++];
      if (byte === undefined) throw new RangeError("a number that ends early");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  number(): number {
    const value = this.varint();
    if (value !== 1) return value / 2;
    this.#at += 8;
    return this.#buffer.readDoubleLE(this.#at - 8);
  }

  /** A copy, so that it does not keep the source buffer alive. */
  bytes(): Uint8Array {
    const from = this.#skip(this.varint());
    return new Uint8Array(this.#buffer.subarray(from, this.#at));
  }

  string(): string {
    const from = this.#skip(this.varint());
    return this.#buffer.toString("utf8", from, this.#at);
  }

  json<T = Json>(): T {
    return JSON.parse(this.string()) as T;
  }

  #skip(count: number): number {
    const from = this.#at;
    this.#at += count;
    if (this.#at > this.#buffer.length) throw new RangeError("bytes that end early");
    return from;
  }
}
