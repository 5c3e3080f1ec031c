/**
 * Blocks that were taken out of the context that a model is given: collapsed into one line, nothing is lost. The line has the focus in
 * their place.
 */
import { type BlockId, plural } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { prune } from "../actions/actions.ts";
import { prunedName } from "../rows/rows.ts";
import { useCellPart } from "../state/cell.ts";
import { useOpen } from "../state/disclosure.ts";
import { focused } from "../state/page-state.ts";
import { useIsViewer, useSession } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";

export function PrunedRow({ name, ids }: { name: string; ids: readonly BlockId[] }): ReactNode {
  const session = useSession();
  const isFocused = useCellPart(focused, (now) => now === name);
  const isViewer = useIsViewer();
  const first = ids[0] as BlockId;
  const [isOpen, toggle] = useOpen(prunedName(first), false);
  const putBack = () => {
    for (const id of ids) void prune(session, id, false);
  };
  return (
    <article
      className={isFocused ? "block pruned-row focused" : "block pruned-row"}
      data-row={name}
      aria-label={`${plural(ids.length, "block")} excluded from context`}
      onFocus={() => focused.set(name)}
      tabIndex={isFocused ? 0 : -1}
    >
      <button type="button" className="quiet-button" aria-expanded={isOpen} onClick={toggle}>
        <Icon name="prune" />
        {plural(ids.length, "block")} excluded from context
      </button>
      {!isViewer && (
        <button type="button" className="quiet-button put-back" onClick={putBack}>
          Include again
        </button>
      )}
    </article>
  );
}
