/**
 * The pane on the right: which of its tabs is shown, and whether it is. In a wide window it stands beside the page and that is
 * remembered; in a narrow one it is a sheet over it, for a moment.
 */
import { useSyncExternalStore } from "react";
import { Cell, useCell, useCellPart } from "./cell.ts";
import { inspected } from "./page-state.ts";
import { prefer, preferences } from "./preferences.ts";
import { useRoute } from "./route.ts";

const PANE_TABS = ["changes", "files", "session", "outline"] as const;
export type PaneTab = (typeof PANE_TABS)[number];

const wide = matchMedia("(min-width: 1280px)");
/** Room for a diff beside the conversation: most of its lines fit. */
const widest = matchMedia("(min-width: 1840px)");
const USUAL_PX = { wide: 400, widest: 540 };
/** Whether somebody comes to the pane by key or command, and not by pointing at it: it takes the focus then. */
export const isPaneVisited = new Cell(false);
/** Whether the pane lies over a narrow window. */
const isSheet = new Cell(false);

export function useIsWide(): boolean {
  return useMatches(wide);
}

/** How wide the pane is: what the reader has chosen, or what is usual in a window like this one. */
export function usePaneWidth(): { readonly width: number; readonly usual: number } {
  const chosen = useCellPart(preferences, ({ paneWidth }) => paneWidth);
  const hasDiffs = useRoute().conversation !== undefined;
  const usual = useMatches(widest) && hasDiffs ? USUAL_PX.widest : USUAL_PX.wide;
  return { width: chosen > 0 ? chosen : usual, usual };
}

function useMatches(query: MediaQueryList): boolean {
  return useSyncExternalStore(
    (told) => {
      query.addEventListener("change", told);
      return () => query.removeEventListener("change", told);
    },
    () => query.matches,
  );
}

/** A block's details are shown in the pane, and open it. */
export function useIsPaneShown(): boolean {
  const isBeside = useCellPart(preferences, ({ pane }) => pane);
  const isOver = useCell(isSheet);
  const hasBlock = useCell(inspected) !== undefined;
  return (useIsWide() ? isBeside : isOver) || hasBlock;
}

export function usePaneTab(): PaneTab {
  return useCellPart(preferences, ({ paneTab }) => paneTabOf(paneTab));
}

function paneTabOf(name: string): PaneTab {
  return PANE_TABS.find((tab) => tab === name) ?? "changes";
}

function isPaneShown(): boolean {
  return (wide.matches ? preferences.get().pane : isSheet.get()) || inspected.get() !== undefined;
}

export function showPane(tab?: PaneTab): void {
  inspected.set(undefined);
  if (tab !== undefined) prefer({ paneTab: tab });
  if (wide.matches) prefer({ pane: true });
  else isSheet.set(true);
}

/** By key or command: the pane is shown, and has the keys. */
export function visitPane(tab?: PaneTab): void {
  showPane(tab);
  isPaneVisited.set(true);
}

export function hidePane(): void {
  inspected.set(undefined);
  isSheet.set(false);
  if (wide.matches && preferences.get().pane) prefer({ pane: false });
}

export function togglePane(): void {
  if (isPaneShown()) hidePane();
  else showPane();
}

/** By key. */
export function togglePaneVisit(): void {
  if (isPaneShown()) hidePane();
  else visitPane();
}

/** A sheet is put away when the page goes on. */
export function putSheetAway(): void {
  isSheet.set(false);
}
