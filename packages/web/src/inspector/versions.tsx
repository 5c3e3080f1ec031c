/** A slider through a block's versions: what its text was, who changed it and when. */
import { type Block, isProblem } from "@blockyard/kernel";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { editRows } from "../diff/diff-rows.ts";
import { DiffView } from "../diff/diff-view.tsx";
import { type History, type Unit, writerColor } from "../state/history.ts";
import { useSession, useText } from "../state/session.tsx";

export function Versions({ block, history }: { block: Block; history: History }): ReactNode {
  const units = useMemo(() => history.units.toReversed(), [history]);
  const [at, setAt] = useState(units.length - 1);
  const chosen = units[Math.min(at, units.length - 1)];
  if (!chosen) return <p className="dim">Nothing has been written yet.</p>;
  const isNow = chosen === units.at(-1);
  return (
    <div className="versions">
      {units.length > 1 && (
        <input
          type="range"
          min={0}
          max={units.length - 1}
          value={Math.min(at, units.length - 1)}
          aria-label="Version"
          aria-valuetext={`version ${chosen.version} by ${chosen.agent}`}
          onChange={(event) => setAt(Number(event.target.value))}
        />
      )}
      <UnitLine unit={chosen} />
      {!isNow && <OldText block={block} version={chosen.version} />}
    </div>
  );
}

function UnitLine({ unit }: { unit: Unit }): ReactNode {
  return (
    <p className="unit">
      <span className={`writer writer-${writerColor(unit.agent)}`}>{unit.agent}</span>
      <span>
        +{unit.inserted} −{unit.deleted}
      </span>
      {!unit.active && <span className="warn">undone</span>}
      <span className="dim">
        version {unit.version} · {new Date(unit.at).toLocaleTimeString()}
      </span>
    </p>
  );
}

/** The earlier text, compared with the current one. */
function OldText({ block, version }: { block: Block; version: number }): ReactNode {
  const session = useSession();
  const now = useText(block.id);
  const [then, setThen] = useState<string | undefined>(undefined);
  const [failure, setFailure] = useState("");
  useEffect(() => {
    let isOld = false;
    void session.ask("block.history", { block_id: block.id, version, limit: 1 }).then((answer) => {
      if (isOld) return;
      setThen(isProblem(answer) ? undefined : answer.content);
      setFailure(isProblem(answer) ? answer.message : "");
    });
    return () => {
      isOld = true;
    };
  }, [session, block.id, version]);
  const rows = useMemo(
    () => (then === undefined || !now ? undefined : editRows(then, now.toString())),
    [then, now],
  );
  if (failure) return <p className="dim">{failure}</p>;
  return rows ? <DiffView rows={rows} label="from this version to now" /> : null;
}
