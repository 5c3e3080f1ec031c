/**
 * The beginning of turns: a `system/init` opens one; conversation without an init does too.
 *
 * Several may be open at once, because results can be held back (see turn-end.ts); what is said belongs to the latest.
 */

import { type JsonObject, NO_USAGE } from "@blockyard/kernel";
import { MARK_CHARS } from "../limits.ts";
import { given, textOf, wordsOf } from "../read.ts";
import { claudeDetails } from "../session-details.ts";

import { MAIN, type Out, PROVIDER, type Scope, type State, type Turn } from "./state.ts";

export function initLine(state: State, out: Out, line: JsonObject): void {
  state.cwd = textOf(line.cwd) ?? state.cwd;
  state.model = textOf(line.model) ?? state.model;
  tellSession(state, out, line, claudeDetails(line));
  const last = state.turns.at(-1);
  // Repeated before anything happened, or after it has begun by itself: still the same turn.
  const isNew = last === undefined || (last.hasInit && last.hasEvents);
  const turn = isNew ? openTurn(state, out) : last;
  turn.hasInit = true;
}

export function tellSession(state: State, out: Out, line: JsonObject, details: JsonObject = {}): void {
  state.sessionId = textOf(line.session_id) ?? state.sessionId;
  state.version = textOf(line.claude_code_version) ?? state.version;
  const session = given({
    sessionId: state.sessionId,
    model: state.model,
    cwd: wordsOf(state.cwd),
    version: wordsOf(state.version),
    details: Object.keys(details).length === 0 ? undefined : details,
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
  const turn: Turn = {
    name,
    ordinal,
    hasInit: false,
    hasSpoken: false,
    hasEvents: false,
    isRequesting: false,
    lastWords: undefined,
    usage: NO_USAGE,
    models: new Set(),
  };
  state.turns.push(turn);
  state.lastTurn = turn;
  out.push({
    type: "turn-start",
    turn: turn.name,
    provider: PROVIDER,
    ...given({ model: state.model, sessionId: state.sessionId, at: named?.at }),
  });
  return turn;
}

/** Enough of a text to know it again. */
export function markOf(text: string): string {
  return `${text.length} ${text.slice(0, MARK_CHARS)}`;
}

function turnName(state: State, ordinal: number): string {
  return `${state.prefix}turn-${ordinal}`;
}

/**
 * The current turn; conversation without an init opens one. A sub-agent's work between two turns still belongs to the
 * last.
 */
export function currentTurn(state: State, out: Out, scope: Scope): Turn {
  const between = scope === MAIN ? undefined : state.lastTurn;
  const turn = state.turns.at(-1) ?? between ?? openTurn(state, out);
  turn.hasEvents = true;
  return turn;
}
