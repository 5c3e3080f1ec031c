/**
 * The ways in for files: a button, and dropping them anywhere on the page.
 */
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Icon } from "../ui/icons.tsx";

export function AttachButton({ onFiles }: { onFiles: (files: Iterable<File>) => void }): ReactNode {
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        className="icon-button attach"
        title="Attach files or pictures (a); paste and drop work too"
        aria-label="Attach files or pictures"
        onClick={() => field.current?.click()}
      >
        <Icon name="clip" />
      </button>
      <input
        ref={field}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}

/** Files that are dropped on the page go to the composer, not to the browser. Whether some hang over it now. */
export function useDrop(onFiles: (files: Iterable<File>) => void): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const onOver = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const onLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = (event: DragEvent) => {
      setOver(false);
      if (!hasFiles(event)) return;
      event.preventDefault();
      onFiles([...(event.dataTransfer?.files ?? [])]);
    };
    addEventListener("dragover", onOver);
    addEventListener("dragleave", onLeave);
    addEventListener("drop", onDrop);
    return () => {
      removeEventListener("dragover", onOver);
      removeEventListener("dragleave", onLeave);
      removeEventListener("drop", onDrop);
    };
  }, [onFiles]);
  return isOver;
}
