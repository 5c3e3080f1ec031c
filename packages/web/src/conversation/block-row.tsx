/**
 * One row of the list: a block with its actions, a group of quiet ones, a speaker, the footer of a turn, a fork, or a
 * pruned block.
 */
import { authorOf, type BlockId, isAtWork } from "@blockyard/kernel";
import { memo, type ReactNode, useEffect, useRef, useState } from "react";
import { BlockActions } from "../actions/block-actions.tsx";
import { LivingTodoProvider } from "../blocks/form.ts";
import { RenderedBlock, RenderedResults } from "../blocks/renderers.tsx";
import { CallAsk } from "../blocks/tool-call.tsx";
import type { Row } from "../rows/rows.ts";
import { useCellPart } from "../state/cell.ts";
import { editing, focused } from "../state/page-state.ts";
import { useBlock } from "../state/session.tsx";
import { later } from "../ui/later.tsx";
import { BranchRow } from "./branch-row.tsx";
import { GatheredRow } from "./gathered-row.tsx";
import { PrunedRow } from "./pruned-row.tsx";
import { SpeakerRow } from "./speaker-row.tsx";
import { TurnFooter } from "./turn-footer.tsx";

export const Editor = later(() => import("../editor/editor.tsx"));

export const RowView = memo(function RowView({ row }: { row: Row }): ReactNode {
  switch (row.type) {
    case "block":
      return <BlockRow id={row.id} depth={row.depth} isPart={row.isPart === true} todo={row.todo} />;
    case "gathered":
      return <GatheredRow name={row.key} ids={row.ids} depth={row.depth} />;
    case "speaker":
      return <SpeakerRow id={row.id} />;
    case "results":
      return (
        <div className="block call-results" data-depth={Math.min(row.depth, 6)}>
          <RenderedResults id={row.id} />
        </div>
      );
    case "ask":
      return (
        <div className="block plan-ask" data-ask={row.id} data-depth={0}>
          <CallAsk id={row.id} />
        </div>
      );
    case "turn":
      return <TurnFooter turn={row.turn} />;
    case "branch":
      return <BranchRow at={row.at} ways={row.ways} chosen={row.chosen} />;
    case "pruned":
      return <PrunedRow name={row.key} ids={row.ids} />;
  }
});

interface BlockRowProps {
  readonly id: BlockId;
  readonly depth: number;
  readonly isPart: boolean;
  readonly todo: BlockId | undefined;
}

const BlockRow = memo(function BlockRow({ id, depth, isPart, todo }: BlockRowProps): ReactNode {
  const block = useBlock(id);
  const isFocused = useCellPart(focused, (now) => now === id);
  const isEdited = useCellPart(editing, (now) => now === id);
  const [isNear, setNear] = useState(false);
  const article = useRef<HTMLElement>(null);
  const wasEdited = useRef(false);
  useEffect(() => {
    // The editor had the focus and is gone: the block has it now, not the page.
    if (wasEdited.current && !isEdited && document.activeElement === document.body)
      article.current?.focus({ preventScroll: true });
    wasEdited.current = isEdited;
  }, [isEdited]);
  if (!block) return null;
  const names = ["block", `kind-${block.kind}`, `role-${block.role}`];
  if (isFocused) names.push("focused");
  if (block.pruned) names.push("is-pruned");
  if (isPart) names.push("is-part");
  const shown = <RenderedBlock block={block} />;
  return (
    <article
      ref={article}
      className={names.join(" ")}
      data-block={id}
      data-row={id}
      data-kind={block.kind}
      data-status={block.status}
      data-depth={Math.min(depth, 6)}
      aria-label={`${block.kind.replace("_", " ")} by ${authorOf(block)}`}
      aria-busy={isAtWork(block)}
      onFocus={() => focused.set(id)}
      onPointerEnter={() => setNear(true)}
      tabIndex={isFocused ? 0 : -1}
    >
      <LivingTodoProvider value={todo}>
        {isEdited ? <Editor block={block} meanwhile={shown} instead={shown} /> : shown}
      </LivingTodoProvider>
      {/* Drawn when the pointer or focus comes near: they are more than most blocks are. */}
      {!isEdited && (isNear || isFocused) && <BlockActions block={block} />}
    </article>
  );
});
