/**
 * What of a result is shown at first, for the exports and for `show`: the kernel's rule, asked with what a whole block
 * knows of itself.
 */

import {
  amountOf,
  type BlockSnapshot,
  type Excerpt,
  type Extent,
  excerptOf,
  isAskedFor,
  isClosedFirst,
  isFailedResult,
  isLong,
  leftWords,
} from "@blockyard/kernel";

export interface Shown extends Partial<Extent> {
  readonly block: BlockSnapshot;
  /** What the result is the result of. */
  readonly call: BlockSnapshot | undefined;
  /** The result's lines, without their newlines. */
  readonly source: readonly string[];
}

export interface Folding {
  /** Closed until somebody opens it. */
  readonly isClosed: boolean;
  /** Open at first, and long enough to be closed. */
  readonly isLongAndOpen: boolean;
  /** How much it is, in words. */
  readonly amount: string;
  readonly excerpt: Excerpt;
}

export function foldingOf({ block, call, source, ...known }: Shown): Folding {
  const lines = known.lines ?? source.length;
  const chars = known.chars ?? block.content.length;
  const asked = isAskedFor(block.metadata, call?.metadata);
  return {
    isClosed: isClosedFirst({ ...known, lines, chars, isAskedFor: asked }),
    isLongAndOpen: asked && isLong(lines, chars),
    amount: amountOf(lines, chars),
    excerpt: excerptOf(source, isFailedResult(block)),
  };
}

/** An excerpt as lines: its head, how much is left out, its tail. */
export function excerptLines(excerpt: Excerpt): readonly string[] {
  const left = leftWords(excerpt);
  return [...excerpt.head, ...(left === "" ? [] : [left]), ...excerpt.tail];
}

/** How many lines a diff adds and deletes. */
export function changedLines(lines: readonly string[]): number {
  return lines.filter((line) => /^[-+]/.test(line)).length;
}

/** A text's lines; a final newline begins none. */
export function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
