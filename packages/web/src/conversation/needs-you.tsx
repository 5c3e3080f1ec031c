/**
 * The way to what waits for the reader, where that is not on the screen: a request that came while they read elsewhere. Keys that
 * would answer it lead there first.
 */
import type { View } from "@blockyard/kernel";
import { type ReactNode, useEffect } from "react";
import { lateAsks } from "../rows/late-asks.ts";
import { shownAsks, soughtFirst, waitingAsk } from "../rows/shown-asks.ts";
import { seekAsk } from "../rows/sought.ts";
import { useCell } from "../state/cell.ts";
import { isField } from "../state/invitation.ts";
import { overlay } from "../state/page-state.ts";
import { useIsViewer, useViewPart } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";

export function NeedsYou({ view }: { view: View }): ReactNode {
  const isViewer = useIsViewer();
  const asking = useViewPart(view, ({ record }) => [...(record?.asking ?? []), ...lateAsks(view)].join(" "));
  const shown = useCell(shownAsks);
  const ids = asking === "" ? [] : asking.split(" ");
  const [first] = ids;
  const isSeen = isViewer || first === undefined || ids.some((id) => shown.has(id));
  useEffect(() => {
    waitingAsk.set(isViewer ? undefined : first);
    return () => waitingAsk.set(undefined);
  }, [isViewer, first]);
  useDigits(isSeen);
  if (isSeen) return null;
  return (
    <button type="button" className="needs-you" onClick={() => seekAsk(first)}>
      <Icon name="hand" /> Needs you
    </button>
  );
}

/** A digit meant for a request that is not even drawn leads there. One that is drawn has its keys itself. */
function useDigits(isSeen: boolean): void {
  useEffect(() => {
    if (isSeen) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (!/^[0-9]$/.test(event.key) || overlay.get() !== undefined) return;
      const [target] = event.composedPath();
      if (target instanceof HTMLElement && isField(target)) return;
      if (document.querySelector(".agent-ask.open") === null) soughtFirst(waitingAsk.get());
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [isSeen]);
}
