/**
 * A tool call: its line, and below it the visible part of its outcome. Expanded, it shows its input and its results. A
 * sub-agent's work is expanded from the same line and shown as separate rows.
 */

import {
  type Ask,
  answerWords,
  askOf,
  type Block,
  callLine,
  deedOfCall,
  errorBelow,
  formatCount,
  inShownOrder,
  isAtWork,
  isEnded,
  isResult,
  metadataOf,
  plural,
  saysCommand,
  shortenPaths,
  showsPictures,
  toolTitle,
  type View,
} from "@blockyard/kernel";
import type { ReactNode } from "react";
import { hasWorkBefore, isQueued, nestedName, planBehind } from "../rows/rows.ts";
import { treeOf, useSides } from "../rows/view-tree.ts";
import { useCellPart } from "../state/cell.ts";
import { useOpen } from "../state/disclosure.ts";
import { preferences } from "../state/preferences.ts";
import { useBlock, useView, useViewPart } from "../state/session.tsx";
import { breakable } from "../ui/long-words.tsx";
import { AskView } from "./ask.tsx";
import { Details } from "./collapse.tsx";
import { useFolder } from "./folder.ts";
import { shortForm, useLivingTodo } from "./form.ts";
import { Pictures } from "./image.tsx";
import { PROGRESS_LINES } from "./limits.ts";
import type { Renderer, RendererProps } from "./renderer.ts";
import { GrowingInput, WholeInput } from "./tool-input.tsx";
import { ToolLine } from "./tool-line.tsx";

interface ToolCallProps extends RendererProps {
  /** Draws a result, by its id; given, so that this file need not know every kind. */
  readonly Result: (props: { id: string; call: Block }) => ReactNode;
}

export function toolCallWith(Result: ToolCallProps["Result"]): Renderer {
  return ({ block }) => <ToolCallBlock block={block} Result={Result} />;
}

function ToolCallBlock({ block, Result }: ToolCallProps): ReactNode {
  const { images, input, stage, progress } = metadataOf(block, "tool_call");
  const ask = askOf(block.metadata);
  const folder = useFolder();
  const showsResults = useCellPart(preferences, ({ results }) => results);
  const { results, nested, hasCalls, hasPictures } = useParts(block);
  const deed = deedOfCall(block, results);
  const hasWork = nested.length > 0;
  const [isOpen, toggle] = useOpen(hasWork ? nestedName(block.id) : block.id, false);
  const [isOpened] = useOpen(block.id, false);
  const isBehind = hasWorkBefore(useKnown(block)) && isOpen;
  const isWhole = stage === "running" || input !== undefined;
  const isGrowing = deed === "edit" && !isEnded(block.status) && !isWhole && results.length === 0;
  const { shown, hasCommand } = useShownResults(block, results, isOpened);
  const error = errorBelow(block, results);
  return (
    <div className="tool">
      <ToolLine
        block={block}
        results={results}
        isOpen={isOpen}
        onToggle={toggle}
        isShown={showsResults && shown.length > 0}
        hasCommandBelow={showsResults && hasCommand}
        facts={(deed === "agent" ? hasWork : hasCalls) && <Work block={block} nested={nested} />}
      />
      {ask ? <OwnAsk block={block} ask={ask} /> : <GivenAnswer block={block} results={results} />}
      {isOpened && <Input block={block} results={results} hasWork={hasWork} />}
      {isGrowing && <GrowingInput block={block} />}
      {progress && results.length === 0 && !(hasWork && isAtWork(block)) && (
        <pre className="terminal progress">{breakable(lastLines(progress, PROGRESS_LINES))}</pre>
      )}
      {showsResults && !isBehind && shown.length > 0 && (
        <div className="tool-results">
          {shown.map(({ id }) => (
            <Result key={id} id={id} call={block} />
          ))}
        </div>
      )}
      {error && (
        <div className="tool-error" title={error}>
          {breakable(shortenPaths(error, folder))}
        </div>
      )}
      {images && images.length > 0 && !hasPictures && <Pictures images={images} />}
    </div>
  );
}

/** What a call asks; about a plan it is asked behind the plan. */
function OwnAsk({ block, ask }: { block: Block; ask: Ask }): ReactNode {
  const view = useView();
  const plan = useViewPart(view, () => planBehind(view, block));
  return plan === undefined ? <AskView block={block} ask={ask} /> : null;
}

/** What a call asks, in a row of its own. */
export function CallAsk({ id }: { id: string }): ReactNode {
  const block = useBlock(id);
  const ask = block && askOf(block.metadata);
  return ask ? <AskView block={block} ask={ask} /> : null;
}

/** What was answered elsewhere, as the result tells it. */
function GivenAnswer({ block, results }: { block: Block; results: readonly Block[] }): ReactNode {
  const words = answerWords(block, results);
  return words === "" ? null : <div className="agent-ask answered">{breakable(words)}</div>;
}

interface InputProps extends RendererProps {
  readonly results: readonly Block[];
  /** The work of a sub-agent begins with what it was asked. */
  readonly hasWork: boolean;
}

