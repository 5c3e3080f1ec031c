/**
 * What a closed result shows of itself: its first and last lines, or the last ones alone. A text that is not here is asked
 * for; of one that is very long only its ends are.
 */

import {
  type Block,
  type ClosedResult,
  cutLine,
  type Excerpt as Ends,
  excerptOf,
  isCutLine,
  isEnded,
  isProblem,
  type Lines,
  leftWords,
  type Text,
} from "@blockyard/kernel";
import { type ReactNode, useEffect, useState } from "react";
import { useClosed, useSession, useText, useTextHere } from "../state/session.tsx";
import { EXCERPT_END_LINES, FETCHED_CHARS } from "./limits.ts";

interface ExcerptProps {
  readonly block: Block;
  /** Lines of the part, as the line that opens it says. */
  readonly lines: number;
  /** The lines, where they are not the block's text. */
  readonly source?: readonly string[] | undefined;
  /** Content after the text, such as a command's errors. */
  readonly after?: string | undefined;
  /** A displayed line, if that differs from the source. */
  readonly plain?: ((line: string) => string) | undefined;
  /** Only this many of the last lines. */
  readonly tailOnly?: number | undefined;
  readonly drawTail?: ((lines: readonly string[]) => ReactNode) | undefined;
}

export function Excerpt({ block, lines, source, after, plain, tailOnly, drawTail }: ExcerptProps): ReactNode {
  const isOwn = source === undefined && block.chars > 0;
  const found = useEndLines(block, isOwn);
  const behind = after === undefined || after === "" ? [] : after.replace(/\n+$/, "").split("\n");
  const own = source ?? found;
  if (isOwn && own === undefined) return <Room lines={lines} tailOnly={tailOnly} />;
  const all = joined(own ?? [], behind);
  if (drawTail && tailOnly !== undefined) {
    const last = all.slice(Math.max(0, all.length - tailOnly), all.length);
    const short = last.map((line) => (isCutLine(line) ? cutLine(plain?.(line) ?? line) : line));
    return last.length === 0 ? null : <div className="excerpt">{drawTail(short)}</div>;
  }
  const shown = plain ? mapped(all, plain) : all;
  return <EndLines ends={excerptOf(shown, tailOnly)} isTail={tailOnly !== undefined} />;
}

/** The lines of a text of which the first and the last few are read; undefined until they are loaded. */
export function useEndLines(block: Block, isWanted: boolean): Lines | undefined {
  const isShort = block.chars <= FETCHED_CHARS;
  const here = useTextHere(block.id);
  const given = givenLines(useClosed(block.id));
  const isMissing = isWanted && given === undefined;
  const text = useText(block.id, isMissing && isShort) ?? here;
  const ends = useEnds(block, isMissing && !isShort && here === undefined);
  return text ? textLines(text) : (given ?? ends);
}

/** The lines sent instead of the text. */
function givenLines(closed: ClosedResult | undefined): Lines | undefined {
  const { head, tail, lines } = closed ?? {};
  return head && tail && lines !== undefined ? endsOnly(head, tail, lines - tail.length) : undefined;
}

/** Above a tail is the total length. */
function EndLines({ ends, isTail }: { ends: Ends; isTail: boolean }): ReactNode {
  const left = isTail ? "" : leftWords(ends);
  return (
    <pre className="excerpt">
      {ends.head.map((line) => `${line}\n`).join("")}
      {left !== "" && <span className="gap">{`${left}\n`}</span>}
      {ends.tail.map((line) => `${line}\n`).join("")}
    </pre>
  );
}

/** Content that is not loaded yet takes the room that it will need. */
function Room({ lines, tailOnly }: { lines: number; tailOnly: number | undefined }): ReactNode {
  const { head, left, tail } = excerptOf(
    { length: lines, slice: (from, to) => Array<string>(to - from).fill("") },
    tailOnly,
  );
  const count = head.length + tail.length + (left > 0 ? 1 : 0);
  return (
    <pre className="excerpt waiting" role="img" aria-label="loading">
      {"\n".repeat(count)}
    </pre>
  );
}

function textLines(text: Text): Lines {
  return { length: text.lineCount, slice: (from, to) => text.lines(from, to) };
}

function joined(own: Lines, behind: readonly string[]): Lines {
  if (behind.length === 0) return own;
  const { length } = own;
  return {
    length: length + behind.length,
    slice: (from, to) => [
      ...own.slice(Math.min(from, length), Math.min(to, length)),
      ...behind.slice(Math.max(0, from - length), Math.max(0, to - length)),
    ],
  };
}

function mapped(lines: Lines, plain: (line: string) => string): Lines {
  return { length: lines.length, slice: (from, to) => lines.slice(from, to).map(plain) };
}

/** The first and last lines of a text that is not here, read once it is whole. */
function useEnds(block: Block, isWanted: boolean): Lines | undefined {
  const session = useSession();
  const [ends, setEnds] = useState<Lines>();
  const { id, newlines } = block;
  const isAsked = isWanted && isEnded(block.status);
  useEffect(() => {
    if (!isAsked) return;
    let isGone = false;
    const read = async (start: number, end: number): Promise<readonly string[]> => {
      const range = { start, end };
      const answer = await session.ask("block.read", { block_id: id, line_numbers: false, range });
      // A line too long to be read at once is not shown.
      if (isProblem(answer) || (answer as { truncated?: boolean }).truncated) return [];
      return (answer as { content: string }).content.replace(/\n$/, "").split("\n");
    };
    const from = Math.max(0, newlines - EXCERPT_END_LINES);
    void Promise.all([read(0, EXCERPT_END_LINES), read(from, newlines + 1)]).then(([head, tail]) => {
      if (!isGone) setEnds(endsOnly(head, tail, from));
    });
    return () => {
      isGone = true;
    };
  }, [session, id, newlines, isAsked]);
  return ends;
}

/** Lines of which only the ends are known. */
function endsOnly(head: readonly string[], tail: readonly string[], from: number): Lines {
  return {
    length: from + tail.length,
    slice: (start, end) => (start < from ? head.slice(start, end) : tail.slice(start - from, end - from)),
  };
}
