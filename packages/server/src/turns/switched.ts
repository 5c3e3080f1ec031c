/**
 * What the owner chose for a turn while it was running: its model, and how hard the model thinks. The agent's process knows it, and loses
 * it with the server; what continues the turn afterwards reads it here.
 */
import type { ConversationMetadata, Draft, Turn } from "@blockyard/kernel";

interface Switched {
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
}

export function keepSwitched(draft: Draft, turn: string, { model, effort }: Switched): void {
  if (model === undefined && effort === undefined) return;
  const { switched } = draft.record.metadata;
  const before = switched?.turn === turn ? switched : { turn };
  const now = {
    ...before,
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
  };
  draft.conversation({ metadata: { switched: now } });
}

/** The model and the effort that a turn ran with at last. */
export function chosenIn(
  { switched }: ConversationMetadata,
  { id, model }: Pick<Turn, "id" | "model">,
): { readonly model?: string; readonly effort?: string } {
  const chosen = switched?.turn === id ? switched : undefined;
  const last = chosen?.model ?? model;
  return {
    ...(last === undefined ? {} : { model: last }),
    ...(chosen?.effort === undefined ? {} : { effort: chosen.effort }),
  };
}
