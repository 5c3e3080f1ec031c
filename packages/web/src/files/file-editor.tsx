/** The text of a file, edited together: the same editor that blocks are edited on, with line numbers. */
import type { BlockId, View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { EditorSession } from "../editor/editor-session.ts";
import { grammarOf } from "../highlight/language.ts";
import { notify } from "../state/page-state.ts";
import { useCursors, useSession } from "../state/session.tsx";

interface FileEditorProps {
  readonly id: BlockId;
  readonly path: string;
  readonly view: View;
}

export function FileEditor({ id, path, view }: FileEditorProps): ReactNode {
  const session = useSession();
  const host = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLElement>(null);
  const editor = useRef<EditorSession | undefined>(undefined);
  const [isOpen, setOpen] = useState(false);
  const cursors = useCursors(view);
  useEffect(() => {
    if (!host.current) return;
    const events = {
      opened: () => setOpen(true),
      refused: (message: string) => notify(`Couldn't edit: ${message}`, true),
      close: () => frame.current?.focus(),
    };
    const look = { label: `Text of ${path}`, isFile: true, grammar: grammarOf(undefined, path) };
    const made = new EditorSession(session, id, host.current, events, look);
    editor.current = made;
    return () => {
      editor.current = undefined;
      made.close();
    };
  }, [session, id, path]);
  useEffect(() => {
    const self = session.replica.self?.agent;
    if (isOpen)
      editor.current?.showCursors(cursors.filter((cursor) => cursor.block === id && cursor.agent !== self));
  }, [session, cursors, id, isOpen]);
  return (
    // Escape moves the focus from the text to here, so that the keyboard is not trapped in it.
    <section className="file-editor" ref={frame} tabIndex={-1} aria-label={`Editor for ${path}`}>
      {!isOpen && <p className="dim">Opening…</p>}
      <div ref={host} className="editor-host" />
      <p className="file-hint">
        Saved as you type.{" "}
        <span className="key-hint">Ctrl Z undoes your own edits only. Escape leaves the editor.</span>
      </p>
    </section>
  );
}
