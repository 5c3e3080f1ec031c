/**
 * Source text as numbered lines. Lines come in chunks of their own, so that text which grows renders only its last one,
 * and chunks off the screen are not laid out. Numbers are drawn, not written: copying takes the source alone.
 */

import { type CSSProperties, Fragment, memo, type ReactNode, useMemo } from "react";
import { breakable, isLongLine, wordBreaks } from "../ui/long-words.tsx";
import { useHighlight } from "./highlight.ts";
import { CHUNK_LINES, MANY_LINES } from "./limits.ts";
import { COLORS, type LineTokens } from "./message.ts";
import { useNear } from "./near.ts";

interface CodeLinesProps {
  /** Names the text while it grows. */
  readonly name: string;
  readonly text: string;
  readonly grammar: string | undefined;
  readonly startLine?: number;
  readonly isGrowing?: boolean;
}

export function CodeLines({ name, text, grammar, startLine, isGrowing = false }: CodeLinesProps): ReactNode {
  const colors = useHighlight(name, grammar, text, isGrowing);
  const lines = useMemo(() => linesOf(text), [text]);
  const chunks: ReactNode[] = [];
  for (let i = 0; i < lines.length; i += CHUNK_LINES) {
    const end = Math.min(i + CHUNK_LINES, lines.length);
    chunks.push(
      <Chunk
        key={i}
        lines={lines.slice(i, end)}
        colors={colors?.slice(i, end)}
        first={startLine === undefined ? undefined : startLine + i}
        isFar={lines.length > MANY_LINES && end - i === CHUNK_LINES}
      />,
    );
  }
  const last = (startLine ?? 1) + lines.length;
  const style = { "--digits": String(last).length } as CSSProperties;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre className={startLine === undefined ? "code" : "code numbered"} style={style} tabIndex={0}>
      {chunks}
    </pre>
  );
}

interface ChunkProps {
  readonly lines: readonly string[];
  readonly colors: readonly LineTokens[] | undefined;
  readonly first: number | undefined;
  readonly isFar: boolean;
}

const Chunk = memo(function Chunk({ lines, colors, first, isFar }: ChunkProps) {
  const { ref, isNear } = useNear(isFar);
  const style = {
    "--lines": lines.length,
    ...(first === undefined ? {} : { counterReset: `line ${first - 1}` }),
  } as CSSProperties;
  return (
    <code className={lines.length === CHUNK_LINES ? "chunk full" : "chunk"} style={style} ref={ref}>
      {isNear
        ? lines.map((line, i) => (
            <span key={i} className="line">
              {colors?.[i] ? colouredLine(line, colors[i]) : breakable(line)}
              {"\n"}
            </span>
          ))
        : `${lines.join("\n")}\n`}
    </code>
  );
}, sameChunk);

function sameChunk(a: ChunkProps, b: ChunkProps): boolean {
  return (
    a.first === b.first &&
    a.isFar === b.isFar &&
    a.lines.length === b.lines.length &&
    a.lines.every((line, i) => line === b.lines[i] && a.colors?.[i] === b.colors?.[i])
  );
}

/**
 * A line in its colours, or a part of it; if the text has moved on since it was coloured, what is behind stays plain.
 */
export function colouredLine(line: string, tokens: LineTokens, from = 0, to = line.length): ReactNode[] {
  const parts: ReactNode[] = [];
  const breaksBefore = isLongLine(line.length) ? wordBreaks() : undefined;
  let at = 0;
  for (let i = 0; i < tokens.length && at < to; i += 2) {
    const end = at + (tokens[i] as number);
    const text = line.slice(Math.max(at, from), Math.min(end, to));
    const color = COLORS[tokens[i + 1] as number];
    at = end;
    if (text === "") continue;
    if (breaksBefore?.(text)) parts.push(<wbr key={`${i} break`} />);
    parts.push(
      color ? (
        <span key={i} className={`t-${color}`}>
          {breakable(text)}
        </span>
      ) : (
        <Fragment key={i}>{breakable(text)}</Fragment>
      ),
    );
  }
  if (at < to) parts.push(<Fragment key="rest">{breakable(line.slice(Math.max(at, from), to))}</Fragment>);
  return parts;
}

function linesOf(text: string): readonly string[] {
  const lines = text.split("\n");
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  return lines;
}
