/**
 * The actions after a turn: send the prompt again, continue where it was cut off, or edit the prompt. At a usage limit:
 * when it can continue, and whether it does so by itself.
 */
import type { Turn, View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { type Session, useIsViewer, useOrder, useSession } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import {
  cancelLater,
  continueLater,
  continueTurn,
  editAndResend,
  hasPrompt,
  isKeptForLater,
  retryTurn,
} from "./resend.ts";
import { limitOf } from "./usage-limit.ts";

interface TurnActionsProps {
  readonly view: View;
  readonly turn: Turn;
}

export function TurnActions({ view, turn }: TurnActionsProps): ReactNode {
  const session = useSession();
  const isViewer = useIsViewer();
  const order = useOrder(view);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the order says that blocks have come
  const isAsked = useMemo(() => hasPrompt(view, turn.id), [view, order, turn.id]);
  // What a stream or an import brought was not asked for here.
  if (isViewer || turn.status === "running" || turn.startedBy === undefined) return null;
  const isCut =
    turn.status === "error" || turn.stopReason === "truncated" || turn.stopReason === "max_tokens";
  return (
    <span className="turn-actions">
      {isCut && <Limit view={view} turn={turn} />}
      {isCut && (
        <>
          {isAsked && (
            <button type="button" onClick={() => void retryTurn(session, view, turn.id)}>
              <Icon name="redo" /> Retry
            </button>
          )}
          <button type="button" onClick={() => continueTurn(view)}>
            <Icon name="play" /> Continue
          </button>
        </>
      )}
      {isAsked && (
        <button
          type="button"
          className="quiet-button"
          title="Change the prompt and send it again. Later messages stay on another branch"
          onClick={() => void editAndResend(session, view, turn.id)}
        >
          <Icon name="edit" /> Edit and resend
        </button>
      )}
    </span>
  );
}

function Limit({ view, turn }: TurnActionsProps): ReactNode {
  const session = useSession();
  const resetsAt = limitOf(view, turn);
  const isAhead = useIsAhead(resetsAt);
  const [isKept, setKept] = useKept(session, view, isAhead);
  if (resetsAt === undefined) return null;
  const when = timeText(resetsAt);
  if (!isAhead) return <span className="warn">Usage limit reached. It reset at {when}</span>;
  return (
    <>
      <span className="warn">Usage limit reached. Resets at {when}</span>
      {isKept ? (
        <button
          type="button"
          className="quiet-button"
          onClick={async () => setKept(!(await cancelLater(session, view)))}
        >
          <Icon name="cross" /> Continues at {when}. Cancel
        </button>
      ) : (
        <button
          type="button"
          className="quiet-button"
          onClick={async () => setKept(await continueLater(session, view, resetsAt))}
        >
          <Icon name="clock" /> Continue at {when}
        </button>
      )}
    </>
  );
}

/** Whether it continues by itself: asked when it is shown, and whenever one comes back to this window. */
function useKept(session: Session, view: View, isAhead: boolean) {
  const [isKept, setKept] = useState(false);
  useEffect(() => {
    if (!isAhead) return;
    const leaving = new AbortController();
    const look = async () => {
      const found = document.hidden ? undefined : await isKeptForLater(session, view);
      if (found !== undefined && !leaving.signal.aborted) setKept(found);
    };
    void look();
    for (const name of ["focus", "visibilitychange"])
      window.addEventListener(name, look, { signal: leaving.signal });
    return () => leaving.abort();
  }, [session, view, isAhead]);
  return [isKept, setKept] as const;
}

/** Whether a time is still to come; told again when it has come. */
function useIsAhead(at: number | undefined): boolean {
  const [now, setNow] = useState(() => Date.now());
  const left = at === undefined ? 0 : at - now;
  useEffect(() => {
    if (left <= 0) return;
    const timer = setTimeout(() => setNow(Date.now()), Math.min(left, 60_000));
    return () => clearTimeout(timer);
  }, [left]);
  return left > 0;
}

/** The time of day; with its day where that is not today. */
function timeText(at: number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString(undefined, { timeStyle: "short" });
  if (date.toDateString() === new Date().toDateString()) return time;
  return `${date.toLocaleDateString(undefined, { weekday: "short", day: "numeric", month: "short" })}, ${time}`;
}
