/**
 * The audit log: what was allowed, run, granted, imported and revoked, by whom and when, newest first. It is only read here;
 * it can be saved as lines of JSON.
 */

import type { ToolAnswer } from "@blockyard/client";
import { auditRows, isProblem, type Problem } from "@blockyard/kernel";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { save } from "../actions/export.ts";
import { useSession } from "../state/session.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { AUDIT_ENTRIES } from "./limits.ts";

type Entry = ToolAnswer<"audit.list">["entries"][number];

export function AuditLog(): ReactNode {
  const session = useSession();
  const [entries, setEntries] = useState<readonly Entry[]>([]);
  const [state, setState] = useState<"reading" | "more" | "whole" | Problem>("reading");
  const [words, setWords] = useState("");
  const read = useCallback(
    async (before: number | undefined) => {
      const input = { limit: AUDIT_ENTRIES, ...(before === undefined ? {} : { before }) };
      const answer = await session.ask("audit.list", input);
      if (isProblem(answer)) return setState(answer);
      const { entries: found } = answer;
      setEntries((all) => (before === undefined ? found : [...all, ...found]));
      setState(found.length < AUDIT_ENTRIES ? "whole" : "more");
    },
    [session],
  );
  useEffect(() => void read(undefined), [read]);
  const shown = auditRows(entries).filter((entry) => lineOf(entry).includes(words));
  return (
    <Dialog label="Audit log" title="Audit log" className="wide ask">
      <div className="audit-tools">
        <input
          aria-label="Filter"
          placeholder="Filter, such as command.run"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        <button
          type="button"
          onClick={() =>
            save(asLines(entries.filter((entry) => lineOf(entry).includes(words))), "audit.jsonl")
          }
        >
          Save as JSON lines
        </button>
      </div>
      {typeof state === "object" && <p className="bad">{state.message}</p>}
      {state === "reading" && <p className="dim">Loading…</p>}
      {state !== "reading" && shown.length === 0 && <p className="dim">No entries</p>}
      <ul className="audit-log">
        {shown.map((entry) => (
          <li key={entry.id}>
            <time dateTime={new Date(entry.at).toISOString()}>{new Date(entry.at).toLocaleString()}</time>{" "}
            <strong>{entry.action}</strong> {entry.agent} ({entry.by}){" "}
            <span className="dim">{detailsOf(entry)}</span>
          </li>
        ))}
      </ul>
      {state === "more" && (
        <button type="button" onClick={() => void read(entries.at(-1)?.id)}>
          Show older
        </button>
      )}
    </Dialog>
  );
}

function detailsOf({ details }: Entry): string {
  return Object.entries(details)
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(" ");
}

function lineOf(entry: Entry): string {
  return `${entry.action} ${entry.agent} ${entry.by} ${detailsOf(entry)}`;
}

/** Oldest first, as the command writes them. */
function asLines(entries: readonly Entry[]): Blob {
  return new Blob([...entries].reverse().map((entry) => `${JSON.stringify(entry)}\n`));
}
