/**
 * Asking an agent: one call of turn.start, with the questions that may stand in its way (which folder, and whether what acts by
 * itself there is trusted).
 */

import type { ToolAnswer, ToolInput } from "@blockyard/client";
import { type BlockId, type ConversationId, isProblem, type Problem } from "@blockyard/kernel";
import { refused } from "../actions/actions.ts";
import { askFolder, folderQuestion } from "../actions/folder-question.ts";
import type { Attachment } from "../actions/resend.ts";
import { askTrust, trustQuestion } from "../actions/trust-question.ts";
import { isFollowing } from "../state/page-state.ts";
import type { Session } from "../state/session.tsx";
import { NEW_TITLE_CHARS } from "./limits.ts";

export interface Asked {
  /** undefined: a new one. */
  readonly conversation: ConversationId | undefined;
  /** The agent and its settings. */
  readonly agent: Pick<ToolInput<"turn.start">, "provider" | "model" | "mode">;
  readonly prompt: string;
  readonly attachments?: readonly Attachment[];
  /** Continues from here instead of the end; null: as a new beginning. */
  readonly parent?: BlockId | null | undefined;
  /** Into the turn that runs. */
  readonly when?: "next" | undefined;
  /** Blocks that the context of a new conversation shall have. */
  readonly include?: readonly BlockId[];
}

/** The conversation that has the prompt; undefined if it was refused, which was reported. */
export async function startTurn(session: Session, asked: Asked): Promise<ConversationId | undefined> {
  const { conversation, agent, prompt, attachments = [], parent, when, include = [] } = asked;
  const request: ToolInput<"turn.start"> = {
    ...agent,
    // A new conversation is created with the turn, or not at all.
    ...(conversation === undefined ? { title: titleOf(prompt) } : { conversation }),
    prompt,
    ...(parent === undefined ? {} : { parent_id: parent }),
    ...(when === undefined ? {} : { when }),
    ...(include.length === 0 ? {} : { include: [...include] }),
  };
  const send = (more: { readonly cwd?: string }): Promise<Answer> =>
    attachments.length === 0
      ? session.write("turn.start", { ...request, ...more })
      : session.post("turn.start", { ...request, ...more, attachments });
  let answer = await trusting(session, send, {});
  const question = isProblem(answer) ? folderQuestion(answer) : undefined;
  const cwd = question && (await askFolder(question));
  if (question && cwd === undefined) return undefined; // nothing was sent, which a user who closed the question knows
  if (cwd !== undefined) answer = await trusting(session, send, { cwd });
  if (answer === undefined) return undefined;
  if (isProblem(answer)) {
    refused("Couldn't send", answer);
    return undefined;
  }
  isFollowing.set(true);
  return answer.conversation;
}

type Answer = ToolAnswer<"turn.start"> | Problem;

/** Sends; if the folder's hooks and settings are not trusted yet, asks first. Undefined if they stay untrusted. */
async function trusting(
  session: Session,
  send: (more: { readonly cwd?: string }) => Promise<Answer>,
  more: { readonly cwd?: string },
): Promise<Answer | undefined> {
  const answer = await send(more);
  const question = isProblem(answer) ? trustQuestion(answer) : undefined;
  if (!question) return answer;
  if (!(await askTrust(question))) return undefined;
  const { folder, digest } = question;
  const given = await session.write("trust.allow", { folder, digest });
  return isProblem(given) ? given : send(more);
}

function titleOf(prompt: string): string {
  return (prompt.split("\n").find((line) => line.trim() !== "") ?? "")
    .trim()
    .slice(0, NEW_TITLE_CHARS)
    .toWellFormed();
}
