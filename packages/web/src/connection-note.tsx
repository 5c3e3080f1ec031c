/**
 * A quiet note while the page is not connected. A short interruption says nothing.
 */
import { type ReactNode, useEffect, useState } from "react";
import { useCell } from "./cell.ts";
import { Icon } from "./icons.tsx";
import { useSession } from "./session.tsx";

const QUIET_MS = 1_200;

export function ConnectionNote(): ReactNode {
  const link = useCell(useSession().link.state);
  const isAway = link.state !== "open";
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    setLong(false);
    if (!isAway) return;
    const timer = setTimeout(() => setLong(true), QUIET_MS);
    return () => clearTimeout(timer);
  }, [isAway]);
  if (link.state === "refused")
    return (
      <div className="connection refused" role="alert">
        <Icon name="warn" /> {link.message}
      </div>
    );
  if (!isAway || !isLong) return null;
  return (
    <div className="connection" role="status">
      <span className="spinner" /> Reconnecting. What you see is as of the last moment; nothing is lost.
    </div>
  );
}
