/**
 * The plan that waits for approval: a block that people and agents edit together. It is approved as it reads on this page: what was
 * edited is shown letter by letter, since a formatted text hides some of them.
 */
import { type Ask, exactText, hasPlan, NO_PLAN, Text } from "@blockyard/kernel";
import { type ReactNode, useMemo } from "react";
import { editBlock } from "../actions/actions.ts";
import { editRows } from "../diff/diff-rows.ts";
import { DiffView } from "../diff/diff-view.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { useCell } from "../state/cell.ts";
import { editing } from "../state/page-state.ts";
import { useBlock, useText } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";

export function PlanText({ ask }: { ask: Ask }): ReactNode {
  const { plan } = (ask.input ?? {}) as { readonly plan?: unknown };
  if (ask.plan !== undefined) return <SharedPlan id={ask.plan} proposed={plan} />;
  if (typeof plan !== "string" || !hasPlan(ask)) return <p>{NO_PLAN}</p>;
  return (
    <div className="asked-plan">
      <Markdown text={Text.of(plan)} isGrowing={false} isAppendOnly={false} />
    </div>
  );
}

interface SharedPlanProps {
  readonly id: string;
  /** As the agent has written it, where that is known. */
  readonly proposed: unknown;
}

/** It is above as a block of its own; this shows whether somebody has changed it. */
function SharedPlan({ id, proposed }: SharedPlanProps): ReactNode {
  const block = useBlock(id);
  const text = useText(id);
  if (!block || !text) return null;
  // Who only opens it has edited nothing.
  const isSame = typeof proposed === "string" && text.toString().trim() === proposed.trim();
  if (!block.promoted || isSame) return null;
  return (
    <>
      <p className="dim">The plan was edited. You approve the edited version.</p>
      {typeof proposed === "string" && <PlanEdits before={proposed} after={text.toString()} />}
    </>
  );
}

function PlanEdits({ before, after }: { readonly before: string; readonly after: string }): ReactNode {
  const rows = useMemo(() => editRows(exactText(before), exactText(after)), [before, after]);
  return (
    <div className="asked-diff">
      <DiffView rows={rows} label="edits to the plan" />
    </div>
  );
}

/** Opens the plan to be edited. */
export function EditPlan({ ask }: { ask: Ask }): ReactNode {
  const block = useBlock(ask.plan ?? "");
  const isOpen = useCell(editing) === ask.plan;
  // Its editor is above, with a button that closes it.
  if (!block || isOpen) return null;
  return (
    <button type="button" className="quiet-button" onClick={() => editBlock(block)}>
      <Icon name="edit" /> Edit plan
    </button>
  );
}
