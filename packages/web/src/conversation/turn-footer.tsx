/**
 * The foot of a turn: who answered, what it cost, what it read and wrote, how long it took, how it ended.
 */
import type { Turn, Usage } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { formatCost, formatCount, formatDuration } from "../format.ts";
import { useTurn, useView } from "../session.tsx";

export function TurnFooter({ turn: id }: { turn: string }): ReactNode {
  const turn = useTurn(useView(), id);
  if (!turn) return null;
  if (turn.status === "running")
    return (
      <footer className="turn running">
        <span className="spinner" /> <span>{turn.model ?? turn.provider} is working…</span>
      </footer>
    );
  return (
    <footer className={turn.status === "error" ? "turn failed" : "turn"}>
      <span>{turn.model ?? turn.provider}</span>
      {turn.costUsd !== undefined && <span>{formatCost(turn.costUsd)}</span>}
      {turn.usage && <UsageText usage={turn.usage} />}
      {turn.durationMs !== undefined && <span>{formatDuration(turn.durationMs)}</span>}
      <Ending turn={turn} />
    </footer>
  );
}

export function UsageText({ usage }: { usage: Usage }): ReactNode {
  const { input, cacheRead, output } = usage;
  const title = `${input.toLocaleString("en-US")} tokens read, ${cacheRead.toLocaleString("en-US")} of them cached; ${output.toLocaleString("en-US")} written`;
  return (
    <span title={title}>
      {formatCount(input)} in{cacheRead > 0 ? ` (${formatCount(cacheRead)} cached)` : ""} ·{" "}
      {formatCount(output)} out
    </span>
  );
}

function Ending({ turn }: { turn: Turn }): ReactNode {
  if (turn.status === "error") return <span className="bad">{turn.reason ?? "failed"}</span>;
  const isUsual =
    turn.stopReason === undefined || /^(end_turn|stop|completed|success)$/.test(turn.stopReason);
  return isUsual ? null : <span className="warn">{turn.stopReason?.replaceAll("_", " ")}</span>;
}
