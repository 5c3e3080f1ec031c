/**
 * A cell: one value that components can watch. The page's own small state (what is open, focused, chosen) is in cells;
 * the kernel's state is in the replica.
 */
import { useSyncExternalStore } from "react";

export class Cell<T> {
  #value: T;
  readonly #listeners = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  readonly get = (): T => this.#value;

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of [...this.#listeners]) listener();
  }

  change(step: (value: T) => T): void {
    this.set(step(this.#value));
  }

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

export function useCell<T>(cell: Cell<T>): T {
  return useSyncExternalStore(cell.listen, cell.get);
}

/** A part of the value; the component renders only when that part changes. */
export function useCellPart<T, P extends string | number | boolean | null | undefined>(
  cell: Cell<T>,
  part: (value: T) => P,
): P {
  return useSyncExternalStore(cell.listen, () => part(cell.get()));
}
