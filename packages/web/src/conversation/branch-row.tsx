/** A point where a conversation has several branches: which one is shown, and how to see the others. */
import { type BlockId, plural } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { endOf } from "../rows/view-tree.ts";
import { chooseHead } from "../state/page-state.ts";
import { useView } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";

interface BranchRowProps {
  readonly at: BlockId | null;
  readonly ways: readonly BlockId[];
  readonly chosen: BlockId | undefined;
}

export function BranchRow({ ways, chosen }: BranchRowProps): ReactNode {
  const view = useView();
  const now = chosen === undefined ? ways.length : ways.indexOf(chosen);
  const show = (way: BlockId | undefined) => {
    if (way !== undefined) chooseHead(view.conversation, endOf(view, way));
  };
  return (
    <div className="branch-row">
      <Icon name="branch" />
      <span>
        {chosen === undefined
          ? `Your next prompt continues from here. ${plural(ways.length, "other branch", "other branches")} below.`
          : `Branch ${now + 1} of ${ways.length}`}
      </span>
      <button type="button" className="quiet-button" disabled={now <= 0} onClick={() => show(ways[now - 1])}>
        Previous
      </button>
      <button
        type="button"
        className="quiet-button"
        disabled={now >= ways.length - 1}
        onClick={() => show(ways[now + 1])}
      >
        Next
      </button>
    </div>
  );
}