/** The input of a call that somebody has opened; closed where what came of it says the same. */
function Input({ block, results, hasWork }: InputProps): ReactNode {
  const isSaid =
    hasWork || results.some(({ kind }) => kind === "command" || kind === "file_change" || kind === "code");
  const { toolName, displayName } = metadataOf(block, "tool_call");
  return (
    <Details
      name={`${block.id}:input`}
      className="tool-input"
      byDefault={!isSaid}
      isAside={isSaid}
      summary={
        <>
          <span>Input</span>
          {toolName !== toolTitle(toolName, displayName) && (
            <code className="tool-id">{breakable(toolName)}</code>
          )}
        </>
      }
    >
      {() => <WholeInput block={block} hasCommand={results.some(({ kind }) => kind === "command")} />}
    </Details>
  );
}

interface ShownResults {
  /** Those that have a place of their own; the others are in the line. */
  readonly shown: readonly Block[];
  /** One of them begins with the text of its command. */
  readonly hasCommand: boolean;
}

function useShownResults(call: Block, results: readonly Block[], isOpened: boolean): ShownResults {
  const view = useView();
  const isLivingTodo = useLivingTodo() !== undefined;
  const form = formIn(view, call, { isLivingTodo, isOpened });
  const closed = formIn(view, call, { isLivingTodo, isOpened: false });
  return {
    shown: inShownOrder(results, closed).filter((result) => form(result) !== "line"),
    hasCommand: results.some((result) => result.kind === "command" && saysCommand(form(result))),
  };
}

function formIn(view: View, call: Block, known: { isLivingTodo: boolean; isOpened: boolean }) {
  const tree = treeOf(view);
  return (result: Block) =>
    shortForm(result, call, { ...known, isFollowed: tree.sides(result.id).length > 0 });
}

/** What a sub-agent did so far: how many steps, what it used, and what it is at. */
function Work({ block, nested }: { block: Block; nested: readonly string[] }): ReactNode {
  const view = useView();
  const calls = nested.flatMap((id) => {
    const side = view.blocks.get(id);
    return side?.kind === "tool_call" ? [side] : [];
  });
  const tokens = useViewPart(view, () => tokensOf(view.turns.values(), block.id));
  const last = useBlock(calls.at(-1)?.id ?? block.id) ?? block;
  const isWorking = isAtWork(block) && last !== block;
  const { name, subject } = callLine(last, [], useFolder());
  return (
    <>
      {isWorking && (
        <span className="tool-params agent-now">
          {name} {subject}
        </span>
      )}
      <span className="agent-facts">
        <span className="tool-short">{plural(calls.length, "step")}</span>
        {tokens > 0 && <span>{formatCount(tokens)} tokens</span>}
      </span>
    </>
  );
}

/** Tokens that were read and written for a sub-agent. */
function tokensOf(
  turns: Iterable<{
    readonly messages?: Readonly<
      Record<string, { usage: { input: number; output: number }; parent?: string }>
    >;
  }>,
  call: string,
): number {
  let tokens = 0;
  for (const { messages = {} } of turns)
    for (const { usage, parent } of Object.values(messages))
      if (parent === call) tokens += usage.input + usage.output;
  return tokens;
}

/** The results of a call, in a row of their own. */
export function CallResults({ id, Result }: { id: string; Result: ToolCallProps["Result"] }): ReactNode {
  const view = useView();
  const results = useSides(id)
    .flatMap((side) => view.blocks.get(side) ?? [])
    .filter(isResult);
  const isLivingTodo = useLivingTodo() !== undefined;
  const call = useBlock(id);
  const showsResults = useCellPart(preferences, ({ results }) => results);
  if (!showsResults || !call) return null;
  const form = formIn(view, call, { isLivingTodo, isOpened: false });
  return (
    <div className="tool-results">
      {inShownOrder(results, form).map((result) => (
        <Result key={result.id} id={result.id} call={call} />
      ))}
    </div>
  );
}

interface Parts {
  readonly results: readonly Block[];
  readonly nested: readonly string[];
  /** Among them are steps, not only notices such as that a background command has ended. */
  readonly hasCalls: boolean;
  /** A result shows pictures: the call, which holds them once more, need not. */
  readonly hasPictures: boolean;
}

function useKnown({ id }: Block): readonly (Block | undefined)[] {
  const view = useView();
  return useSides(id).map((side) => view.blocks.get(side));
}

function useParts(block: Block): Parts {
  const known = useKnown(block).filter((side) => side !== undefined);
  const results = known.filter(isResult);
  const work = known.filter((side) => !isResult(side) && !isQueued(side));
  const nested = work.map(({ id }) => id);
  const hasCalls = work.some(({ kind }) => kind === "tool_call");
  // Told of when a result ends: then its call changes too.
  const hasPictures = results.some(({ kind, metadata }) => showsPictures(kind, metadata));
  return { results, nested, hasCalls, hasPictures };
}

function lastLines(text: string, count: number): string {
  return text.trimEnd().split("\n").slice(-count).join("\n");
}
