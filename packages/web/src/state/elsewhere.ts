/** Whether the reader went elsewhere while the page was still working on a request. Then the page does not take the focus. */

/** When a key or a button was last pressed, and when the page last set out for something. */
let pressedAt = 0;
let navigatedAt = 0;

/** The page is navigating: keys pressed from now on come after it. */
export function navigated(): void {
  navigatedAt = performance.now();
}

/** Whether something outside of the blocks has the focus because of a key or a button pressed since. */
export function isElsewhere(): boolean {
  const at = document.activeElement;
  return (
    pressedAt > navigatedAt && at !== null && at !== document.body && at.closest(".list, .find") === null
  );
}

export function listenPresses(): () => void {
  const onPress = () => {
    pressedAt = performance.now();
  };
  addEventListener("keydown", onPress, { capture: true });
  addEventListener("pointerdown", onPress, { capture: true });
  return () => {
    removeEventListener("keydown", onPress, { capture: true });
    removeEventListener("pointerdown", onPress, { capture: true });
  };
}
