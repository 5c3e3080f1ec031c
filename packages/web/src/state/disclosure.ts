/**
 * What is expanded and collapsed, by name, outside the components: rows that leave the screen and come back are
 * unchanged. "All" applies to everything in the current conversation, until somebody expands or collapses a part. Names
 * in a conversation include its id; other conversations and the lists beside it do not change. An aside, which only repeats
 * what is beside it, is not opened by "all".
 */
import { useCallback, useSyncExternalStore } from "react";

const chosen = new Map<string, boolean>();
const listeners = new Set<() => void>();
const beforeAll = new Set<() => void>();
const alls = new Map<string, boolean>();
let place = "";
let all: boolean | undefined;
let version = 0;

export function isOpen(name: string, byDefault: boolean, isAside = false): boolean {
  return chosen.get(name) ?? (all !== undefined && name.includes(place) ? all && !isAside : byDefault);
}

export function setOpen(name: string, open: boolean): void {
  chosen.set(name, open);
  tell();
}

/** From now on this conversation is shown. */
export function enter(conversation: string): void {
  place = conversation;
  all = alls.get(conversation);
}

/** Opens or closes everything in the conversation that is shown. */
export function setAll(open: boolean): void {
  for (const listener of beforeAll) listener();
  for (const name of [...chosen.keys()]) if (name.includes(place)) chosen.delete(name);
  alls.set(place, open);
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

export function useOpen(name: string, byDefault: boolean, isAside = false): [boolean, () => void] {
  const open = useSyncExternalStore(listenDisclosure, () => isOpen(name, byDefault, isAside));
  const toggle = useCallback(
    () => setOpen(name, !isOpen(name, byDefault, isAside)),
    [name, byDefault, isAside],
  );
  return [open, toggle];
}

function tell(): void {
  version++;
  for (const listener of [...listeners]) listener();
}
