/**
 * The plan that waits for approval: a block that people and agents edit together. It is approved as it reads then.
 */
import { type Ask, Text } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { editBlock } from "../actions/actions.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { useBlock, useText } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";

interface PlanTextProps {
  readonly ask: Ask;
  readonly canEdit: boolean;
}

export function PlanText({ ask, canEdit }: PlanTextProps): ReactNode {
  if (ask.plan !== undefined) return <SharedPlan id={ask.plan} canEdit={canEdit} />;
  const { plan } = (ask.input ?? {}) as { readonly plan?: unknown };
  if (typeof plan !== "string") return null;
  return (
    <div className="asked-plan">
      <Markdown text={Text.of(plan)} isGrowing={false} isAppendOnly={false} />
    </div>
  );
}

/** It stands above as a block of its own; from here it is opened to be edited. */
function SharedPlan({ id, canEdit }: { id: string; canEdit: boolean }): ReactNode {
  const block = useBlock(id);
  const text = useText(id);
  const isEdited = block?.promoted === true;
  if (!block || !text) return null;
  return (
    <p className="asked-plan-note">
      <span className="dim">
        {isEdited ? "The plan above was edited. It is approved as it reads now." : "The plan is above."}
      </span>
      {canEdit && (
        <button type="button" className="quiet-button" onClick={() => editBlock(block)}>
          <Icon name="edit" /> Edit plan
        </button>
      )}
    </p>
  );
}
