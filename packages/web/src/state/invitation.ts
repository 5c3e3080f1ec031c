/**
 * Invitations to write: after a fork, or a click on a pen, the reader continues by typing. Until the field has the
 * focus (its editor is still loading, or a touch screen hides its keyboard), no letter is a shortcut: the prompt's
 * field takes it, or it is kept for the editor.
 */
import { EARLY_TYPED_CHARS } from "./limits.ts";

type Invited = "prompt" | "editor";

let invited: Invited | undefined;
/** What was typed for an editor that is not there yet. */
let early = "";

/** The next letters are meant for a field that may not be there yet. */
export function invite(to: Invited): void {
  invited = to;
  early = "";
  if (to === "prompt") focusPrompt();
}

/** Gives the prompt's field the focus, unless that would bring a keyboard up over half of the screen. */
export function focusPrompt(): void {
  if (!matchMedia("(pointer: coarse)").matches) promptField()?.focus({ preventScroll: true });
}

/** Whether a letter that no field has got was meant for one, and so is no shortcut. */
export function isInvited(event: KeyboardEvent): boolean {
  if (invited === undefined || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (invited === "editor") return keepEarly(event);
  if (event.key.length !== 1) return false;
  // Focused while the key goes down, the field gets its letter.
  promptField()?.focus({ preventScroll: true });
  return true;
}

/** Whether the key is kept until the editor is there. */
function keepEarly(event: KeyboardEvent): boolean {
  const { key } = event;
  if (key.length === 1 && early.length < EARLY_TYPED_CHARS) early += key;
  else if (key === "Enter") early += "\n";
  else if (key === "Backspace") early = [...early].slice(0, -1).join("");
  else return false;
  // A space does not turn the page, and no button that has the focus is pressed.
  event.preventDefault();
  return true;
}

/** What was typed while the editor was on its way; it is the editor's now. */
export function takeEarly(): string {
  const taken = early;
  leave();
  return taken;
}

/** The editor does not come, or is not wanted any more. */
export function leave(): void {
  invited = undefined;
  early = "";
}

/** A field has the focus, or the hand is elsewhere: letters are what they were. */
export function listenInvited(): () => void {
  const onFocus = (event: FocusEvent) => {
    const [target] = event.composedPath();
    if (target instanceof HTMLElement && isField(target)) leave();
  };
  const onEnd = (event: Event) => {
    if (event.type === "pointerdown" || (event as KeyboardEvent).key === "Escape") leave();
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
