/**
 * A dialog in the browser's own top layer: Escape and a click outside close it, focus stays in it and goes back.
 */
import { type ReactNode, useLayoutEffect, useRef } from "react";
import { overlay } from "../state/page-state.ts";

interface DialogProps {
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}

export function Dialog({ label, className, children }: DialogProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  // It is closed while it is still in the page: only then does the browser give the focus back.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      ref={dialog}
      className={className ? `dialog ${className}` : "dialog"}
      aria-label={label}
      // By itself the browser tells of it a moment after it is closed, and keys that come in between would be lost.
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        overlay.set(undefined);
      }}
      // The browser tells of it later: by then it may be open again.
      onClose={({ currentTarget }) => {
        if (!currentTarget.open) overlay.set(undefined);
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget) overlay.set(undefined);
      }}
    >
      {children}
    </dialog>
  );
}
