/**
 * That questions are read before they are answered, also where they are longer than the window. Who follows the end is shown where they begin, and
 * follows the end again once they are answered here. A question that is gone to is shown with its words, and nothing is chosen unseen.
 */
import type { Ask } from "@blockyard/kernel";
import { type RefObject, useEffect, useRef } from "react";
import { isFollowing } from "../state/page-state.ts";

/** Shows the beginning of a long form, once. Returns what to do when it has been answered here. */
export function useBeginning(panel: RefObject<HTMLElement | null>, { kind }: Ask): () => void {
  const hasLed = useRef(false);
  const isForm = kind === "question" || kind === "elicitation";
  useEffect(() => {
    if (!isForm) return;
    // After the list, which shows its end in the same frame.
    const frame = requestAnimationFrame(() => {
      const list = panel.current?.closest(".list");
      if (!panel.current || !list || !isFollowing.get()) return;
      if (panel.current.offsetHeight < list.clientHeight - marginOf(panel.current)) return;
      hasLed.current = true;
      isFollowing.set(false);
      panel.current.scrollIntoView({ block: "start" });
    });
    return () => cancelAnimationFrame(frame);
  }, [panel, isForm]);
  return () => {
    if (hasLed.current) isFollowing.set(true);
  };
}

function marginOf(element: HTMLElement): number {
  return Number.parseFloat(getComputedStyle(element).scrollMarginTop) || 0;
}

/** Scrolls to an invisible choice, with its question. Returns whether it was invisible. */
export function ledTo(choice: HTMLElement): boolean {
  const list = choice.closest(".list")?.getBoundingClientRect();
  const { top, bottom } = choice.getBoundingClientRect();
  if (!list || (top >= list.top && bottom <= list.bottom)) return false;
  goToQuestion(choice);
  return true;
}

/** A question is longer than its first choice: all of it is shown, if there is room. */
export function goToQuestion(choice: HTMLElement | null | undefined): void {
  choice?.focus({ preventScroll: true });
  choice?.closest("fieldset")?.scrollIntoView({ block: "nearest" });
}
