/**
 * The session panel: what the agents of a conversation work with, by provider.
 */
import { exactText, type SessionFacts } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { Dialog } from "../ui/dialog.tsx";

export function SessionPanel({ sessions }: { sessions: readonly SessionFacts[] }): ReactNode {
  return (
    <Dialog label="Session" className="help session-panel">
      {sessions.map(({ provider, facts }) => (
        <section key={provider}>
          <h2>Session: {provider}</h2>
          <dl>
            {facts.map(({ label, value }) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{exactText(value)}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
