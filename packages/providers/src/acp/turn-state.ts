/** The open turn of a session; what an agent says outside a turn opens one. */

import type { Out, Session, State, Turn } from "./state.ts";

export function currentTurn(state: State, out: Out, session: Session): Turn | undefined {
  // A sub-agent's session belongs to the turn that started it.
  if (session.parent !== undefined) return undefined;
  return session.turn ?? openTurn(state, out, session, undefined);
}

export function openTurn(state: State, out: Out, session: Session, request: string | undefined): Turn {
  const name = `${state.run}/turn-${++state.turns}`;
  const turn: Turn = {
    name,
    request,
    startedAt: state.now,
    usage: undefined,
    calls: 0,
    isEmpty: true,
    isCancelled: false,
    failure: undefined,
    model: undefined,
  };
  session.turn = turn;
  session.isKnown = true;
  out.push({ type: "turn-start", turn: name, provider: state.options.provider, sessionId: session.id });
  return turn;
}
