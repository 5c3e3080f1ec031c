/**
 * Shows and hides the side pane.
 */
import type { ReactNode } from "react";
import { togglePane, useIsPaneShown } from "../state/pane.ts";
import { Icon } from "./icons.tsx";

export function PaneToggle({ label }: { label: string }): ReactNode {
  const isShown = useIsPaneShown();
  return (
    <button
      type="button"
      className={isShown ? "icon-button on" : "icon-button"}
      title={`${label} (])`}
      aria-label="Side pane"
      aria-pressed={isShown}
      onClick={togglePane}
    >
      <Icon name="panel" />
    </button>
  );
}
