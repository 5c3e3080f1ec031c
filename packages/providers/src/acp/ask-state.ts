/** Asks that are open, and how one ends: with the client's answer, or with the call or the turn that it was about. */

import type { BlockKey, JsonObject } from "@blockyard/kernel";
import { bounds } from "../limits.ts";
import type { Asked, Out, Session, State } from "./state.ts";

/** Without a patch, the ask's outcome is written already. */
export function closeAsk(out: Out, asked: Asked, patch: JsonObject | undefined): void {
  const metadata = patch === undefined ? {} : { ask: { ...asked.ask, ...patch } };
  if (asked.isOwn) out.push({ type: "block-end", key: asked.key, status: "done", metadata });
  else out.push({ type: "block-meta", key: asked.key, metadata });
}

/** Another ask about the same block replaces it. */
export function replaceAsks(state: State, out: Out, key: BlockKey): void {
  for (const [id, { ask }] of state.asked) {
    if (ask === undefined || ask.key !== key) continue;
    settle(state, id);
    closeAsk(out, ask, { state: "expired", message: "asked again" });
  }
}

/** What the end of a call does to its unanswered ask. */
export function expiredAsk(state: State, key: BlockKey): JsonObject {
  for (const [id, { ask }] of state.asked) {
    if (ask?.key !== key) continue;
    settle(state, id);
    return { ask: { ...ask.ask, state: "expired", message: "the call has ended" } };
  }
  return {};
}

/** The turn has ended: so have asks that are about no call. */
export function expireAsks(state: State, out: Out, session: Session): void {
  for (const [id, request] of state.asked) {
    if (request.session !== session.id || request.ask?.isOwn !== true) continue;
    settle(state, id);
    closeAsk(out, request.ask, { state: "expired", message: "the turn has ended" });
  }
}

/** Nothing is asked any more; an answer that comes too late is still one to this request. */
function settle(state: State, id: string): void {
  state.asked.delete(id);
  state.settled.add(id);
  for (const oldest of state.settled) {
    if (state.settled.size <= bounds.openCalls) return;
    state.settled.delete(oldest);
  }
}
