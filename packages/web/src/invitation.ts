/**
 * Invitations to write: who has just forked, or pressed a pen, goes on by typing. Until the field has the focus (its editor is
 * still loading, or a touch screen keeps its keyboard away), no letter is a shortcut: the prompt's field takes it, or nobody.
 */

type Invited = "prompt" | "editor";

let invited: Invited | undefined;

/** The next letters are meant for a field that may not be there yet. */
export function invite(to: Invited): void {
  invited = to;
  if (to === "prompt") focusPrompt();
}

/** Gives the prompt's field the focus, unless that would bring a keyboard up over half of the screen. */
export function focusPrompt(): void {
  if (!matchMedia("(pointer: coarse)").matches) promptField()?.focus({ preventScroll: true });
}

/** Whether a letter that no field has got was meant for one, and so is no shortcut. */
export function isInvited(event: KeyboardEvent): boolean {
  if (invited === undefined || event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey)
    return false;
  // Focused while the key goes down, the field gets its letter.
  if (invited === "prompt") promptField()?.focus({ preventScroll: true });
  return true;
}

/** A field has the focus, or the hand is elsewhere: letters are what they were. */
export function listenInvited(): () => void {
  const onFocus = (event: FocusEvent) => {
    const [target] = event.composedPath();
    if (target instanceof HTMLElement && isField(target)) invited = undefined;
  };
  const onEnd = (event: Event) => {
    if (event.type === "pointerdown" || (event as KeyboardEvent).key === "Escape") invited = undefined;
  };
  addEventListener("focusin", onFocus);
  addEventListener("pointerdown", onEnd, { capture: true });
  addEventListener("keydown", onEnd, { capture: true });
  return () => {
    removeEventListener("focusin", onFocus);
    removeEventListener("pointerdown", onEnd, { capture: true });
    removeEventListener("keydown", onEnd, { capture: true });
  };
}

/** Whether letters are written into it. */
export function isField(element: HTMLElement): boolean {
  return element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName);
}

function promptField(): HTMLTextAreaElement | null {
  return document.querySelector<HTMLTextAreaElement>(".composer textarea");
}
