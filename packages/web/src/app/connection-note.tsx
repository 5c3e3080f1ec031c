/**
 * A quiet note while the page is not connected, or the server waits for its database. A short interruption says nothing.
 */

import { type ReactNode, useEffect, useRef, useState } from "react";
import { useCell } from "../state/cell.ts";
import { unsavedEdits } from "../state/page-state.ts";
import { useSession } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { Message } from "../ui/message.tsx";
import { DISCONNECTED_MS } from "./limits.ts";

export function ConnectionNote(): ReactNode {
  const session = useSession();
  const link = useCell(session.link.state);
  const waitsFor = useCell(session.waitsFor);
  const isUnsaved = useCell(unsavedEdits) > 0;
  const isAway = link.state !== "open" || waitsFor !== undefined;
  const [isLong, setLong] = useState(false);
  const hasBeenOpen = useRef(false);
  if (link.state === "open") hasBeenOpen.current = true;
  useEffect(() => {
    setLong(false);
    if (!isAway) return;
    const timer = setTimeout(() => setLong(true), DISCONNECTED_MS);
    return () => clearTimeout(timer);
  }, [isAway]);
  useEffect(() => {
    if (!isAway || !isUnsaved) return;
    const ask = (event: Event) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isAway, isUnsaved]);
  if (link.state === "refused")
    return (
      <div className="connection refused" role="alert">
        <Icon name="warn" /> <Message text={link.message} />
      </div>
    );
  if (!isAway || !isLong) return null;
  return (
    <div className="connection" role="status">
      <span className="spinner" />{" "}
      {link.state === "open" ? (
        <span title={waitsFor?.message}>Waiting for the server's database… this page updates by itself</span>
      ) : hasBeenOpen.current ? (
        `Reconnecting… ${isUnsaved ? "keep this page open, your last edits aren't saved yet" : "your work is saved"}`
      ) : (
        "Connecting…"
      )}
    </div>
  );
}
