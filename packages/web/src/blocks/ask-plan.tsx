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
  const { plan } = (ask.input ?? {}) as { readonly plan?: unknown };
  if (ask.plan !== undefined) return <SharedPlan id={ask.plan} canEdit={canEdit} proposed={plan} />;
  if (typeof plan !== "string") return null;
  return (
    <div className="asked-plan">
      <Markdown text={Text.of(plan)} isGrowing={false} isAppendOnly={false} />
    </div>
  );
}

interface SharedPlanProps {
  readonly id: string;
  readonly canEdit: boolean;
  /** As the agent has written it, where that is known. */
  readonly proposed: unknown;
}

/** It stands below as a block of its own; from here it is opened to be edited. */
function SharedPlan({ id, canEdit, proposed }: SharedPlanProps): ReactNode {
  const block = useBlock(id);
  const text = useText(id);
  if (!block || !text) return null;
  // Who only opens it has edited nothing.
  const isSame = typeof proposed === "string" && text.toString().trim() === proposed.trim();
  const isEdited = block.promoted === true && !isSame;
  return (
    <p className="asked-plan-note">
      <span className="dim">
        {isEdited ? "The plan below was edited. It is approved as it reads now." : "The plan is below."}
      </span>
      {canEdit && (
        <button type="button" className="quiet-button" onClick={() => editBlock(block)}>
          <Icon name="edit" /> Edit plan
        </button>
      )}
    </p>
  );
}
