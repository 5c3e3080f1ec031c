/** The foot of a turn: model, cost, tokens, duration, and how it ended. */
import {
  agentName,
  formatCount,
  formatDuration,
  nativeFacts,
  outputWords,
  plural,
  type Turn,
  turnSpentWords,
  type Usage,
} from "@blockyard/kernel";
import { type ReactNode, useEffect, useState } from "react";
import { TurnActions } from "../actions/turn-actions.tsx";
import { useTurn, useView, useViewPart } from "../state/session.tsx";
import { CLOCKED_SECONDS, TURN_CLOCK_MS } from "./limits.ts";

export function TurnFooter({ turn: id }: { turn: string }): ReactNode {
  const view = useView();
  const turn = useTurn(view, id);
  const isAsking = useViewPart(view, ({ record }) => record?.asking?.[0] !== undefined);
  if (!turn) return null;
  const agent = agentName(turn.provider);
  const name = agent === turn.provider ? (turn.model ?? agent) : agent;
  if (turn.status === "running")
    return (
      <footer className="turn running">
        {/* Its request says that it waits; the line keeps its room. */}
        {!isAsking && <Working name={name} since={turn.startedAt} />}
      </footer>
    );
  const spent = turnSpentWords(turn);
  return (
    <footer className={turn.status === "error" && turn.reason !== "cancelled" ? "turn failed" : "turn"}>
      <span className="turn-facts">
        <Ending turn={turn} />
        <Facts turn={turn} />
        {spent !== "" && <span title={turn.uncounted && UNCOUNTED}>{spent}</span>}
        {turn.usage && <UsageText usage={turn.usage} uncounted={turn.uncounted} />}
        <span className="turn-more">{turn.model ?? name}</span>
      </span>
      <TurnActions view={view} turn={turn} />
    </footer>
  );
}

function Working({ name, since }: { name: string; since: number }): ReactNode {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TURN_CLOCK_MS);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.floor((now - since) / 1_000);
  return (
    <>
      <span className="spinner" /> <span>{name} is working…</span>
      {seconds >= CLOCKED_SECONDS && <span className="took">{formatDuration(seconds * 1_000)}</span>}
    </>
  );
}

/** Its duration, and the provider's other numbers for the turn. */
function Facts({ turn }: { turn: Turn }): ReactNode {
  const { steps, apiMs } = nativeFacts(turn.native);
  const waited = apiMs === undefined ? undefined : `${formatDuration(apiMs)} of it waiting for the model`;
  return (
    <>
      {turn.durationMs !== undefined && <span title={waited}>{formatDuration(turn.durationMs)}</span>}
      {steps !== undefined && steps > 1 && <span>{plural(steps, "step")}</span>}
    </>
  );
}

/** Of a turn whose last answer was cut, or whose process was. */
const UNCOUNTED =
  "The turn ended before the agent reported all of its usage: it may have cost more than shown";

interface UsageTextProps {
  readonly usage: Usage;
  readonly uncounted?: true | undefined;
}

function UsageText({ usage, uncounted }: UsageTextProps): ReactNode {
  const { input, cacheRead, output } = usage;
  const counts = `${input.toLocaleString("en-US")} tokens in, ${cacheRead.toLocaleString("en-US")} of them cached; ${output.toLocaleString("en-US")} out`;
  const title = uncounted ? `${counts}. ${UNCOUNTED}` : counts;
  return (
    <>
      <span className="turn-more" title={title}>
        {formatCount(input)} in{cacheRead > 0 ? ` (${formatCount(cacheRead)} cached)` : ""}
      </span>
      <span className="turn-more" title={title}>
        {outputWords(formatCount(output), uncounted)}
      </span>
    </>
  );
}

function Ending({ turn }: { turn: Turn }): ReactNode {
  if (turn.reason === "cancelled") return <span>stopped</span>;
  if (turn.status === "error") return <span className="bad">{turn.reason ?? "failed"}</span>;
  const isUsual =
    turn.stopReason === undefined || /^(end_turn|stop|completed|success)$/.test(turn.stopReason);
  return isUsual ? null : <span className="warn">{turn.stopReason?.replaceAll("_", " ")}</span>;
}
