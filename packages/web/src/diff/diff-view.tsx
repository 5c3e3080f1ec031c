/**
 * A diff on the page: one column or two, numbers on both sides, changed words marked, in the colours of its source. The
 * old and the new text are coloured separately: a deleted line belongs to the old one, an added line to the new one.
 */

import { type CSSProperties, Fragment, memo, type ReactNode, useMemo } from "react";
import { colouredLine } from "../highlight/code-lines.tsx";
import { useHighlight } from "../highlight/highlight.ts";
import { grammarOf } from "../highlight/language.ts";
import type { LineTokens } from "../highlight/message.ts";
import { useCellPart } from "../state/cell.ts";
import { preferences } from "../state/preferences.ts";
import { breakable } from "../ui/long-words.tsx";
import { type DiffRow, type SplitRow, splitRows } from "./diff-rows.ts";
import { CHUNK_ROWS, COLOURED_DIFF_CHARS } from "./limits.ts";

interface DiffViewProps {
  readonly rows: readonly DiffRow[];
  readonly label: string;
  /** Names the text for its colours. */
  readonly name?: string;
  readonly grammar?: string | undefined;
  /** Provides the grammar if nothing else does. */
  readonly path?: string;
}

export function DiffView({ rows, label, name = label, grammar, path }: DiffViewProps): ReactNode {
  const wantsSplit = useCellPart(preferences, ({ diff }) => diff === "split");
  // For a new or deleted file one side would be empty.
  const isSplit =
    wantsSplit && ["add", "delete"].every((type) => rows.some((row) => row.type !== type && isLine(row)));
  const digits = String(rows.reduce((most, row) => Math.max(most, row.old ?? 0, row.new ?? 0), 1)).length;
  const chunks = useMemo(() => (isSplit ? chunked(splitRows(rows)) : chunked(rows)), [rows, isSplit]);
  const colours = useColours(rows, name, grammar ?? grammarOf(undefined, path));
  const style = { "--digits": digits } as CSSProperties;
  // A file that is new, or a part of one whose place is not known, has no numbers of before.
  const hasOld = rows.some((row) => row.old !== undefined || row.type === "hunk");
  const hasNew = rows.some((row) => row.new !== undefined);
  const names = [
    "diff",
    ...(isSplit ? ["split"] : []),
    ...(hasOld ? [] : hasNew ? ["no-old"] : ["no-numbers"]),
  ];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={names.join(" ")} style={style} aria-label={label} tabIndex={0}>
      {chunks.map((chunk, i) =>
        isSplit ? (
          <SplitChunk key={i} rows={chunk as readonly SplitRow[]} colours={colours} />
        ) : (
          <UnifiedChunk key={i} rows={chunk as readonly DiffRow[]} colours={colours} />
        ),
      )}
    </section>
  );
}

export function isLine({ type }: DiffRow): boolean {
  return type === "same" || type === "add" || type === "delete";
}

type Colours = ReadonlyMap<DiffRow, LineTokens>;

function useColours(rows: readonly DiffRow[], name: string, grammar: string | undefined): Colours {
  const sides = useMemo(() => {
    const old = rows.filter((row) => isLine(row) && row.type !== "add");
    const now = rows.filter((row) => isLine(row) && row.type !== "delete");
    return { old, now, oldText: textOf(old), nowText: textOf(now) };
  }, [rows]);
  const isShort = sides.oldText.length + sides.nowText.length <= COLOURED_DIFF_CHARS;
  const known = isShort ? grammar : undefined;
  const oldColours = useHighlight(`${name}:old`, known, sides.oldText, false);
  const nowColours = useHighlight(`${name}:new`, known, sides.nowText, false);
  return useMemo(() => {
    const colours = new Map<DiffRow, LineTokens>();
    const add = (some: readonly DiffRow[], tokens: readonly LineTokens[] | undefined) => {
      some.forEach((row, i) => {
        const own = tokens?.[i];
        if (own) colours.set(row, own);
      });
    };
    add(sides.old, oldColours);
    add(sides.now, nowColours);
    return colours;
  }, [sides, oldColours, nowColours]);
}

function textOf(rows: readonly DiffRow[]): string {
  return rows.map(({ text }) => text).join("\n");
}

interface ChunkProps<R> {
  readonly rows: readonly R[];
  readonly colours: Colours;
}

const UnifiedChunk = memo(function UnifiedChunk({ rows, colours }: ChunkProps<DiffRow>) {
  return (
    <div className="diff-chunk">
      {rows.map((row, i) => (
        <div key={i} className={`diff-row ${row.type}`}>
          <span className="no" data-no={row.old ?? ""} />
          <span className="no" data-no={row.new ?? ""} />
          <Source row={row} tokens={colours.get(row)} />
        </div>
      ))}
    </div>
  );
});

const SplitChunk = memo(function SplitChunk({ rows, colours }: ChunkProps<SplitRow>) {
  return (
    <div className="diff-chunk">
      {rows.map((row, i) => (
        <div key={i} className="split-row">
          <Side row={row.left} side="old" colours={colours} />
          <Side row={row.right} side="new" colours={colours} />
        </div>
      ))}
    </div>
  );
});

interface SideProps {
  readonly row: DiffRow | undefined;
  readonly side: "old" | "new";
  readonly colours: Colours;
}

function Side({ row, side, colours }: SideProps): ReactNode {
  if (!row) return <div className="diff-row nothing" />;
  return (
    <div className={`diff-row ${row.type}`}>
      <span className="no" data-no={row[side] ?? ""} />
      <Source row={row} tokens={colours.get(row)} />
    </div>
  );
}

const SIGNS = { add: "+", delete: "−", same: " ", hunk: "", note: "" } as const;

function Source({ row, tokens }: { row: DiffRow; tokens: LineTokens | undefined }): ReactNode {
  const { text, marks = [] } = row;
  return (
    <>
      <span className="sign" aria-hidden="true">
        {SIGNS[row.type]}
      </span>
      <code className="src">
        {marks.length > 0
          ? marked(text, marks, tokens)
          : tokens
            ? colouredLine(text, tokens)
            : breakable(text || " ")}
      </code>
    </>
  );
}

/** A line whose changed words are marked, each piece in its colours. */
function marked(
  text: string,
  marks: readonly (readonly [number, number])[],
  tokens: LineTokens | undefined,
): ReactNode[] {
  const parts: ReactNode[] = [];
  const piece = (from: number, to: number) =>
    tokens ? (
      <Fragment key={`${from}-`}>{colouredLine(text, tokens, from, to)}</Fragment>
    ) : (
      <Fragment key={`${from}-`}>{breakable(text.slice(from, to))}</Fragment>
    );
  let at = 0;
  for (const [from, to] of marks) {
    if (from > at) parts.push(piece(at, from));
    parts.push(<mark key={from}>{piece(from, to)}</mark>);
    at = to;
  }
  parts.push(piece(at, text.length));
  return parts;
}

function chunked<T>(rows: readonly T[]): readonly (readonly T[])[] {
  const chunks: (readonly T[])[] = [];
  for (let i = 0; i < rows.length; i += CHUNK_ROWS) chunks.push(rows.slice(i, i + CHUNK_ROWS));
  return chunks;
}
