/**
 * What can be done with a block or a conversation: each action calls one tool and says in a word how it went. The page
 * decides nothing here; the kernel answers.
 */
import {
  type Block,
  type BlockId,
  type ConversationId,
  isProblem,
  isShellCommand,
  type Problem,
} from "@blockyard/kernel";
import { focusPrompt, invite } from "../state/invitation.ts";
import { editing, forgetHead, notify, overlay } from "../state/page-state.ts";
import { go, linkTo } from "../state/route.ts";
import type { Session } from "../state/session.tsx";
import { copyText } from "../ui/copy.tsx";
import { forkNext } from "./resend.ts";

export async function copyBlock(session: Session, block: Block): Promise<void> {
  const view = [...session.replica.views.values()].find((known) => known.conversation === block.conversation);
  const text = view && (await session.text(view, block.id));
  if (text === undefined) return notify("Couldn't copy: the server did not send the text", true);
  const isDone = await copyText(text);
  notify(isDone ? "Copied" : "Couldn't copy: the browser refused", !isDone);
}

export function editBlock(block: Block): void {
  invite("editor");
  editing.set(block.id);
}

/** What is typed next is the prompt that continues from here. */
export async function forkAt(session: Session, block: Block): Promise<void> {
  invite("prompt");
  // The next block of a running agent would move the conversation back to its own branch: the prompt itself
  // states its place.
  const view = [...session.replica.views.values()].find((known) => known.conversation === block.conversation);
  if (view?.record?.running.length) return forkNext(block);
  const answer = await session.write("conversation.fork", { block_id: block.id });
  if (isProblem(answer)) return refused("Couldn't fork", answer);
  forgetHead(block.conversation);
  // Where a dialog had the focus until now.
  if (document.activeElement === document.body) focusPrompt();
  notify("Your next prompt continues from here. Later messages stay on another branch.");
}

/** The path to a block, as a conversation of its own. */
export async function forkAway(session: Session, block: Block): Promise<void> {
  const answer = await session.write("conversation.fork", { block_id: block.id, into_new: true });
  if (isProblem(answer)) return refused("Couldn't fork", answer);
  notify("Forked into a new conversation");
  go(linkTo(answer.conversation));
}

export async function prune(session: Session, block: BlockId, pruned: boolean): Promise<void> {
  const answer = await session.write("conversation.prune", { block_id: block, pruned });
  if (isProblem(answer)) refused(pruned ? "Couldn't exclude" : "Couldn't include", answer);
}

export async function undo(session: Session, block: BlockId, direction: "undo" | "redo"): Promise<void> {
  const answer = await session.write(`block.${direction}`, { block_id: block });
  if (isProblem(answer))
    notify(answer.problem === "nothing" ? `You have nothing to ${direction} here` : answer.message, true);
}

/** Whether it has its new title. */
export async function rename(
  session: Session,
  conversation: ConversationId,
  title: string,
): Promise<boolean> {
  const answer = await session.write("conversation.update", { conversation, title });
  if (isProblem(answer)) refused("Couldn't rename", answer);
  return !isProblem(answer);
}

/** Archives or unarchives a conversation. */
export async function archive(
  session: Session,
  conversation: ConversationId,
  archived: boolean,
): Promise<void> {
  const answer = await session.write("conversation.update", { conversation, archived });
  if (isProblem(answer)) return refused(archived ? "Couldn't archive" : "Couldn't unarchive", answer);
  notify(archived ? "Archived. Find it below the list or with search" : "Unarchived");
}

/** A message that waits for its turn. */
type Queued = Pick<Block, "conversation"> & { readonly metadata: Pick<Block["metadata"], "turn"> };

/** Takes a message back that waits for its turn; whether it still waited. */
export async function dropQueued(session: Session, block: Queued): Promise<boolean> {
  const { conversation } = block;
  const turn = block.metadata.turn ?? "";
  const answer = await session.write("turn.stop", { conversation, turn });
  if (isProblem(answer)) {
    refused("Couldn't remove", answer);
    return false;
  }
  const isDropped = answer.dropped === 1;
  if (!isDropped) notify("Too late: its turn has started", true);
  // Its buttons go, and the focus with them.
  focusPrompt();
  return isDropped;
}

/** Sends a message that was held. */
export async function releaseQueued(session: Session, block: Queued): Promise<void> {
  const { conversation } = block;
  const turn = block.metadata.turn ?? "";
  const answer = await session.write("turn.release", { conversation, turn });
  if (isProblem(answer)) return refused("Couldn't send", answer);
  focusPrompt();
}

/** Before or after its neighbour in the queue. */
export async function moveQueued(session: Session, block: Queued, by: "up" | "down"): Promise<void> {
  const { conversation } = block;
  const turn = block.metadata.turn ?? "";
  const answer = await session.write("turn.move", { conversation, turn, by });
  if (isProblem(answer)) refused("Couldn't move", answer);
}

export async function stopTurn(session: Session, conversation: ConversationId): Promise<void> {
  const answer = await session.write("turn.stop", { conversation });
  if (isProblem(answer)) refused("Couldn't stop", answer);
}

/** Asks whether the command of this block, or of the call that it is, shall be run again. */
export function askRerun(session: Session, block: Block): void {
  const view = [...session.replica.views.values()].find((known) => known.blocks.has(block.id));
  const results = [...(view?.blocks.values() ?? [])].filter(
    (result) => isShellCommand(result) && result.parent === block.id,
  );
  const command = isShellCommand(block) ? block : results.at(-1);
  if (!command) return notify("Not a command", true);
  overlay.set({ type: "rerun", block: command.id });
}

export async function stopCommand(session: Session, block: BlockId): Promise<void> {
  const answer = await session.write("command.stop", { block_id: block });
  if (isProblem(answer)) refused("Couldn't stop", answer);
}

/** A tool that this server does not have is reported plainly. */
export function refused(what: string, { problem, message }: Problem): void {
  notify(
    problem === "unknown_tool" ? `${what}: this server doesn't support it` : `${what}: ${message}`,
    true,
  );
}
