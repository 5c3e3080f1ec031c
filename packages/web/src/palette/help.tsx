/** The keys, from the table that they are read from: what they are about together, in the order of that table. */
import type { ReactNode } from "react";
import { shortcutsFor } from "../actions/shortcuts.ts";
import { useSession } from "../state/session.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Keys, keysOf } from "../ui/keys.tsx";

const GROUPS = [
  { needs: undefined, name: "Everywhere" },
  { needs: "conversation", name: "In a conversation" },
  { needs: "block", name: "Selected block" },
] as const;

export function Help(): ReactNode {
  const shortcuts = shortcutsFor(useSession());
  return (
    <Dialog label="Keyboard" title="Keyboard" className="help">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div className="help-body" tabIndex={0} role="document">
        <div className="help-groups">
          {GROUPS.map((group) => (
            <section key={group.name} aria-label={group.name}>
              <h3>{group.name}</h3>
              <dl>
                {byLabel(shortcuts.filter(({ needs }) => needs === group.needs)).map(([label, ways]) => (
                  <div key={label}>
                    <dt>
                      {ways.map(({ key, ctrl }, i) => (
                        <span key={key}>
                          {i > 0 && <span className="dim">or </span>}
                          <Keys keys={keysOf({ key, ...(ctrl ? { ctrl } : {}) })} />
                        </span>
                      ))}
                    </dt>
                    <dd>{label}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
      </div>
    </Dialog>
  );
}

/** An action with several shortcuts is listed once. */
function byLabel<S extends { readonly label: string }>(
  shortcuts: readonly S[],
): readonly (readonly [string, readonly S[]])[] {
  return [...Map.groupBy(shortcuts, ({ label }) => label)];
}
