/**
 * Blocks that were taken out of the context that a model is given: collapsed into one line, nothing is lost.
 */
import { type BlockId, plural } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { prune } from "../actions/actions.ts";
import { prunedName } from "../rows/rows.ts";
import { useOpen } from "../state/disclosure.ts";
import { useIsViewer, useSession } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";

export function PrunedRow({ ids }: { ids: readonly BlockId[] }): ReactNode {
  const session = useSession();
  const isViewer = useIsViewer();
  const first = ids[0] as BlockId;
  const [isOpen, toggle] = useOpen(prunedName(first), false);
  const putBack = () => {
    for (const id of ids) void prune(session, id, false);
  };
  return (
    <div className="pruned-row">
      <button type="button" className="quiet-button" aria-expanded={isOpen} onClick={toggle}>
        <Icon name="prune" />
        {plural(ids.length, "block")} excluded from context
      </button>
      {!isViewer && (
        <button type="button" className="quiet-button" onClick={putBack}>
          Include again
        </button>
      )}
    </div>
  );
}
