/** The state of a conversation, as its head shows it: what waits for the reader comes first, even across a restart. */
import type { Conversation } from "@blockyard/kernel";
import { endedState } from "../state/ended-state.ts";
import type { MarkedState } from "../ui/state-mark.tsx";

type Facts = Pick<Conversation, "asking" | "running" | "ended">;

export function headState({ asking, running, ended }: Facts, isAskedLate: boolean): MarkedState {
  if ((asking ?? []).length > 0) return "needs";
  if (running.length > 0) return "running";
  if (isAskedLate) return "needs";
  if (ended === undefined) return "done";
  return endedState(ended);
}
