/**
 * The text that a compaction and ops come to, without keeping any history. Appends are joined at the end; other splices are
 * applied to pieces of bounded length, so that a thousand edits of a 10 MB text do not copy it a thousand times.
 */

import type { Op, Splice } from "@blockyard/kernel";
import { splicesOf } from "@blockyard/kernel/plain";
import { corrupt } from "./fault.ts";
import { TEXT_PIECE_CHARS } from "./limits.ts";

export function textOf(base: string, ops: readonly Op[]): string {
  const tail: string[] = [base];
  let pieces: Pieces | undefined;
  let length = base.length;
  for (const op of ops) {
    for (const splice of splicesOf(op)) {
      if (pieces === undefined && splice.at === length && splice.del === "") tail.push(splice.ins);
      else {
        pieces ??= new Pieces(tail.join(""));
        pieces.splice(splice);
      }
      length += splice.ins.length - splice.del.length;
    }
  }
  return pieces?.text() ?? tail.join("");
}

class Pieces {
  readonly #pieces: string[];

  constructor(text: string) {
    this.#pieces = cut(text);
  }

  splice({ at, del, ins }: Splice): void {
    let index = 0;
    let offset = at;
    while (index < this.#pieces.length - 1 && offset > (this.#pieces[index] as string).length) {
      offset -= (this.#pieces[index] as string).length;
      index++;
    }
    // The pieces that contain the deleted text.
    let joined = this.#pieces[index] ?? "";
    let count = 1;
    while (joined.length < offset + del.length && index + count < this.#pieces.length) {
      joined += this.#pieces[index + count];
      count++;
    }
    if (offset > joined.length || !joined.startsWith(del, offset)) {
      throw corrupt(`a change at ${at} does not fit the text before it`);
    }
    const changed = joined.slice(0, offset) + ins + joined.slice(offset + del.length);
    this.#pieces.splice(index, count, ...(changed.length > 2 * TEXT_PIECE_CHARS ? cut(changed) : [changed]));
  }

  text(): string {
    return this.#pieces.join("");
  }
}

function cut(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += TEXT_PIECE_CHARS)
    pieces.push(text.slice(at, at + TEXT_PIECE_CHARS));
  return pieces;
}
