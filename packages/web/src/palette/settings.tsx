/**
 * What this reader chooses for this browser: theme, notifications, how diffs look, the editor that opens files.
 */
import { type ReactNode, useState } from "react";
import { useCell } from "../state/cell.ts";
import { allowNotifications, canNotify } from "../state/notifications.ts";
import { overlay } from "../state/page-state.ts";
import { type Preferences, prefer, preferences } from "../state/preferences.ts";
import { Dialog } from "../ui/dialog.tsx";

const THEMES = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
] as const;
const DIFFS = [
  { value: "unified", label: "In one column" },
  { value: "split", label: "Side by side" },
] as const;

export function Settings(): ReactNode {
  const chosen = useCell(preferences);
  return (
    <Dialog label="Settings" title="Settings" className="settings">
      <Radios name="Theme" options={THEMES} value={chosen.theme} onChoose={(theme) => prefer({ theme })} />
      <Radios name="Diffs" options={DIFFS} value={chosen.diff} onChoose={(diff) => prefer({ diff })} />
      <Notifications chosen={chosen} />
      <fieldset>
        <legend>Editor</legend>
        <button type="button" onClick={() => overlay.set({ type: "editor", path: undefined, line: 1 })}>
          Choose the editor that opens files…
        </button>
      </fieldset>
      <p className="dim">Saved in this browser only.</p>
    </Dialog>
  );
}

interface RadiosProps<T extends string> {
  readonly name: string;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly value: T;
  readonly onChoose: (value: T) => void;
}

function Radios<T extends string>({ name, options, value, onChoose }: RadiosProps<T>): ReactNode {
  return (
    <fieldset>
      <legend>{name}</legend>
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            name={name}
            checked={value === option.value}
            onChange={() => onChoose(option.value)}
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}

const NOTIFIED = [
  { key: "notifyNeeds", label: "When something needs you" },
  { key: "notifyEnds", label: "When a turn ends" },
] as const;

/** The browser is asked only by a click here. */
function Notifications({ chosen }: { chosen: Preferences }): ReactNode {
  const [isAllowed, setAllowed] = useState(canNotify());
  const change = async (key: "notifyNeeds" | "notifyEnds", isOn: boolean) => {
    if (isOn) await allowNotifications();
    setAllowed(canNotify());
    prefer({ [key]: isOn && canNotify() === "yes" });
  };
  return (
    <fieldset>
      <legend>Notifications</legend>
      {NOTIFIED.map(({ key, label }) => (
        <label key={key}>
          <input
            type="checkbox"
            checked={chosen[key]}
            disabled={isAllowed === "never"}
            onChange={(event) => void change(key, event.target.checked)}
          />
          {label}
        </label>
      ))}
      {isAllowed === "no" && (
        <p className="dim">
          This browser blocks notifications from this page. Allow them in its site settings.
        </p>
      )}
      {isAllowed === "never" && <p className="dim">This browser doesn't support notifications.</p>}
    </fieldset>
  );
}
