/**
 * What the owner chose for a turn, at its start or while it was running: its model, how hard the model thinks, its sandbox. The agent's
 * process knows it, and loses it with the server; what continues the turn afterwards reads it here.
 */
import type { ConversationMetadata, Draft, Turn } from "@blockyard/kernel";
import { confinements } from "./mode.ts";
import type { TurnRequest } from "./run.ts";

type Chosen = Pick<TurnRequest, "model" | "effort" | "sandbox">;
type Change = { readonly [K in keyof Chosen]?: Chosen[K] | undefined };

export function keepSwitched(draft: Draft, turn: string, { model, effort, sandbox }: Change): void {
  if (model === undefined && effort === undefined && sandbox === undefined) return;
  const { switched } = draft.record.metadata;
  const before = switched?.turn === turn ? switched : { turn };
  const now = {
    ...before,
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
    ...(sandbox === undefined ? {} : { sandbox }),
  };
  draft.conversation({ metadata: { switched: now } });
}

/** What a turn ran with at last. A sandbox counts if it confines: one without bounds is chosen anew each time. */
export function chosenIn(
  { switched }: ConversationMetadata,
  { id, model }: Pick<Turn, "id" | "model">,
): Chosen {
  const chosen = switched?.turn === id ? switched : undefined;
  const last = chosen?.model ?? model;
  const sandbox = confinements.find((each) => each === chosen?.sandbox);
  return {
    ...(last === undefined ? {} : { model: last }),
    ...(chosen?.effort === undefined ? {} : { effort: chosen.effort }),
    ...(sandbox === undefined ? {} : { sandbox }),
  };
}
