/**
 * A conversation's title as a field: Enter saves the new title, Escape restores the old one, leaving the field saves it
 * too. Ending it with a key returns the focus.
 */

import type { ConversationId } from "@blockyard/kernel";
import { type ReactNode, useEffect, useRef } from "react";
import { focusPrompt } from "../state/invitation.ts";
import { renaming } from "../state/page-state.ts";
import { useSession } from "../state/session.tsx";
import { isComposing } from "../ui/composing.ts";
import { rename } from "./actions.ts";
import { TITLE_CHARS } from "./limits.ts";

export function RenameField({
  conversation,
  title,
}: {
  conversation: ConversationId;
  title: string;
}): ReactNode {
  const session = useSession();
  const field = useRef<HTMLInputElement>(null);
  const isOver = useRef(false);
  const before = useRef<Element>(null);
  useEffect(() => {
    before.current = document.activeElement;
    field.current?.focus();
    field.current?.select();
  }, []);
  const end = (isKept: boolean) => {
    if (isOver.current) return;
    isOver.current = true;
    const written = field.current?.value.trim() ?? "";
    const where = renaming.get()?.where;
    renaming.set(undefined);
    if (!isKept || written === "" || written === title) return;
    void rename(session, conversation, written).then((isDone) => {
      // What was written is there again, to be tried once more.
      if (!isDone && where && renaming.get() === undefined) renaming.set({ conversation, where, written });
    });
  };
  return (
    <input
      ref={field}
      className="rename"
      aria-label="Conversation title"
      defaultValue={renaming.get()?.written ?? title}
      maxLength={TITLE_CHARS}
      onBlur={() => end(true)}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (isComposing(event.nativeEvent)) return;
        if (event.key !== "Enter" && event.key !== "Escape") return;
        event.preventDefault();
        end(event.key === "Enter");
        giveFocusBack(before.current);
      }}
    />
  );
}

/** What is gone, such as the button that the field has replaced, cannot have it. */
function giveFocusBack(to: Element | null): void {
  if (to instanceof HTMLElement && to.isConnected && to !== document.body) to.focus({ preventScroll: true });
  else focusPrompt();
}
