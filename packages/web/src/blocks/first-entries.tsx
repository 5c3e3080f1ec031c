/**
 * The first entries of a list, and a button for the next ones: an agent may send more of them than a browser can draw.
 */
import { type ReactNode, useState } from "react";
import { LIST_ENTRIES } from "./limits.ts";

interface FirstEntries<T> {
  readonly first: readonly T[];
  /** Nothing where all are shown. */
  readonly more: ReactNode;
}

export function useFirstEntries<T>(entries: readonly T[]): FirstEntries<T> {
  const [shown, setShown] = useState(LIST_ENTRIES);
  const left = entries.length - shown;
  if (left <= 0) return { first: entries, more: undefined };
  const more = (
    <button type="button" className="collapse-line" onClick={() => setShown(shown + LIST_ENTRIES)}>
      Show {Math.min(LIST_ENTRIES, left)} more of {left.toLocaleString("en-US")}
    </button>
  );
  return { first: entries.slice(0, shown), more };
}
