/**
 * Which changed files this reader has reviewed: by conversation and file, up to the edit that was the last one then. A later edit takes
 * the mark away. Kept in this browser.
 */
import { useSyncExternalStore } from "react";
import { VIEWED_FILES } from "./limits.ts";

const KEY = "blockyard-viewed";

let marks: ReadonlyMap<string, string> = load();
const listeners = new Set<() => void>();

// Marks from another window count here, and are not overwritten.
addEventListener("storage", ({ key }) => {
  if (key !== KEY) return;
  marks = load();
  tell();
});

/** `upTo`: the block of the last edit. */
export function useIsViewed(conversation: string, file: string, upTo: string): boolean {
  return useSyncExternalStore(listen, () => isViewed(conversation, file, upTo));
}

/** How many of some files have the mark. */
export function useViewedCount(
  conversation: string,
  files: readonly { readonly name: string; readonly upTo: string }[],
): number {
  return useSyncExternalStore(
    listen,
    () => files.filter(({ name, upTo }) => isViewed(conversation, name, upTo)).length,
  );
}

function isViewed(conversation: string, file: string, upTo: string): boolean {
  return marks.get(nameOf(conversation, file)) === upTo;
}

export function setViewed(conversation: string, file: string, upTo: string | undefined): void {
  const next = new Map(marks);
  // The last mark is dropped last.
  next.delete(nameOf(conversation, file));
  if (upTo !== undefined) next.set(nameOf(conversation, file), upTo);
  marks = new Map([...next].slice(-VIEWED_FILES));
  try {
    localStorage.setItem(KEY, JSON.stringify([...marks]));
  } catch {
    // A browser that stores nothing forgets it with the page.
  }
  tell();
}

function tell(): void {
  for (const listener of [...listeners]) listener();
}

function nameOf(conversation: string, file: string): string {
  return `${conversation} ${file}`;
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function load(): ReadonlyMap<string, string> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    if (!Array.isArray(stored)) return new Map();
    return new Map(
      stored.filter(
        (pair): pair is [string, string] =>
          Array.isArray(pair) && typeof pair[0] === "string" && typeof pair[1] === "string",
      ),
    );
  } catch {
    return new Map();
  }
}
