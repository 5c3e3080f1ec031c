/**
 * The toolbar: what is shown and hidden, open and close all, follow the end, find, export, theme.
 */
import type { View } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { exportConversation, exportFormats } from "../actions/export.ts";
import { useCell } from "../state/cell.ts";
import { setAll } from "../state/disclosure.ts";
import { isFinding, isFollowing, overlay } from "../state/page-state.ts";
import { type Preferences, prefer, preferences } from "../state/preferences.ts";
import { Icon, type IconName } from "../ui/icons.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { ThemeButton } from "../ui/theme-button.tsx";

const KINDS: readonly {
  readonly key: "thinking" | "tools" | "results" | "system";
  readonly label: string;
  readonly icon: IconName;
}[] = [
  { key: "thinking", label: "Thinking", icon: "spark" },
  { key: "tools", label: "Tools", icon: "tool" },
  { key: "results", label: "Results", icon: "list" },
  { key: "system", label: "System", icon: "info" },
];

export function Toolbar({ view }: { view: View }): ReactNode {
  const chosen = useCell(preferences);
  const following = useCell(isFollowing);
  return (
    <div className="toolbar" role="toolbar" aria-label="View">
      <div className="toggles">
        {KINDS.map(({ key, label, icon }) => (
          <Toggle key={key} on={chosen[key]} label={label} icon={icon} change={(on) => ({ [key]: on })} />
        ))}
      </div>
      <button
        type="button"
        className={following ? "icon-button on" : "icon-button"}
        title="Follow the end"
        aria-label="Follow the end"
        aria-pressed={following}
        onClick={() => isFollowing.set(!following)}
      >
        <Icon name="down" />
      </button>
      <button
        type="button"
        className="icon-button"
        title="Find in this conversation (ctrl f)"
        aria-label="Find in this conversation"
        onClick={() => isFinding.set(true)}
      >
        <Icon name="search" />
      </button>
      <Menu label="More" icon="more">
        <MenuItem icon="expand" onChoose={() => setAll(true)}>
          Open all
        </MenuItem>
        <MenuItem icon="collapse" onChoose={() => setAll(false)}>
          Close all
        </MenuItem>
        <MenuItem
          icon="panel"
          onChoose={() => prefer({ diff: chosen.diff === "split" ? "unified" : "split" })}
        >
          {chosen.diff === "split" ? "Diffs in one column" : "Diffs side by side"}
        </MenuItem>
        {exportFormats.map(({ format, label }) => (
          <MenuItem
            key={format}
            icon="download"
            onChoose={() => void exportConversation(view.conversation, format)}
          >
            Export as {label}
          </MenuItem>
        ))}
        <MenuItem icon="command" onChoose={() => overlay.set({ type: "palette" })}>
          Commands (ctrl k)
        </MenuItem>
        <MenuItem icon="question" onChoose={() => overlay.set({ type: "help" })}>
          Keyboard (?)
        </MenuItem>
      </Menu>
      <ThemeButton />
    </div>
  );
}

interface ToggleProps {
  readonly on: boolean;
  readonly label: string;
  readonly icon: IconName;
  readonly change: (on: boolean) => Partial<Preferences>;
}

function Toggle({ on, label, icon, change }: ToggleProps): ReactNode {
  return (
    <button
      type="button"
      className={on ? "toggle on" : "toggle"}
      aria-pressed={on}
      title={`${on ? "Hide" : "Show"} ${label.toLowerCase()}`}
      onClick={() => prefer(change(!on))}
    >
      <Icon name={icon} />
      <span>{label}</span>
    </button>
  );
}
