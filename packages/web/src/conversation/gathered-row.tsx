/**
 * Consecutive quiet steps, in one line: what they were, how long they took, and what is in progress. Expanded, they are
 * separate rows after it.
 */
import {
  type Block,
  type BlockId,
  callLine,
  exactText,
  gatheredWords,
  isAtWork,
  tookMs,
} from "@blockyard/kernel";
import { memo, type ReactNode } from "react";
import { useFolder } from "../blocks/folder.ts";
import { entryOf } from "../rows/entry.ts";
import { treeOf } from "../rows/view-tree.ts";
import { useCellPart } from "../state/cell.ts";
import { isOpen as isOpenNow, setOpen, useOpen } from "../state/disclosure.ts";
import { focused } from "../state/page-state.ts";
import { useBlock, useOrder, useView } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";

interface GatheredRowProps {
  readonly name: string;
  readonly ids: readonly BlockId[];
  readonly depth: number;
}

export const GatheredRow = memo(
  function GatheredRow({ name, ids, depth }: GatheredRowProps): ReactNode {
    const [isOpen] = useOpen(name, false);
    const isFocused = useCellPart(focused, (now) => now === name);
    const toggle = () => {
      // What was opened inside would stay beside it otherwise.
      if (isOpen) for (const id of ids) if (isOpenNow(id, false)) setOpen(id, false);
      setOpen(name, !isOpen);
    };
    return (
      <article
        className={isFocused ? "block gathered focused" : "block gathered"}
        data-row={name}
        data-depth={Math.min(depth, 6)}
        aria-label={`${ids.length} steps`}
        onFocus={() => focused.set(name)}
        tabIndex={isFocused ? 0 : -1}
      >
        <button type="button" className="gathered-line" aria-expanded={isOpen} onClick={toggle}>
          <Icon name="chevron" className={isOpen ? "turned" : ""} />
          <Words ids={ids} />
        </button>
      </article>
    );
  },
  (a, b) => a.name === b.name && a.depth === b.depth && a.ids.join() === b.ids.join(),
);

function Words({ ids }: { ids: readonly BlockId[] }): ReactNode {
  const view = useView();
  useOrder(view);
  // Those before the last have ended, or will be told of when they do: the rows are made anew then.
  const last = useBlock(ids.at(-1) as BlockId);
  const tree = treeOf(view);
  const entries = ids.flatMap((id) => {
    const block = view.blocks.get(id);
    return block ? [entryOf(view, tree, block)] : [];
  });
  const tookMs = entries.reduce((sum, { block }) => sum + tookOf(block), 0);
  const running = entries.findLast(({ block }) => isAtWork(block))?.block ?? last;
  const isRunning = running !== undefined && isAtWork(running);
  return (
    <>
      <span className="gathered-words">{gatheredWords(entries, tookMs)}</span>
      {isRunning && <Now block={running} />}
    </>
  );
}

/** What is under way. */
function Now({ block }: { block: Block }): ReactNode {
  const { name, subject, isCommand } = callLine(block, [], useFolder());
  return (
    <>
      <span className="gathered-now">
        {block.kind === "thinking" ? "Thinking…" : isCommand ? exactText(subject) : `${name} ${subject}`}
      </span>
      <span className="state running" role="img" aria-label="running">
        <span className="spinner" />
      </span>
    </>
  );
}

function tookOf(block: Block): number {
  if (isAtWork(block)) return 0;
  return tookMs(block.metadata, block.createdAt, block.updatedAt);
}
