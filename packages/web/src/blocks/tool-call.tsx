/**
 * A tool call: one line (icon, name, what it does, how long, how it ended) that opens into its input; below it, its
 * results. What a sub-agent did is opened from the same line and shown as rows of its own.
 */
import {
  askOf,
  type Block,
  callOutcome,
  formatDuration,
  isAtWork,
  isEnded,
  isResult,
  plural,
  showsPictures,
  toolTitle,
  waitsFor,
} from "@blockyard/kernel";
import { type ReactNode, useEffect, useState } from "react";
import { hasWorkBefore, isQueued, nestedName } from "../rows/rows.ts";
import { useSides } from "../rows/view-tree.ts";
import { useCellPart } from "../state/cell.ts";
import { useOpen } from "../state/disclosure.ts";
import { preferences } from "../state/preferences.ts";
import { useBlock, useView } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { AskView } from "./ask.tsx";
import { Pictures } from "./image.tsx";
import { metadataOf, type Renderer, type RendererProps } from "./renderer.ts";
import { toolIcon } from "./tool-icon.ts";
import { GrowingInput, WholeInput } from "./tool-input.tsx";

interface ToolCallProps extends RendererProps {
  /** Draws a result, by its id; given, so that this file need not know every kind. */
  readonly Result: (props: { id: string; call: Block }) => ReactNode;
}

export function toolCallWith(Result: ToolCallProps["Result"]): Renderer {
  return ({ block }) => <ToolCallBlock block={block} Result={Result} />;
}

function ToolCallBlock({ block, Result }: ToolCallProps): ReactNode {
  const { error, images, input, stage, progress } = metadataOf(block, "tool_call");
  const ask = askOf(block.metadata);
  const [isOpen, toggle] = useOpen(block.id, false);
  const showsResults = useCellPart(preferences, ({ results }) => results);
  const { results, nested, hasPictures } = useParts(block);
  const isBehind = useResultsBehind(block);
  const isWhole = stage === "running" || input !== undefined;
  const isGrowing = !isEnded(block.status) && !isWhole && results.length === 0;
  return (
    <div className="tool">
      <ToolLine block={block} isOpen={isOpen} onToggle={toggle} />
      {nested.length > 0 && <NestedLine block={block} count={nested.length} />}
      {ask && <AskView block={block} ask={ask} />}
      {isOpen ? (
        <div className="tool-input">
          <WholeInput block={block} />
        </div>
      ) : (
        isGrowing && <GrowingInput block={block} />
      )}
      {progress && results.length === 0 && <pre className="terminal progress">{progress}</pre>}
      {showsResults && !isBehind && (
        <div className="tool-results">
          {results.map((id) => (
            <Result key={id} id={id} call={block} />
          ))}
        </div>
      )}
      {error &&
        results.length === 0 &&
        ask?.state !== "denied" &&
        block.metadata["reason"] !== "cancelled" && <div className="tool-error">{error}</div>}
      {images && images.length > 0 && !hasPictures && <Pictures images={images} />}
    </div>
  );
}

/** Whether the results have a row of their own, behind the work of the sub-agent, which is open. */
function useResultsBehind({ id }: Block): boolean {
  const view = useView();
  const [isOpen] = useOpen(nestedName(id), false);
  return hasWorkBefore(useSides(id).map((side) => view.blocks.get(side))) && isOpen;
}

/** The results of a call, in a row of their own. */
export function CallResults({ id, Result }: { id: string; Result: ToolCallProps["Result"] }): ReactNode {
  const view = useView();
  const sides = useSides(id);
  const call = useBlock(id);
  const showsResults = useCellPart(preferences, ({ results }) => results);
  if (!showsResults || !call) return null;
  return (
    <div className="tool-results">
      {sides.map((side) => {
        const block = view.blocks.get(side);
        const isOwn = block && isResult(block);
        return isOwn ? <Result key={side} id={side} call={call} /> : null;
      })}
    </div>
  );
}

interface Parts {
  readonly results: readonly string[];
  readonly nested: readonly string[];
  /** A result shows pictures: the call, which holds them once more, need not. */
  readonly hasPictures: boolean;
}

function useParts(block: Block): Parts {
  const view = useView();
  const sides = useSides(block.id);
  const isOwn = (id: string) => {
    const side = view.blocks.get(id);
    return side !== undefined && isResult(side);
  };
  const isWork = (id: string) => {
    const side = view.blocks.get(id);
    return !isOwn(id) && !(side && isQueued(side));
  };
  const results = sides.filter(isOwn);
  const hasPictures = results.some((id) => {
    const result = view.blocks.get(id);
    return result !== undefined && showsPictures(result.kind, result.metadata);
  });
  return { results, nested: sides.filter(isWork), hasPictures };
}

interface ToolLineProps extends RendererProps {
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function ToolLine({ block, isOpen, onToggle }: ToolLineProps): ReactNode {
  const { toolName, displayName, server, compactParams, shortResult } = metadataOf(block, "tool_call");
  return (
    <button type="button" className="tool-line" aria-expanded={isOpen} onClick={onToggle}>
      <Icon name={toolIcon(toolName, server)} />
      <span className="tool-name">{toolTitle(toolName, displayName)}</span>
      <span className="tool-params">{compactParams}</span>
      <span className="tool-short">{shortResult}</span>
      <Took block={block} />
      <Ended block={block} />
    </button>
  );
}

function Ended({ block }: RendererProps): ReactNode {
  const { state, word } = callOutcome(block);
  const ask = askOf(block.metadata);
  if (ask?.state === "asked")
    return (
      <span className="state agent-asks">
        {waitsFor(ask) === "answer" ? "Needs an answer" : "Needs approval"}
      </span>
    );
  if (state === "waiting" || state === "denied" || state === "stopped")
    return <span className="state quiet">{word}</span>;
  if (state === "running")
    return (
      <span className="state running" role="img" aria-label="running">
        <span className="spinner" />
      </span>
    );
  const isFine = state === "done";
  return (
    <span className={isFine ? "state ok" : "state bad"}>
      <Icon name={isFine ? "check" : "cross"} />
      <span className={isFine ? "sr-only" : ""}>{isFine ? "done" : word}</span>
    </span>
  );
}

/** How long it took; a call that runs counts its seconds. */
function Took({ block }: RendererProps): ReactNode {
  const { durationMs, startedAt } = metadataOf(block, "tool_call");
  const isOver = !isAtWork(block);
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isOver]);
  const took = durationMs ?? (isOver ? block.updatedAt : now) - (startedAt ?? block.createdAt);
  const isWorthIt = isOver ? took >= 100 : took >= 1_500;
  return (
    <span className="took">
      {isWorthIt && took < 1e9 ? formatDuration(isOver ? took : Math.floor(took / 1_000) * 1_000) : ""}
    </span>
  );
}

function NestedLine({ block, count }: { block: Block; count: number }): ReactNode {
  const [isOpen, toggle] = useOpen(nestedName(block.id), false);
  return (
    <button type="button" className="nested-line" aria-expanded={isOpen} onClick={toggle}>
      <Icon name="chevron" className={isOpen ? "turned" : ""} />
      {isOpen ? "Hide" : "Show"} {plural(count, "block")} of its work
    </button>
  );
}
