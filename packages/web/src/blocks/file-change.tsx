/**
 * File changes: each file with what was done to it (green for new, yellow for changed, red for deleted) and its diff.
 */
import { type Block, type ChangeText, changeTexts, type Metadata, UNVERIFIED } from "@blockyard/kernel";
import { type ReactNode, useMemo } from "react";
import { countChanges, type DiffRow, diffRows } from "../diff/diff-rows.ts";
import { DiffView } from "../diff/diff-view.tsx";
import { useText } from "../state/session.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { FilePath } from "./file-path.tsx";
import { Fold } from "./fold.tsx";
import { metadataOf, type RendererProps } from "./renderer.ts";

type Change = Metadata<"file_change">["changes"][number];

const WORDS = { add: "new", modify: "changed", delete: "deleted" } as const;

export function FileChangeBlock({ block }: RendererProps): ReactNode {
  const { changes } = metadataOf(block, "file_change");
  const needsText = changes.some((change) => change.diff === undefined);
  const text = useText(block.id, needsText && block.chars > 0);
  const texts = changeTexts(changes, text?.toString() ?? "");
  return (
    <div className="result file-change">
      {changes.map((change, i) => (
        <FileChange key={i} block={block} change={change} i={i} text={texts[i] as ChangeText} />
      ))}
    </div>
  );
}

interface FileChangeProps {
  readonly block: Block;
  readonly change: Change;
  readonly i: number;
  readonly text: ChangeText;
}

function FileChange({ block, change, i, text: { diff, note } }: FileChangeProps): ReactNode {
  const rows = useMemo(() => diffRows(diff), [diff]);
  const { added, deleted } = countChanges(rows);
  return (
    <div className={`change change-${change.kind}`}>
      <div className="result-head">
        <span className="change-kind">{WORDS[change.kind]}</span>
        <FilePath path={change.path} line={firstLine(diff)} />
        {change.movedTo && (
          <>
            <span className="dim">moved to</span> <FilePath path={change.movedTo} />
          </>
        )}
        <span className="counts">
          {added > 0 && <span className="added">+{added}</span>}
          {deleted > 0 && <span className="deleted">−{deleted}</span>}
        </span>
        {change.unverified && (
          <span className="dim" title="The edit as the agent asked for it; line numbers are not known">
            {UNVERIFIED}
          </span>
        )}
        {diff !== "" && <CopyButton text={() => diff} label="Copy the diff" />}
      </div>
      {rows.length > 0 && (
        <Fold
          block={block}
          name={`${block.id}:${i}`}
          lines={rows.length}
          chars={diff.length}
          changed={added + deleted}
          source={rows.map(diffLine)}
        >
          {() => <DiffView rows={rows} label={`changes of ${change.path}`} />}
        </Fold>
      )}
      {note !== "" && <div className="dim change-note">{note}</div>}
    </div>
  );
}

const SIGNS: Readonly<Record<DiffRow["type"], string>> = {
  add: "+",
  delete: "-",
  same: " ",
  hunk: "@@ ",
  note: "\\ ",
};

function diffLine({ type, text }: DiffRow): string {
  return `${SIGNS[type]}${text}`.trimEnd();
}

/** Where the first change is, in the file as it is now. */
function firstLine(diff: string): number {
  return Math.max(1, Number(/^@@ -\d+(?:,\d+)? \+(\d+)/m.exec(diff)?.[1] ?? 1));
}
