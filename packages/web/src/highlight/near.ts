/**
 * Whether a chunk of a very long text has been near the screen. Until then its lines are one piece of text: a hundred thousand
 * elements take the browser many seconds to make, also where none of them is drawn.
 */

import { type RefObject, useLayoutEffect, useRef, useState } from "react";

/** Browsers without that event render all lines at once. */
const canTell = "ContentVisibilityAutoStateChangeEvent" in globalThis;

/** `isFar`: it may be far from the screen, and is a chunk that is not drawn there. */
export function useNear(isFar: boolean): {
  readonly ref: RefObject<HTMLElement | null>;
  readonly isNear: boolean;
} {
  const ref = useRef<HTMLElement>(null);
  const [wasNear, setNear] = useState(!canTell);
  const isNear = wasNear || !isFar;
  useLayoutEffect(() => {
    const element = ref.current;
    if (isNear || !element) return;
    const onChange = (event: Event) => {
      if (!(event as ContentVisibilityAutoStateChangeEvent).skipped) setNear(true);
    };
    element.addEventListener("contentvisibilityautostatechange", onChange);
    return () => element.removeEventListener("contentvisibilityautostatechange", onChange);
  }, [isNear]);
  return { ref, isNear };
}
