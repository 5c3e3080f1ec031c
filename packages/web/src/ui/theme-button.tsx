/**
 * Light, dark, or as the system says.
 */
import type { ReactNode } from "react";
import { useCellPart } from "../state/cell.ts";
import { prefer, preferences } from "../state/preferences.ts";
import { Icon } from "./icons.tsx";

const NEXT = { system: "light", light: "dark", dark: "system" } as const;
const ICONS = { system: "contrast", light: "sun", dark: "moon" } as const;

export function ThemeButton(): ReactNode {
  const theme = useCellPart(preferences, (chosen) => chosen.theme);
  const label = `Theme: ${theme}. Change to ${NEXT[theme]}`;
  return (
    <button
      type="button"
      className="icon-button"
      title={label}
      aria-label={label}
      onClick={() => prefer({ theme: NEXT[theme] })}
    >
      <Icon name={ICONS[theme]} />
    </button>
  );
}
