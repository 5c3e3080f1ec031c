/**
 * The half second in which a button that does something for good cannot be pressed: a click or key that was meant for
 * what was there before must do nothing.
 */

import { useEffect, useState } from "react";
import { UNPRESSABLE_MS } from "./limits.ts";

/** False for half a second whenever `shown` changes to something else. */
export function useSettled(shown: unknown): boolean {
  const [settled, setSettled] = useState<{ readonly shown: unknown } | undefined>(undefined);
  useEffect(() => {
    const timer = setTimeout(() => setSettled({ shown }), UNPRESSABLE_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  return settled !== undefined && Object.is(settled.shown, shown);
}
