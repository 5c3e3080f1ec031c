/** What this reader has chosen: theme, what is shown, how diffs look. Kept in this browser, never sent anywhere. */
import { useSyncExternalStore } from "react";
import { Cell, useCellPart } from "./cell.ts";

export interface Preferences {
  readonly theme: "system" | "light" | "dark";
  readonly thinking: boolean;
  readonly tools: boolean;
  readonly results: boolean;
  readonly system: boolean;
  readonly diff: "unified" | "split";
  /** Which editor opens files: see actions/editors.ts; empty until it was asked. */
  readonly editor: string;
  readonly editorTemplate: string;
  readonly models: { readonly [provider: string]: string };
  /** The list of conversations: whether it is shown beside the page, and its width. */
  readonly sidebar: boolean;
  readonly sidebarWidth: number;
  /** The pane on the right: whether it is shown beside the page, its width (0: as the window has room), and its content. */
  readonly pane: boolean;
  readonly paneWidth: number;
  readonly paneTab: string;
  /** Only conversations of this folder are listed; empty: all. */
  readonly folder: string;
  /** Whether the browser tells of what needs the reader, and of turns that ended. */
  readonly notifyNeeds: boolean;
  readonly notifyEnds: boolean;
}

const DEFAULTS: Preferences = {
  theme: "system",
  thinking: true,
  tools: true,
  results: true,
  system: true,
  diff: "unified",
  editor: "",
  editorTemplate: "",
  models: {},
  sidebar: true,
  sidebarWidth: 264,
  // Where a window has room for it, its sides are not left empty.
  pane: matchMedia("(min-width: 1680px)").matches,
  paneWidth: 0,
  paneTab: "changes",
  folder: "",
  notifyNeeds: false,
  notifyEnds: false,
};
const KEY = "blockyard";

export const preferences = new Cell<Preferences>(load());
applyTheme(preferences.get());

export function prefer(change: Partial<Preferences>): void {
  preferences.change((chosen) => ({ ...chosen, ...change }));
  const chosen = preferences.get();
  applyTheme(chosen);
  try {
    localStorage.setItem(KEY, JSON.stringify(chosen));
  } catch {
    // A browser that stores nothing still works; it only forgets.
  }
}

const systemDark = matchMedia("(prefers-color-scheme: dark)");

/** Whether the page is dark now, by the reader's choice or the system's. */
export function useIsDark(): boolean {
  const theme = useCellPart(preferences, (chosen) => chosen.theme);
  const isSystemDark = useSyncExternalStore(listenSystem, () => systemDark.matches);
  return theme === "system" ? isSystemDark : theme === "dark";
}

function listenSystem(listener: () => void): () => void {
  systemDark.addEventListener("change", listener);
  return () => systemDark.removeEventListener("change", listener);
}

/** Keeps only values with the shape of their default: the store may hold an older page's values. */
function load(): Preferences {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Record<string, unknown>;
    const known = Object.entries(DEFAULTS).map(([key, value]) => {
      const kept = stored[key];
      return [key, typeof kept === typeof value && kept !== null ? kept : value];
    });
    return Object.fromEntries(known) as Preferences;
  } catch {
    return DEFAULTS;
  }
}

function applyTheme({ theme }: Preferences): void {
  const root = document.documentElement;
  if (theme === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = theme;
}
