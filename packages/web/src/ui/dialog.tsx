/**
 * A dialog in the browser's own top layer: Escape and a click outside close it, focus stays in it and goes back. One that is read
 * rather than answered has a title and a button that closes it, which stay in view.
 */
import { type ReactNode, useLayoutEffect, useRef } from "react";
import { overlay } from "../state/page-state.ts";
import { Icon } from "./icons.tsx";

interface DialogProps {
  readonly label: string;
  readonly title?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

export function Dialog({ label, title, className, children }: DialogProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  // It is closed while it is still in the page: only then does the browser give the focus back.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    if (element) beginInside(element);
    return () => {
      if (element) closeInPlace(element);
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      ref={dialog}
      className={["dialog", title && "titled", className].filter(Boolean).join(" ")}
      aria-label={label}
      // By itself the browser reports it a moment after it is closed, and keys in between would be lost.
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        overlay.set(undefined);
      }}
      // The browser reports it later: by then it may be open again.
      onClose={({ currentTarget }) => {
        if (!currentTarget.open) overlay.set(undefined);
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget) overlay.set(undefined);
      }}
    >
      {title === undefined ? children : <Titled title={title}>{children}</Titled>}
    </dialog>
  );
}

/**
 * The caret leaves with the focus: Chromium keeps it in a field that is removed in the same task, and the field that
 * got the focus back gets no letters.
 */
function closeInPlace(dialog: HTMLDialogElement): void {
  const caret = getSelection();
  if (dialog.contains(caret?.anchorNode ?? null)) caret?.removeAllRanges();
  dialog.close();
}

/** Not the scrolling element but its content; of a choice, the current one. */
function beginInside(dialog: HTMLElement): void {
  const body = dialog.querySelector<HTMLElement>(":scope > .dialog-body:focus");
  body?.querySelector<HTMLElement>("input:checked, input, select, button, [tabindex]")?.focus();
  const choice = document.activeElement?.closest("[role=group]");
  choice?.querySelector<HTMLElement>("[aria-pressed=true]")?.focus();
}

/** The button comes last: the focus begins with the dialog's subject. */
function Titled({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <>
      <h2 className="dialog-title">{title}</h2>
      <div className="dialog-body">{children}</div>
      <CloseButton className="dialog-close" />
    </>
  );
}

/** Closes its dialog; for one that has a head of its own. */
export function CloseButton({ className }: { className?: string }): ReactNode {
  return (
    <button
      type="button"
      className={["icon-button", className].filter(Boolean).join(" ")}
      aria-label="Close"
      onClick={() => overlay.set(undefined)}
    >
      <Icon name="cross" />
    </button>
  );
}
