/**
 * Terminal output on the page: lines of coloured runs, in chunks that are not laid out while they are off the screen.
 */

import {
  paletteColor,
  readTerminal,
  type TerminalLine,
  type TerminalRun,
  type TerminalStyle,
} from "@blockyard/kernel";
import { type CSSProperties, Fragment, memo, type ReactNode, useMemo } from "react";
import { MANY_LINES } from "../highlight/limits.ts";
import { useNear } from "../highlight/near.ts";
import { breakable, isLongLine, wordBreaks } from "../ui/long-words.tsx";
import { CHUNK_LINES } from "./limits.ts";

export function Terminal({ output, className }: { output: string; className?: string }): ReactNode {
  const lines = useMemo(() => readTerminal(output), [output]);
  const chunks: ReactNode[] = [];
  for (let i = 0; i < lines.length; i += CHUNK_LINES) {
    const some = lines.slice(i, i + CHUNK_LINES);
    const isFar = lines.length > MANY_LINES && some.length === CHUNK_LINES;
    chunks.push(<Chunk key={i} lines={some} isFar={isFar} />);
  }
  return <pre className={className ? `terminal ${className}` : "terminal"}>{chunks}</pre>;
}

const Chunk = memo(
  function Chunk({ lines, isFar }: { lines: readonly TerminalLine[]; isFar: boolean }) {
    const { ref, isNear } = useNear(isFar);
    const style = { "--lines": lines.length } as CSSProperties;
    return (
      <code className={lines.length === CHUNK_LINES ? "chunk full" : "chunk"} style={style} ref={ref}>
        {isNear
          ? lines.map((line, i) => (
              <span key={i} className="line">
                {renderLine(line)}
                {"\n"}
              </span>
            ))
          : lines.map((line) => `${line.map(({ text }) => text).join("")}\n`).join("")}
      </code>
    );
  },
  (a, b) =>
    a.isFar === b.isFar &&
    a.lines.length === b.lines.length &&
    a.lines.every((line, i) => sameLine(line, b.lines[i])),
);

function sameLine(a: TerminalLine, b: TerminalLine | undefined): boolean {
  return a.length === b?.length && a.every((run, i) => run.text === b[i]?.text && run.style === b[i]?.style);
}

function renderLine(line: TerminalLine): ReactNode {
  if (!isLongLine(line.reduce((chars, { text }) => chars + text.length, 0))) return line.map(renderRun);
  const breaksBefore = wordBreaks();
  return line.map((run, i) => (
    <Fragment key={i}>
      {breaksBefore(run.text) && <wbr />}
      {renderRun(run, i)}
    </Fragment>
  ));
}

function renderRun({ text, style }: TerminalRun, key: number): ReactNode {
  const className = classOf(style);
  const colors = colorsOf(style);
  if (className === "" && colors === undefined) return breakable(text);
  return (
    <span key={key} className={className} style={colors}>
      {breakable(text)}
    </span>
  );
}

function classOf(style: TerminalStyle): string {
  const names: string[] = [];
  for (const [name, value] of Object.entries(style)) {
    if (value === true) names.push(`a-${name}`);
    else if (typeof value === "number" && value < 16) names.push(`a-${name}-${value}`);
  }
  return names.join(" ");
}

function colorsOf({ fg, bg }: TerminalStyle): CSSProperties | undefined {
  const [color, backgroundColor] = [rgb(fg), rgb(bg)];
  if (color === undefined && backgroundColor === undefined) return undefined;
  return { ...(color ? { color } : {}), ...(backgroundColor ? { backgroundColor } : {}) };
}

function rgb(color: number | string | undefined): string | undefined {
  if (color === undefined || (typeof color === "number" && color < 16)) return undefined;
  return `rgb(${typeof color === "number" ? paletteColor(color) : color})`;
}
