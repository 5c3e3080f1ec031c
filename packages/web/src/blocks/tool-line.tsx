/**
 * The line of a call: what it does, its input, its outcome, how long it took and how it ended. A command is its own
 * text; an edit of one file names the file, which can be opened from here.
 */

import {
  askOf,
  type Block,
  type CallLine,
  callLine,
  callOutcome,
  cameWords,
  changedIn,
  commandIn,
  cutSummary,
  endWord,
  errorBelow,
  exactText,
  formatDuration,
  isAtWork,
  type Json,
  metadataOf,
  onlyChange,
  onOneLine,
  outputSummary,
  PartialJson,
  plainTerminal,
  SUMMARY_LINES,
  shortenPaths,
  shortPath,
  tookMs,
} from "@blockyard/kernel";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { useClosed, useIsViewer, useText } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { CHANGE_WORDS } from "./change-words.ts";
import { useEndLines } from "./excerpt.tsx";
import { FilePath, PathTools } from "./file-path.tsx";
import { useFolder } from "./folder.ts";
import { CLOCK_MS } from "./limits.ts";
import { LineMark } from "./line-mark.tsx";
import type { RendererProps } from "./renderer.ts";
import { toolIcon } from "./tool-icon.ts";

interface ToolLineProps extends RendererProps {
  readonly results: readonly Block[];
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  /** Its results are shown below. */
  readonly isShown: boolean;
  /** The whole text of its command is below. */
  readonly hasCommandBelow: boolean;
  /** More about a sub-agent: its steps, the current one. */
  readonly facts?: ReactNode;
}

export function ToolLine(props: ToolLineProps): ReactNode {
  const { block, results, isOpen, onToggle, isShown, hasCommandBelow, facts } = props;
  const { toolName, server } = metadataOf(block, "tool_call");
  const folder = useFolder();
  const line = callLine(block, results, folder);
  const change = onlyChange(results);
  // Its ask says how long it has waited.
  const isAsked = askOf(block.metadata)?.state === "asked";
  const isBelow = line.isCommand && hasCommandBelow;
  return (
    <div className={`tool-line deed-${line.deed}`}>
      <button
        type="button"
        className="tool-open"
        aria-expanded={isOpen}
        title={hoverOf(block, line)}
        onClick={onToggle}
      >
        <LineMark icon={toolIcon(line.isCommand ? "run" : line.deed, toolName, server)} isOpen={isOpen} />
        <Subject block={block} line={line} hasFile={change !== undefined} isBelow={isBelow} />
      </button>
      {change && (
        <FilePath
          path={change.path}
          line={firstLine(change.diff ?? "")}
          label={shortPath(change.path, line.subject)}
          isBare
        />
      )}
      {change && change.kind !== "modify" && (
        <span className={`line-kind ${change.kind}`} aria-hidden="true">
          {CHANGE_WORDS[change.kind]}
        </span>
      )}
      {facts ||
        (!isBelow && <Came block={block} results={results} isCommand={line.isCommand} isShown={isShown} />)}
      {change && <PathTools path={change.path} />}
      {!isAsked && <Took block={block} />}
      <Ended block={block} results={results} />
    </div>
  );
}

/** The tool's own name, and what is not in the line. */
function hoverOf(block: Block, { name, subject, purpose }: CallLine): string {
  const { toolName, compactParams = "" } = metadataOf(block, "tool_call");
  const rest = purpose ?? (compactParams === subject ? "" : compactParams);
  return [toolName === name ? "" : toolName, rest].filter((part) => part !== "").join(": ");
}

interface SubjectProps extends RendererProps {
  readonly line: CallLine;
  readonly hasFile: boolean;
  /** The command and its output are below. */
  readonly isBelow: boolean;
}

function Subject({ block, line, hasFile, isBelow }: SubjectProps): ReactNode {
  const { input } = metadataOf(block, "tool_call");
  const isViewer = useIsViewer();
  const ask = askOf(block.metadata);
  // A user who can answer has the question below.
  const isAsked = ask?.state === "asked" && ask.kind === "question" && !isViewer;
  if (line.deed === "run" && !line.isCommand && input === undefined && isAtWork(block))
    return <GrowingCommand block={block} line={line} />;
  if (isBelow)
    return (
      <>
        <span className="tool-name">{line.name}</span>
        <span className="tool-purpose">{line.purpose}</span>
      </>
    );
  if (line.isCommand)
    return (
      <>
        <span className="sr-only tool-name">{line.name}</span>
        <code className="tool-params tool-command">{exactText(line.subject)}</code>
      </>
    );
  return (
    <>
      <span className="tool-name">{line.name}</span>
      {!hasFile && !isAsked && <span className="tool-params">{line.subject}</span>}
    </>
  );
}

