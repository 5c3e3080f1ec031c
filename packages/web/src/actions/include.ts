/**
 * What belongs to the context beside the conversation itself: blocks of elsewhere and files. In a conversation the server keeps them;
 * before there is one, the page does, and they go along with the first prompt.
 */
import { type BlockId, type ConversationId, isProblem } from "@blockyard/kernel";
import { Cell } from "../state/cell.ts";
import { notify } from "../state/page-state.ts";
import type { Session } from "../state/session.tsx";
import { refused } from "./actions.ts";

/** For the conversation that the next prompt begins. */
export const toInclude = new Cell<readonly BlockId[]>([]);

export async function include(
  session: Session,
  conversation: ConversationId | undefined,
  block: BlockId,
  included = true,
): Promise<void> {
  if (conversation === undefined) {
    toInclude.change((ids) => [...ids.filter((id) => id !== block), ...(included ? [block] : [])]);
    return;
  }
  const answer = await session.write("conversation.include", { conversation, block_id: block, included });
  if (isProblem(answer)) refused(included ? "Couldn't add" : "Couldn't remove", answer);
}

/** A file of the workspace, with its text whenever the agent is asked. */
export async function includeFile(
  session: Session,
  conversation: ConversationId | undefined,
  path: string,
): Promise<void> {
  const answer = await session.write("file.open", { path });
  if (isProblem(answer)) return refused("Couldn't add", answer);
  await include(session, conversation, answer.block_id);
}

/** The context of the conversation that the next prompt begins. */
export async function addToNext(session: Session, block: BlockId): Promise<void> {
  await include(session, undefined, block);
  notify("Added. Start a new conversation to use it");
}
