/**
 * How a turn opens for an agent with its own sessions: which of them it continues (session.ts), and what it is told in
 * front of the prompt (briefing.ts). This is recorded on the prompt before the agent starts, so that it is told once;
 * if the agent never gets as far as a session, the record does not count and it is told again.
 */

import { isProblem, type Kernel, type Problem } from "@blockyard/kernel";
import type { Agent } from "./agents.ts";
import { pictureIn } from "./attachments.ts";
import { type Briefing, brief } from "./briefing.ts";
import type { TurnStart } from "./run.ts";
import { type Beginning, beginningOf, markOf } from "./session.ts";
import { editorsOf } from "./voices.ts";

interface Opening extends Beginning {
  readonly told: Briefing;
}

/** With `isLost`, the agent has just said that it does not have its sessions any more. */
export async function openingOf(
  kernel: Kernel,
  agent: Pick<Agent, "provider" | "lost">,
  start: TurnStart,
  isLost = false,
): Promise<Opening | Problem> {
  const beginning = await beginningOf(kernel, agent, start, isLost);
  if (isProblem(beginning)) return beginning;
  const told = await brief(beginning.news, beginning.session !== undefined, {
    read: (id) => kernel.whole(id),
    show: (block) => pictureIn(kernel.store, block),
    editors: (block) => editorsOf(kernel, block),
  });
  if (isProblem(told)) return told;
  const { by, prompt, request } = start;
  const mark = markOf(beginning, told, request.fresh === true);
  if (mark === undefined) return { ...beginning, told };
  const kept = await kernel.writeBlock(prompt, {
    agent: by,
    plan: (draft) => draft.meta(prompt, { told: mark }),
  });
  return isProblem(kept) ? kept : { ...beginning, told };
}
