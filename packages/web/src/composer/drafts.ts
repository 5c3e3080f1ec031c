/**
 * What is written and not sent: it stays with its conversation, over reloads too. Kept in this browser, and written there a moment
 * after the last key.
 */

import type { ConversationId } from "@blockyard/kernel";
import { useCallback } from "react";
import { Cell, useCellPart } from "../state/cell.ts";
import { DRAFT_CHARS, DRAFT_PLACES, DRAFT_SAVE_MS } from "./limits.ts";

/** undefined: the one that the prompt would begin. */
export type Place = ConversationId | undefined;

const KEY = "blockyard.drafts";

const drafts = new Cell<ReadonlyMap<Place, string>>(load());
let saving: ReturnType<typeof setTimeout> | undefined;

export function changeDraft(place: Place, step: (now: string) => string): void {
  drafts.change((all) => {
    const text = step(all.get(place) ?? "");
    const next = new Map(all);
    next.delete(place);
    return text === "" ? next : next.set(place, text);
  });
  saving ??= setTimeout(save, DRAFT_SAVE_MS);
}

/** Text typed before the conversation existed moves into it. */
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

function save(): void {
  clearTimeout(saving);
  saving = undefined;
  const kept = [...drafts.get()].filter(([, text]) => text.length <= DRAFT_CHARS).slice(-DRAFT_PLACES);
  try {
    localStorage.setItem(KEY, JSON.stringify(kept.map(([place, text]) => [place ?? "", text])));
  } catch {
    // A browser that stores nothing still works; it only forgets.
  }
}

// A page that is closed does not wait for its timers.
if (typeof addEventListener === "function")
  addEventListener("pagehide", () => {
    if (saving !== undefined) save();
  });

function load(): ReadonlyMap<Place, string> {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]") as unknown;
    if (!Array.isArray(kept)) return new Map();
    const pairs = kept.filter(
      (each): each is [string, string] =>
        Array.isArray(each) && each.every((part) => typeof part === "string"),
    );
    return new Map(pairs.map(([place, text]) => [place === "" ? undefined : place, text]));
  } catch {
    return new Map();
  }
}
