/**
 * The title of the open conversation: a click, or the key for it, makes it a field.
 */
import type { ConversationId } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { useCellPart } from "../state/cell.ts";
import { renaming } from "../state/page-state.ts";
import { useSession } from "../state/session.tsx";
import { RenameField } from "./rename.tsx";

export function Title({ conversation, title }: { conversation: ConversationId; title: string }): ReactNode {
  const session = useSession();
  const isRenamed = useCellPart(
    renaming,
    (now) => now?.where === "head" && now.conversation === conversation,
  );
  if (isRenamed) return <RenameField conversation={conversation} title={title} />;
  const shown = title || "Untitled";
  if (session.isViewer)
    return (
      <h1 className="title" title={title} dir="auto">
        {shown}
      </h1>
    );
  return (
    <h1 className="title" title={`${title} (t to rename)`}>
      <button type="button" dir="auto" onClick={() => renaming.set({ conversation, where: "head" })}>
        {shown}
        <span className="sr-only">, rename</span>
      </button>
    </h1>
  );
}