/** A command that is still being written. */
function GrowingCommand({ block, line }: { block: Block; line: CallLine }): ReactNode {
  const text = useText(block.id)?.toString() ?? "";
  const command = useMemo(() => {
    const reader = new PartialJson();
    reader.push(text.slice(0, 4_000));
    return commandIn(reader.value() as Json);
  }, [text]);
  return (
    <>
      <span className="tool-name">{line.name}</span>
      <code className="tool-params tool-command">
        {command === undefined ? "" : exactText(onOneLine(command))}
      </code>
    </>
  );
}

/** The position of the first change, in the current file. */
export function firstLine(diff: string): number {
  return Math.max(1, Number(/^@@ -\d+(?:,\d+)? \+(\d+)/m.exec(diff)?.[1] ?? 1));
}

interface CameProps extends RendererProps {
  readonly results: readonly Block[];
  readonly isCommand: boolean;
  readonly isShown: boolean;
}

/** Its outcome, in a few words; empty for a failure that is shown below. */
function Came({ block, results, isCommand, isShown }: CameProps): ReactNode {
  const { error } = metadataOf(block, "tool_call");
  const folder = useFolder();
  const short = cameWords(block, results, folder);
  const { state } = callOutcome(block);
  if (state === "failed" && (isShown || errorBelow(block, results))) return null;
  const ran = isCommand && state === "done" ? results.find(({ kind }) => kind === "command") : undefined;
  if (ran) return <Summary block={ran} />;
  if (state === "failed")
    return <span className="tool-short">{error === undefined ? short : shortenPaths(error, folder)}</span>;
  const [change, ...others] = results.filter(({ kind }) => kind === "file_change");
  const { changes = [] } = change ? metadataOf(change, "file_change") : {};
  const diff = others.length === 0 && changes.length === 1 ? changes[0]?.diff : undefined;
  if (diff !== undefined && diff !== "") return <Counts {...changedIn(diff)} />;
  return <span className="tool-short">{short}</span>;
}

export function Counts({ added, deleted }: { added: number; deleted: number }): ReactNode {
  return (
    <span className="counts">
      {added > 0 && <span className="added">+{added}</span>}{" "}
      {deleted > 0 && <span className="deleted">−{deleted}</span>}
    </span>
  );
}

/** The line that a command which succeeded is remembered by. */
function Summary({ block }: RendererProps): ReactNode {
  const { stderr, truncatedChars } = metadataOf(block, "command");
  const closed = useClosed(block.id)?.summary;
  const summary = cutSummary(block.chars, truncatedChars) ?? closed;
  const lines = useEndLines(block, block.chars > 0 && summary === undefined);
  if (summary !== undefined) return <span className="tool-short">{summary}</span>;
  const own = lines?.slice(Math.max(0, lines.length - SUMMARY_LINES), lines.length) ?? [];
  const said = block.chars > 0 ? own : (stderr ?? "").trimEnd().split("\n").slice(-SUMMARY_LINES);
  return <span className="tool-short">{outputSummary(said.map(plainTerminal))}</span>;
}

function Ended({ block, results }: RendererProps & { results: readonly Block[] }): ReactNode {
  const { state } = callOutcome(block);
  const word = endWord(block, results);
  if (askOf(block.metadata)?.state === "asked") return null;
  if (state === "waiting" || state === "denied" || state === "stopped")
    return <span className="state quiet">{word}</span>;
  if (state === "running")
    return (
      <span className="state running" role="img" aria-label="running">
        <span className="spinner" />
      </span>
    );
  if (state === "done") return <span className="sr-only">done</span>;
  return (
    <span className="state bad">
      <Icon name="cross" />
      <span>{word}</span>
    </span>
  );
}

/** Its duration; a running call counts its seconds. */
export function Took({ block }: RendererProps): ReactNode {
  const isOver = !isAtWork(block);
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => setNow(Date.now()), CLOCK_MS);
    return () => clearInterval(timer);
  }, [isOver]);
  const took = tookMs(block.metadata, block.createdAt, isOver ? block.updatedAt : now);
  const isWorthIt = isOver ? took >= 100 : took >= 1_500;
  return (
    <span className="took">
      {isWorthIt ? formatDuration(isOver ? took : Math.floor(took / 1_000) * 1_000) : ""}
    </span>
  );
}
