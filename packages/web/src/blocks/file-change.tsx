/**
 * File changes: each file with its change and its diff, coloured like its source. If a call has changed one file, its
 * line already names the file.
 */
import {
  type Block,
  type ChangeText,
  changeTexts,
  isResult,
  type Metadata,
  metadataOf,
  observedHeading,
  onlyChange,
  startLines,
  UNVERIFIED,
} from "@blockyard/kernel";
import { type ReactNode, useMemo } from "react";
import { countChanges, type DiffRow, diffRows } from "../diff/diff-rows.ts";
import { DiffView, isLine } from "../diff/diff-view.tsx";
import { grammarOf } from "../highlight/language.ts";
import { useSides } from "../rows/view-tree.ts";
import { useText, useView } from "../state/session.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { CHANGE_WORDS } from "./change-words.ts";
import { Collapse } from "./collapse.tsx";
import { FilePath } from "./file-path.tsx";
import { useFirstEntries } from "./first-entries.tsx";
import type { RendererProps } from "./renderer.ts";
import { Counts, firstLine } from "./tool-line.tsx";

type Change = Metadata<"file_change">["changes"][number];

export function FileChangeBlock({ block }: RendererProps): ReactNode {
  const metadata = metadataOf(block, "file_change");
  const { changes } = metadata;
  const heading = observedHeading(metadata);
  const needsText = changes.some((change) => change.diff === undefined);
  const text = useText(block.id, needsText && block.chars > 0);
  const texts = changeTexts(changes, text?.toString() ?? "");
  const isNamed = useIsNamed(block);
  const { first, more } = useFirstEntries(changes);
  const [only] = changes;
  const [said] = texts;
  // Its line says everything: there is nothing to frame.
  const isBare =
    isNamed && heading === undefined && !only?.unverified && said?.diff === "" && said.note === "";
  return (
    <div className={isBare ? "result file-change sr-only" : "result file-change"}>
      {heading !== undefined && <div className="dim change-note">{heading}</div>}
      {first.map((change, i) => (
        <FileChange
          key={i}
          block={block}
          change={change}
          i={i}
          text={texts[i] as ChangeText}
          isNamed={isNamed}
        />
      ))}
      {more}
    </div>
  );
}

/** Whether the line of its call names its only file. */
function useIsNamed({ parent }: Block): boolean {
  const view = useView();
  const sides = useSides(parent ?? "");
  if (view.blocks.get(parent ?? "")?.kind !== "tool_call") return false;
  const known = sides.flatMap((id) => view.blocks.get(id) ?? []);
  return onlyChange(known.filter(isResult)) !== undefined;
}

interface FileChangeProps {
  readonly block: Block;
  readonly change: Change;
  readonly i: number;
  readonly text: ChangeText;
  readonly isNamed: boolean;
}

function FileChange({ block, change, i, text: { diff, note }, isNamed }: FileChangeProps): ReactNode {
  const rows = useMemo(() => diffRows(diff), [diff]);
  const { added, deleted } = countChanges(rows);
  const grammar = grammarOf(undefined, change.path);
  const view = (shown: readonly DiffRow[], part: string) => (
    <DiffView
      rows={shown}
      label={`changes to ${change.path}`}
      name={`${block.id}:${i}:${part}`}
      grammar={grammar}
    />
  );
  const moved = change.movedTo && (
    <span className="change-moved">
      <span className="dim">moved to</span> <FilePath path={change.movedTo} />
    </span>
  );
  return (
    <div className={`change change-${change.kind}`}>
      <div className={isNamed ? "result-head result-tools" : "result-head"}>
        {change.kind !== "modify" && (
          <span className={isNamed ? "change-kind sr-only" : "change-kind"}>{CHANGE_WORDS[change.kind]}</span>
        )}
        {!isNamed && <FilePath path={change.path} line={firstLine(diff)} />}
        {isNamed && moved}
        {!isNamed && <Counts added={added} deleted={deleted} />}
        {change.unverified && (
          <span className="dim" title="The edit as the agent requested it. Its line numbers are unknown">
            {UNVERIFIED}
          </span>
        )}
        {diff !== "" && <CopyButton text={() => diff} label="Copy the diff" />}
      </div>
      {!isNamed && moved}
      {rows.length > 0 && (
        <Collapse
          block={block}
          name={`${block.id}:${i}`}
          lines={rows.length}
          counted={rows.filter(isLine).length}
          chars={diff.length}
          changed={added + deleted}
          beginning={() => view(rows.slice(0, startLines(rows, isChange)), "start")}
        >
          {() => view(rows, "whole")}
        </Collapse>
      )}
      {note !== "" && <div className="dim change-note">{note}</div>}
    </div>
  );
}

function isChange({ type }: DiffRow): boolean {
  return type === "add" || type === "delete";
}
