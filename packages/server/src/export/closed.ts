/** The visible part of a collapsed result, for the exports and for `show`: the kernel's rules, applied to whole blocks. */

import type { BlockSnapshot } from "@blockyard/kernel";
import {
  amountOf,
  type Extent,
  excerptOf,
  type Form,
  formOf,
  isCutLine,
  isLong,
  leftWords,
  startLines,
  tailLines,
} from "@blockyard/kernel/presentation";

export interface Shown extends Partial<Extent> {
  readonly block: BlockSnapshot;
  /** The call of the result. */
  readonly call: BlockSnapshot | undefined;
  /** The result's lines, without their newlines. */
  readonly source: readonly string[];
  /** Other runs hang off it. */
  readonly isFollowed?: boolean | undefined;
  /** It shows the to-do list of its turn. */
  readonly isLivingTodo?: boolean | undefined;
}

interface Collapsed {
  readonly form: Form;
  /** Closed until somebody opens it. */
  readonly isClosed: boolean;
  /** Open at first, and long enough to be closed. */
  readonly isLongAndOpen: boolean;
  /** The label of the line that opens it. */
  readonly title: string;
  /** The lines that are shown while it is closed. */
  readonly excerpt: readonly string[];
}

export function collapsedOf({ block, call, source, isFollowed, isLivingTodo, ...known }: Shown): Collapsed {
  const lines = known.lines ?? source.length;
  const chars = known.chars ?? block.content.length;
  const form = formOf({ ...block, isFollowed, isLivingTodo }, call, { ...known, lines, chars });
  const excerpt = excerptLines(form, source, block);
  const isAll = form === "tail" && excerpt.length >= source.length && !source.some(isCutLine);
  return {
    form,
    isClosed: form !== "whole" && !isAll,
    isLongAndOpen: form === "whole" && block.kind !== "file_change" && isLong(lines, chars),
    title:
      form === "start"
        ? `Show all ${amountOf(source.filter(isDiffLine).length, chars)}`
        : `Show ${amountOf(lines, chars)}`,
    excerpt,
  };
}

/** How a result is shown as far as its length does not matter, only whether it has a text: as its call's line, or below it. */
export function shortFormOf(shown: Omit<Shown, "source" | keyof Extent>): Form {
  return collapsedOf({ ...shown, source: ["x"], chars: Math.min(1, shown.block.content.length) }).form;
}

function excerptLines(form: Form, source: readonly string[], block: BlockSnapshot): readonly string[] {
  if (form === "start")
    return source.slice(
      0,
      startLines(source, (line) => /^[-+]/.test(line)),
    );
  const excerpt = excerptOf(source, form === "tail" ? tailLines(block, source.length) : undefined);
  if (form === "tail") return [...excerpt.head, ...excerpt.tail];
  const left = leftWords(excerpt);
  return [...excerpt.head, ...(left === "" ? [] : [left]), ...excerpt.tail];
}

/** Not the place of a hunk, nor a note such as that no newline ends the file. */
function isDiffLine(line: string): boolean {
  return !/^(?:@@|\\)/.test(line);
}

/** How many lines a diff adds and deletes. */
export function changedLines(lines: readonly string[]): number {
  return lines.filter((line) => /^[-+]/.test(line)).length;
}

/** A text's lines; a final newline begins none. */
export function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
