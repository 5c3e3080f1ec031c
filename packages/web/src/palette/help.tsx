/**
 * The keys, from the table that they are read from.
 */
import type { ReactNode } from "react";
import { shortcutsFor } from "../actions/shortcuts.ts";
import { useSession } from "../state/session.tsx";
import { Dialog } from "../ui/dialog.tsx";

export function Help(): ReactNode {
  const session = useSession();
  return (
    <Dialog label="Keyboard" className="help">
      <h2>Keyboard</h2>
      <dl>
        {shortcutsFor(session).map(({ key, ctrl, label }) => (
          <div key={`${ctrl ?? ""}${key}`}>
            <dt>
              {ctrl && <kbd>ctrl</kbd>} <kbd>{key === "Escape" ? "esc" : key}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
