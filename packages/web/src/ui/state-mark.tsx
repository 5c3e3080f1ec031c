/**
 * The state of a conversation or a turn as a mark: each with its own shape and colour, and a word for screen readers.
 */
import type { ReactNode } from "react";
import { needsWords } from "../state/needs-words.ts";
import { useIsViewer } from "../state/session.tsx";
import { Icon, type IconName } from "./icons.tsx";

export type MarkedState = "needs" | "running" | "failed" | "stopped" | "interrupted" | "done";

const MARKS: Readonly<Record<MarkedState, { readonly words?: string; readonly icon: IconName }>> = {
  needs: { icon: "hand" },
  running: { words: "Running", icon: "circle" },
  failed: { words: "Failed", icon: "alert" },
  stopped: { words: "Stopped", icon: "stopped" },
  interrupted: { words: "Interrupted", icon: "warn" },
  done: { words: "Done", icon: "check" },
};

export function StateMark({
  state,
  hasWords = false,
}: {
  state: MarkedState;
  hasWords?: boolean;
}): ReactNode {
  const isViewer = useIsViewer();
  const { words = needsWords(isViewer), icon } = MARKS[state];
  return (
    <span className={`state state-${state}`} title={hasWords ? undefined : words}>
      {state === "running" ? <span className="spinner" aria-hidden="true" /> : <Icon name={icon} />}
      <span className={hasWords ? "" : "sr-only"}>{words}</span>
    </span>
  );
}
