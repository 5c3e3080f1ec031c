/**
 * Text values: immutable, line-indexed, cheap to change anywhere. A rope (CodeMirror's `Text`) underneath, which nothing
 * outside this file sees.
 *
 * Positions are UTF-16 units. Lines are split at "\n" only; a "\r" stays part of its line. A line includes its newline:
 * a text that ends in a newline has no empty line after it, and the empty text has no lines.
 */

import { Text as Rope } from "@codemirror/state";
import { assert } from "../model/assert.ts";
import type { Splice } from "../model/op.ts";
import { splitsPair } from "./sanitize.ts";

export class Text {
  static readonly empty = new Text(Rope.empty);

  static of(text: string): Text {
    return text === "" ? Text.empty : new Text(Rope.of(text.split("\n")));
  }

  /** Joins pieces that were streamed, without building the whole string first where they are many. */
  static join(pieces: readonly string[]): Text {
    return Text.of(pieces.length === 1 ? (pieces[0] as string) : pieces.join(""));
  }

  readonly #rope: Rope;

  private constructor(rope: Rope) {
    this.#rope = rope;
  }

  get length(): number {
    return this.#rope.length;
  }

  /** How many lines there are, by the rule in the header. */
  get lineCount(): number {
    const rope = this.#rope;
    return rope.line(rope.lines).length === 0 ? rope.lines - 1 : rope.lines;
  }

  get endsWithNewline(): boolean {
    const rope = this.#rope;
    return rope.lines > 1 && rope.line(rope.lines).length === 0;
  }

  /** Where line `line` starts; for the line after the last one, the text's end. */
  lineStart(line: number): number {
    if (line <= 0) return 0;
    if (line >= this.#rope.lines) return this.length;
    return this.#rope.line(line + 1).from;
  }

  /** The line that contains `offset`. */
  lineAt(offset: number): number {
    return this.#rope.lineAt(offset).number - 1;
  }

  /** Whether a line starts at `offset`, or the text ends there. */
  isLineBoundary(offset: number): boolean {
    return offset === 0 || offset === this.length || this.slice(offset - 1, offset) === "\n";
  }

  slice(from: number, to: number = this.length): string {
    return this.#rope.sliceString(from, to, "\n");
  }

  toString(): string {
    return this.slice(0);
  }

  /** The lines from `from` up to, not including, `to`, without their newlines. */
  lines(from: number, to: number): string[] {
    const end = Math.min(to, this.lineCount);
    if (from >= end) return [];
    const start = this.lineStart(from);
    const text = this.slice(start, this.lineStart(end));
    const lines = text.split("\n");
    if (text.endsWith("\n")) lines.pop();
    return lines;
  }

  /** The text in pieces of some thousand units, in order: for scans that need not hold it whole. */
  pieces(): Iterable<string> {
    return this.#rope.iter();
  }

  append(text: string): Text {
    return this.replace(this.length, this.length, text);
  }

  replace(from: number, to: number, insert: string): Text {
    assert(
      from >= 0 && from <= to && to <= this.length,
      `replace ${from}..${to} in a text of length ${this.length}`,
    );
    if (insert === "" && from === to) return this;
    return new Text(this.#rope.replace(from, to, Rope.of(insert.split("\n"))));
  }

  /** Applies the splices in order. Each must delete exactly the text that is there. */
  apply(splices: readonly Splice[]): Text {
    let text: Text = this;
    for (const { at, del, ins } of splices) {
      if (del !== "")
        assert(text.slice(at, at + del.length) === del, `splice at ${at} deletes what is not there`);
      text = text.replace(at, at + del.length, ins);
    }
    return text;
  }

  /** Takes the splices back, the last one first. */
  revert(splices: readonly Splice[]): Text {
    let text: Text = this;
    for (let i = splices.length - 1; i >= 0; i--) {
      const { at, del, ins } = splices[i] as Splice;
      if (ins !== "")
        assert(text.slice(at, at + ins.length) === ins, `revert at ${at} removes what is not there`);
      text = text.replace(at, at + ins.length, del);
    }
    return text;
  }

  /** Whether `offset` lies between characters, not inside a surrogate pair. */
  isCharacterBoundary(offset: number): boolean {
    if (offset <= 0 || offset >= this.length) return true;
    return !splitsPair(this.slice(offset - 1, offset), this.slice(offset, offset + 1));
  }

  equals(other: Text): boolean {
    return this.#rope.eq(other.#rope);
  }

  /** The offset of UTF-8 byte `byte`, or undefined where that is inside a character or past the end. */
  offsetOfByte(byte: number): number | undefined {
    let bytes = 0;
    let offset = 0;
    for (const piece of this.pieces()) {
      const size = utf8Length(piece);
      if (bytes + size < byte) {
        bytes += size;
        offset += piece.length;
        continue;
      }
      return offsetInPiece(piece, offset, byte - bytes);
    }
    return byte === bytes ? offset : undefined;
  }

  get byteLength(): number {
    let bytes = 0;
    for (const piece of this.pieces()) bytes += utf8Length(piece);
    return bytes;
  }
}

/** The position of `offset` after the splices. `side` < 0 keeps it before text inserted right there, > 0 after it. */
export function mapOffset(offset: number, splices: readonly Splice[], side: -1 | 1): number {
  let mapped = offset;
  for (const { at, del, ins } of splices) {
    if (mapped < at || (mapped === at && side < 0)) continue;
    mapped = mapped >= at + del.length ? mapped + ins.length - del.length : at + (side > 0 ? ins.length : 0);
  }
  return mapped;
}

export function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit <= 0xdfff)
      bytes += 2; // half of a four-byte character
    else bytes += 3;
  }
  return bytes;
}

function offsetInPiece(piece: string, start: number, byte: number): number | undefined {
  let bytes = 0;
  for (let i = 0; i <= piece.length; i++) {
    if (bytes === byte) return start + i;
    if (i === piece.length || bytes > byte) return undefined;
    const unit = piece.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) {
      bytes += 4;
      i++;
    } else bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
  }
  return undefined;
}
