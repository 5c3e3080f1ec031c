/**
 * The beginning of turns: a `system/init` opens one; conversation without an init does too.
 *
 * Several may be open at once, because results can be held back (see turn-end.ts); what is said belongs to the latest.
 */

import type { JsonObject } from "@blockyard/kernel";
import { given, textOf, wordsOf } from "../read.ts";
import { type Out, PROVIDER, type State, type Turn } from "./state.ts";

export function initLine(state: State, out: Out, line: JsonObject): void {
  state.cwd = textOf(line.cwd) ?? state.cwd;
  state.model = textOf(line.model) ?? state.model;
  tellSession(state, out, line);
  const last = state.turns.at(-1);
  // Said again before anything happened: still the same turn.
  if (last === undefined || last.hasEvents) openTurn(state, out);
}

export function tellSession(state: State, out: Out, line: JsonObject): void {
  state.sessionId = textOf(line.session_id) ?? state.sessionId;
  const session = given({
    sessionId: state.sessionId,
    model: state.model,
    cwd: wordsOf(state.cwd),
    version: textOf(line.claude_code_version),
  });
  const told = JSON.stringify(session);
  if (told === state.toldSession) return;
  state.toldSession = told;
  out.push({ type: "session", provider: PROVIDER, ...session });
}

/** A log names its turns itself, after the prompts that opened them. */
export function openTurn(
  state: State,
  out: Out,
  named?: { readonly name: string; readonly at?: number | undefined },
): Turn {
  const ordinal = state.nextTurn++;
  const name = named?.name ?? turnName(state, ordinal);
  const turn: Turn = { name, ordinal, hasSpoken: false, hasEvents: false };
  state.turns.push(turn);
  out.push({
    type: "turn-start",
    turn: turn.name,
    provider: PROVIDER,
    ...given({ model: state.model, sessionId: state.sessionId, at: named?.at }),
  });
  return turn;
}

function turnName(state: State, ordinal: number): string {
  return `${state.prefix}turn-${ordinal}`;
}

/** The turn that is going on; conversation without an init opens one. */
export function currentTurn(state: State, out: Out): Turn {
  const turn = state.turns.at(-1) ?? openTurn(state, out);
  turn.hasEvents = true;
  return turn;
}
