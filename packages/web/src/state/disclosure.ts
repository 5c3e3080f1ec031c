/**
 * What is open and what is closed, by name, outside of the components: rows that leave the screen and come back are as
 * they were. "All" sets what counts for everything that nobody has opened or closed since.
 */
import { useCallback, useSyncExternalStore } from "react";

const chosen = new Map<string, boolean>();
const listeners = new Set<() => void>();
const beforeAll = new Set<() => void>();
let all: boolean | undefined;
let version = 0;

export function isOpen(name: string, byDefault: boolean): boolean {
  return chosen.get(name) ?? all ?? byDefault;
}

export function setOpen(name: string, open: boolean): void {
  chosen.set(name, open);
  tell();
}

/** Opens or closes everything; undefined goes back to each thing's own default. */
export function setAll(open: boolean | undefined): void {
  for (const listener of beforeAll) listener();
  chosen.clear();
  all = open;
  tell();
}

/** Told before everything is opened or closed. */
export function listenBeforeAll(listener: () => void): () => void {
  beforeAll.add(listener);
  return () => beforeAll.delete(listener);
}

/** Changes with every opening and closing. */
export function disclosureVersion(): number {
  return version;
}

export function listenDisclosure(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useOpen(name: string, byDefault: boolean): [boolean, () => void] {
  const open = useSyncExternalStore(listenDisclosure, () => isOpen(name, byDefault));
  const toggle = useCallback(() => setOpen(name, !isOpen(name, byDefault)), [name, byDefault]);
  return [open, toggle];
}

function tell(): void {
  version++;
  for (const listener of [...listeners]) listener();
}
