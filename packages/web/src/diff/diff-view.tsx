/**
 * A diff on the page: one column or two, numbers on both sides, changed words marked.
 */
import { type CSSProperties, memo, type ReactNode, useMemo } from "react";
import { useCellPart } from "../state/cell.ts";
import { preferences } from "../state/preferences.ts";
import { type DiffRow, type SplitRow, splitRows } from "./diff-rows.ts";

const CHUNK_ROWS = 64;

export function DiffView({ rows, label }: { rows: readonly DiffRow[]; label: string }): ReactNode {
  const isSplit = useCellPart(preferences, ({ diff }) => diff === "split");
  const digits = String(Math.max(1, ...rows.map((row) => Math.max(row.old ?? 0, row.new ?? 0)))).length;
  const chunks = useMemo(() => (isSplit ? chunked(splitRows(rows)) : chunked(rows)), [rows, isSplit]);
  const style = { "--digits": digits } as CSSProperties;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={isSplit ? "diff split" : "diff"} style={style} aria-label={label} tabIndex={0}>
      {chunks.map((chunk, i) =>
        isSplit ? (
          <SplitChunk key={i} rows={chunk as readonly SplitRow[]} />
        ) : (
          <UnifiedChunk key={i} rows={chunk as readonly DiffRow[]} />
        ),
      )}
    </section>
  );
}

const UnifiedChunk = memo(function UnifiedChunk({ rows }: { rows: readonly DiffRow[] }) {
  return (
    <div className="diff-chunk">
      {rows.map((row, i) => (
        <div key={i} className={`diff-row ${row.type}`}>
          <span className="no" data-no={row.old ?? ""} />
          <span className="no" data-no={row.new ?? ""} />
          <Source row={row} />
        </div>
      ))}
    </div>
  );
});

const SplitChunk = memo(function SplitChunk({ rows }: { rows: readonly SplitRow[] }) {
  return (
    <div className="diff-chunk">
      {rows.map((row, i) => (
        <div key={i} className="split-row">
          <Side row={row.left} side="old" />
          <Side row={row.right} side="new" />
        </div>
      ))}
    </div>
  );
});

function Side({ row, side }: { row: DiffRow | undefined; side: "old" | "new" }): ReactNode {
  if (!row) return <div className="diff-row nothing" />;
  return (
    <div className={`diff-row ${row.type}`}>
      <span className="no" data-no={row[side] ?? ""} />
      <Source row={row} />
    </div>
  );
}

const SIGNS = { add: "+", delete: "−", same: " ", hunk: "", note: "" } as const;

function Source({ row }: { row: DiffRow }): ReactNode {
  return (
    <>
      <span className="sign" aria-hidden="true">
        {SIGNS[row.type]}
      </span>
      <code className="src">
        {row.marks && row.marks.length > 0 ? marked(row.text, row.marks) : row.text || " "}
      </code>
    </>
  );
}

function marked(text: string, marks: readonly (readonly [number, number])[]): ReactNode[] {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const [from, to] of marks) {
    if (from > at) parts.push(text.slice(at, from));
    parts.push(<mark key={from}>{text.slice(from, to)}</mark>);
    at = to;
  }
  parts.push(text.slice(at));
  return parts;
}

function chunked<T>(rows: readonly T[]): readonly (readonly T[])[] {
  const chunks: (readonly T[])[] = [];
  for (let i = 0; i < rows.length; i += CHUNK_ROWS) chunks.push(rows.slice(i, i + CHUNK_ROWS));
  return chunks;
}
