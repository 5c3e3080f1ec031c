/**
 * Keys that come after their field has gone: somebody else answered what one was writing about, and the hands write on. Until they rest
 * for a moment, a letter is no shortcut, a digit answers nothing, and Enter writes into no block.
 */
import { isField } from "./invitation.ts";
import { LATE_KEYS_MS } from "./limits.ts";

/** The next letters were meant for a field that has just gone. */
export function dropLateKeys(): void {
  const resting = new AbortController();
  const end = () => resting.abort();
  let timer = setTimeout(end, LATE_KEYS_MS);
  const onKey = (event: KeyboardEvent) => {
    const isShortcut = event.ctrlKey || event.metaKey || event.altKey;
    if (isShortcut || !(event.key.length === 1 || event.key === "Enter" || event.key === "Backspace")) return;
    // A user who has gone to another field means that one.
    if (event.target instanceof HTMLElement && isField(event.target)) return end();
    event.preventDefault();
    event.stopImmediatePropagation();
    clearTimeout(timer);
    timer = setTimeout(end, LATE_KEYS_MS);
  };
  const { signal } = resting;
  addEventListener("keydown", onKey, { capture: true, signal });
  addEventListener("pointerdown", end, { capture: true, signal });
}
