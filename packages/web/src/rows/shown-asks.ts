/**
 * Which requests of the agent are on the screen. One that is not can be missed, and must not be answered by a key: the page leads
 * there first.
 */
import type { BlockId } from "@blockyard/kernel";
import { useEffect } from "react";
import { Cell } from "../state/cell.ts";
import { ASK_SHOWN_PX } from "./limits.ts";
import { seekAsk } from "./sought.ts";

/** Open requests that can be seen now. */
export const shownAsks = new Cell<ReadonlySet<BlockId>>(new Set());

/** The first request that is open in the conversation that is shown. */
export const waitingAsk = new Cell<BlockId | undefined>(undefined);

/** Scrolls to an invisible request. Returns whether it did. */
export function soughtFirst(id: BlockId | undefined): boolean {
  if (id === undefined || shownAsks.get().has(id)) return false;
  seekAsk(id);
  return true;
}

/** Reports, as long as a request is drawn, whether it is on the screen. */
export function useShownAsk(panel: { readonly current: HTMLElement | null }, id: BlockId): void {
  useEffect(() => {
    const element = panel.current;
    if (!element) return;
    const note = (isShown: boolean) => {
      if (shownAsks.get().has(id) === isShown) return;
      shownAsks.change((all) => new Set(isShown ? [...all, id] : [...all].filter((each) => each !== id)));
    };
    const look = (entries: readonly IntersectionObserverEntry[]) => {
      const last = entries.at(-1);
      if (!last) return;
      // Enough of it to recognize it; all of a short one.
      const enough = Math.min(ASK_SHOWN_PX, last.boundingClientRect.height - 1);
      note(last.isIntersecting && last.intersectionRect.height >= enough);
    };
    const observer = new IntersectionObserver(look, {
      root: element.closest(".list"),
      threshold: STEPS,
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      note(false);
    };
  }, [panel, id]);
}

const STEPS = Array.from({ length: 21 }, (_, i) => i / 20);
