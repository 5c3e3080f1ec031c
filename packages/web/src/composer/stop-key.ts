/**
 * Escape, pressed twice and nothing in between, stops what runs. The first one does what it does anyway; one that closes a menu, a
 * dialog or an editor does not count.
 */
import { useEffect, useRef, useState } from "react";
import { editing, inspected, isFinding, overlay } from "../state/page-state.ts";
import { isComposing } from "../ui/composing.ts";
import { STOP_TWICE_MS } from "./limits.ts";

/** Whether it was pressed once just now. */
export function useDoubleEscape(isRunning: boolean, stop: () => void): boolean {
  const [isArmed, setArmed] = useState(false);
  // Kept across the effect: what the key closes may redraw this before the key reaches the page.
  const wasTaken = useRef(false);
  useEffect(() => {
    if (!isRunning) return setArmed(false);
    // What the key closes may be closed when it reaches the page.
    const onBefore = (event: KeyboardEvent) => {
      wasTaken.current = isTaken(event);
      if (event.key !== "Escape") setArmed(false);
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.repeat || isComposing(event)) return;
      if (wasTaken.current || isTaken(event)) return;
      if (isArmed) stop();
      setArmed(!isArmed);
    };
    addEventListener("keydown", onBefore, { capture: true });
    addEventListener("keydown", onKey);
    const timer = isArmed ? setTimeout(() => setArmed(false), STOP_TWICE_MS) : undefined;
    return () => {
      removeEventListener("keydown", onBefore, { capture: true });
      removeEventListener("keydown", onKey);
      clearTimeout(timer);
    };
  }, [isRunning, isArmed, stop]);
  return isArmed;
}

/** Something else is closed by it. */
function isTaken(event: KeyboardEvent): boolean {
  if (overlay.get() !== undefined || editing.get() !== undefined || isFinding.get()) return true;
  if (inspected.get() !== undefined || document.querySelector("[popover]:popover-open")) return true;
  const [target] = event.composedPath();
  // The text typed there is not discarded with it.
  return target instanceof HTMLElement && target.closest(".agent-ask, .find, dialog") !== null;
}
