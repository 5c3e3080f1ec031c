/**
 * Asks before a conversation is deleted, says what goes with it and what stays, and offers to undo it as long as the server can.
 */

import { type ConversationId, isProblem } from "@blockyard/kernel";
import { type ReactNode, useState } from "react";
import { refused } from "../actions/actions.ts";
import { notify, overlay } from "../state/page-state.ts";
import { go, linkTo, readRoute } from "../state/route.ts";
import { type Session, useSession } from "../state/session.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { useSettled } from "../ui/wait.ts";
import { UNDO_EARLY_MS } from "./limits.ts";

interface DeleteProps {
  readonly conversation: ConversationId;
  readonly title: string;
}

export function DeleteConversation({ conversation, title }: DeleteProps): ReactNode {
  const session = useSession();
  const [isUnderWay, setUnderWay] = useState(false);
  const isSettled = useSettled(conversation);
  return (
    <Dialog label="Delete conversation" className="ask">
      <h2>Delete “{title}”?</h2>
      <p>
        Its blocks, history, raw output and pictures are removed from this server and from search. Workspace
        files, exports, backups and the agent's own session files stay.
      </p>
      <p className="dim">You can undo this for 30 seconds.</p>
      <div className="ask-buttons">
        <button
          type="button"
          className="danger"
          disabled={!isSettled || isUnderWay}
          onClick={async () => {
            setUnderWay(true);
            if (!(await remove(session, conversation, title))) setUnderWay(false);
          }}
        >
          <Icon name="trash" /> Delete
        </button>
        <button type="button" onClick={() => overlay.set(undefined)}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

async function remove(session: Session, conversation: ConversationId, title: string): Promise<boolean> {
  const answer = await session.write("conversation.delete", { conversation });
  if (isProblem(answer)) {
    refused("Couldn't delete", answer);
    return false;
  }
  overlay.set(undefined);
  const stayMs = answer.restorable_until - answer.deleted_at - UNDO_EARLY_MS;
  if (readRoute(location.pathname, location.hash).conversation === conversation) go("/");
  notify(`Deleted “${title}”`, false, {
    label: "Undo",
    stayMs,
    isUndo: true,
    run: () => void restore(session, conversation),
  });
  return true;
}

async function restore(session: Session, conversation: ConversationId): Promise<void> {
  const answer = await session.write("conversation.restore", { conversation });
  if (isProblem(answer)) return refused("Couldn't undo", answer);
  notify("Restored");
  go(linkTo(conversation));
}
