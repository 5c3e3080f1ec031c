/**
 * What is written and not sent: it stays with its conversation while one looks at another.
 */
import type { ConversationId } from "@blockyard/kernel";
import { useCallback } from "react";
import { Cell, useCellPart } from "../state/cell.ts";

/** undefined: the one that the prompt would begin. */
export type Place = ConversationId | undefined;

const drafts = new Cell<ReadonlyMap<Place, string>>(new Map());

export function changeDraft(place: Place, step: (now: string) => string): void {
  drafts.change((all) => new Map(all).set(place, step(all.get(place) ?? "")));
}

/** What was written before the conversation was there is written in it. */
export function moveDraft(from: Place, to: Place): void {
  const text = drafts.get().get(from) ?? "";
  changeDraft(from, () => "");
  changeDraft(to, (now) => joined(text, now));
}

export function useDraft(place: Place): [string, (step: (now: string) => string) => void] {
  const text = useCellPart(drafts, (all) => all.get(place) ?? "");
  const change = useCallback((step: (now: string) => string) => changeDraft(place, step), [place]);
  return [text, change];
}

/** Two pieces of a prompt, one below the other. */
export function joined(above: string, below: string): string {
  if (above.trim() === "") return below;
  return below.trim() === "" ? above : `${above}\n${below}`;
}
