/**
 * Says in a conversation that its session has gone on in another program since the last turn here, such as `claude --resume` in a
 * terminal: the agent knows what was said there, and the conversation does not show it.
 *
 * The words themselves are not taken over: whoever can write the session's file could speak here as the owner.
 */

import { isProblem, type Kernel } from "@blockyard/kernel";
import type { TurnStart } from "../../run.ts";
import { type AddedMessages, type SessionPlace, saidElsewhere } from "./session-file.ts";

export async function noteElsewhere(kernel: Kernel, start: TurnStart, place: SessionPlace): Promise<void> {
  const { conversation } = start.request;
  const turns = await kernel.turns(conversation);
  if (isProblem(turns)) return;
  const last = turns.findLast(({ id, sessionId }) => id !== start.id && sessionId === place.session);
  // A turn that was cut off does not state its last words: what follows them may be its own.
  const at = last?.status === "done" ? last.native?.["resume_at"] : undefined;
  const said = typeof at === "string" ? await saidElsewhere(place, at) : undefined;
  if (said === undefined) return;
  const written = await kernel.write(conversation, {
    agent: start.by,
    key: `elsewhere-${start.id}`,
    plan: (draft) =>
      draft.create({
        ...{ kind: "text", role: "system", status: "done", side: true, parent: start.prompt },
        text: wordsOf(said, place.session),
        metadata: { turn: start.id, notice: "elsewhere" },
      }),
  });
  if (isProblem(written)) kernel.onFault(new Error(written.message));
}

function wordsOf({ prompts, answers }: AddedMessages, session: string): string {
  const asked = prompts === 0 ? "" : `${many(prompts, "prompt")} and `;
  return (
    `${asked}${many(answers, "answer")} in another program. The agent knows them; they are neither shown nor counted ` +
    `here. To see them: claude --resume ${session}`
  );
}

function many(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
