/**
 * Editing a block in place, also while an agent writes it: a text editor on the block's merge document. What is typed
 * goes to the kernel in small updates; what others type comes back the same way. Nothing is locked, nothing overwritten.
 *
 * It lives in a shadow root, because the editor brings its own style sheet and the page's policy allows none in the
 * document.
 */
import type { Block } from "@blockyard/kernel";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { leave } from "../state/invitation.ts";
import { editing, notify } from "../state/page-state.ts";
import { useCursors, useSession, useView } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { EditorSession } from "./editor-session.ts";

interface EditorProps {
  readonly block: Block;
  /** The block as it is read: shown until the editor has its text, which takes as long as the server is away. */
  readonly meanwhile?: ReactNode;
}

export default function Editor({ block, meanwhile }: EditorProps): ReactNode {
  const session = useSession();
  const view = useView();
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorSession | undefined>(undefined);
  const [isOpen, setOpen] = useState(false);
  const cursors = useCursors(view);
  const { id } = block;

  useEffect(() => {
    if (!host.current) return;
    const made = new EditorSession(session, id, host.current, {
      opened: () => setOpen(true),
      refused: (message) => {
        leave();
        notify(`Couldn't edit: ${message}`, true);
        editing.set(undefined);
      },
      close: () => editing.set(undefined),
    });
    editor.current = made;
    return () => {
      editor.current = undefined;
      made.close();
    };
  }, [session, id]);

  useEffect(() => {
    const self = session.replica.self?.agent;
    if (isOpen)
      editor.current?.showCursors(cursors.filter((cursor) => cursor.block === id && cursor.agent !== self));
  }, [session, cursors, id, isOpen]);

  return (
    <div className="editor">
      {!isOpen && meanwhile}
      {!isOpen && <p className="dim">Opening…</p>}
      <div ref={host} className="editor-host" />
      <div className="editor-foot">
        <span className="dim">
          Saved as you type. <span className="key-hint">Ctrl Z undoes your own edits only.</span>
        </span>
        <button type="button" onClick={() => editing.set(undefined)}>
          <Icon name="check" /> Done
        </button>
      </div>
    </div>
  );
}
