/**
 * The adapter of the Agent Client Protocol (v1): JSON-RPC of both directions, as records of traffic.
 *
 * Requests are matched with their answers by direction and id; updates go by their session, not by "a prompt is open". What
 * comes between session/load (or fork) and its answer is history, not a turn. State: requests that wait, and what is open
 * in each session.
 */

import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import type { Adapter } from "../adapter.ts";
import { isObject } from "../framing/json.ts";
import { bounds } from "../limits.ts";
import { objectOf, textOf, wholeOf, wordsOf } from "../read.ts";
import { type Direction, readTraffic } from "../traffic.ts";
import { noiseBlock, unknownEvent } from "../unknown.ts";
import { answerAsk, askElicitation, askPermission } from "./ask.ts";
import { directionOf, requestOf } from "./bare.ts";
import { feedTerminal, settleReplayed } from "./call.ts";
import { isQuietMethod, quirksOf } from "./quirks.ts";
import { agentDetails, changeSession, nameSession, settingsIn } from "./session.ts";
import {
  type AcpOptions,
  idOf,
  nextKey,
  type Out,
  type Request,
  type State,
  sessionNamed,
  sessionOf,
  startState,
} from "./state.ts";
import { closeText, sayError } from "./text.ts";
import { answerPrompt, codeOf, cutTurn, endOwnTurn, errorText, startPrompt } from "./turn.ts";
import { cutCompaction, takeUpdate } from "./update.ts";

const METHOD_NOT_FOUND = -32601;

export function acpWith(options: AcpOptions): Adapter<State> {
  return {
    provider: options.provider,
    start: (run, before = {}) => startState(run, options, before),
    step(state, event) {
      const out: Out = [];
      stepRecord(state, out, event);
      return [state, out];
    },
    noise: (state, line) => [state, noiseBlock(place(state), line)],
    end(state) {
      const out: Out = [];
      for (const session of state.sessions.values()) {
        cutCompaction(out, session);
        if (session.parent === undefined) cutTurn(state, out, session);
      }
      // A session that was active before it was named as a sub-agent's may have a turn of its own.
      for (const session of state.sessions.values()) cutTurn(state, out, session);
      return out;
    },
  };
}

export const acpAdapter: Adapter<State> = acpWith({
  provider: "acp",
  showsPrompts: true,
  showsHistory: true,
  showsAnswers: true,
});

function stepRecord(state: State, out: BlockEvent[], event: Json): void {
  const record = readTraffic(event);
  if (record === undefined) {
    // A line of our own, or of a tee, about the stream itself.
    if (isObject(event) && (event.type === "blockyard_told" || event.dir === "end")) return;
    if (isObject(event) && event.jsonrpc === "2.0") return stepBare(state, out, event);
    out.push(...unknownEvent(place(state), event));
    return;
  }
  state.now = record.t ?? state.now;
  const { message } = record;
  if (isObject(message)) stepMessage(state, out, record.dir, message);
  else if (record.isCut || (message === undefined && record.line.trim() === "")) return;
  else if (message === undefined) out.push(...noiseBlock(place(state), record.line));
  else out.push(...unknownEvent(place(state), message));
}

/** A message without its direction; its answers may be alone. */
function stepBare(state: State, out: Out, message: JsonObject): void {
  const dir = directionOf(state, message);
  const isAnswer = message.method === undefined && !isObject(message.error);
  if (dir === "in" || !isAnswer || state.sent.has(idOf(message.id)))
    return stepMessage(state, out, dir, message);
  const method = requestOf(message);
  if (method === "session/prompt") {
    const [session, ...others] = [...state.sessions.values()].filter(({ turn }) => turn !== undefined);
    if (session?.turn === undefined || others.length > 0) return;
    const id = idOf(message.id);
    session.turn = { ...session.turn, request: id };
    answerPrompt(state, out, session, id, message);
  } else if (method !== undefined)
    clientRequestAnswered(state, out, "", { method, params: {}, session: undefined }, message);
}

function stepMessage(state: State, out: Out, dir: Direction, message: JsonObject): void {
  const method = textOf(message.method);
  if (method === undefined) return stepAnswer(state, out, dir, message);
  const params = objectOf(message.params);
  if (message.id === undefined) return stepNotification(state, out, dir, method, params, message);
  if (dir === "in") return stepClientRequest(state, out, idOf(message.id), method, params);
  stepAgentRequest(state, out, idOf(message.id), method, params, message);
}

function stepClientRequest(state: State, out: Out, id: string, method: string, params: JsonObject): void {
  const session = wordsOf(params.sessionId);
  state.sent.set(id, { method, params, session });
  if (method === "session/prompt" && session !== undefined)
    startPrompt(state, out, sessionOf(state, session), id, params);
  if (method === "session/load" && session !== undefined) {
    const loaded = sessionOf(state, session);
    loaded.replay = state.options.showsHistory && !loaded.isKnown ? "shown" : "skipped";
    loaded.isKnown = true;
  }
  if ((method === "session/load" || method === "session/resume") && session !== undefined) {
    const { previousCostUsd, previousUsage } = state.before;
    const resumed = sessionOf(state, session);
    resumed.costUsd ??= previousCostUsd;
    resumed.total ??= previousUsage;
  }
  // A fork's history is the history of its source session.
  if (method === "session/fork") state.forks++;
}

function stepAgentRequest(
  state: State,
  out: Out,
  id: string,
  method: string,
  params: JsonObject,
  message: JsonObject,
): void {
  const name = wordsOf(params.sessionId);
  const session = name === undefined ? undefined : sessionNamed(state, name);
  const request: Request = { method, params, session: name };
  // An open id means the same question again.
  if (state.asked.get(id)?.ask !== undefined) return;
  if (name !== undefined && session === undefined) return void state.asked.set(id, request);
  if (session !== undefined && method === "session/request_permission") {
    const ask = askPermission(state, out, session, id, params);
    state.asked.set(id, ask === undefined ? request : { ...request, ask });
    return;
  }
  if (session !== undefined && method === "elicitation/create") {
    state.asked.set(id, { ...request, ask: askElicitation(state, out, session, id, params) });
    return;
  }
  state.asked.set(id, request);
  const isKnown = /^(fs\/(read|write)_text_file|terminal\/(create|output|wait_for_exit|kill|release))$/;
  if (!isKnown.test(method) && !isQuietMethod(method))
    out.push(...unknownEvent(place(state), message, method));
}

function stepNotification(
  state: State,
  out: Out,
  dir: Direction,
  method: string,
  params: JsonObject,
  message: JsonObject,
): void {
  const name = wordsOf(params.sessionId);
  if (method === "session/update" && dir === "out" && name !== undefined) {
    const session = sessionNamed(state, name);
    if (session === undefined) return;
    // A session that appears while one is forked is the fork.
    if (state.forks > 0 && !session.isKnown && session.parent === undefined) session.replay ??= "skipped";
    return takeUpdate(state, out, session, objectOf(params.update));
  }
  if (method === "session/cancel" && dir === "in") {
    const turn = state.sessions.get(name ?? "")?.turn;
    if (turn !== undefined) turn.isCancelled = true;
    return;
  }
  const known = state.sessions.get(name ?? "");
  if (method === "_qwencode/end_turn" && known !== undefined) return endOwnTurn(state, out, known);
  if (method === "qwen/notify/session/mode-update") {
    const mode = wordsOf(params.currentModeId);
    if (mode !== undefined && known !== undefined) changeSession(state, out, known, { mode });
    return;
  }
  if (method === "elicitation/complete" || isQuietMethod(method)) return;
  out.push(...unknownEvent(place(state), message, method));
}

/** An answer: to a request of the other direction. */
function stepAnswer(state: State, out: Out, dir: Direction, message: JsonObject): void {
  const waiting = dir === "out" ? state.sent : state.asked;
  const id = idOf(message.id);
  const request = waiting.get(id);
  if (request === undefined) {
    if (dir === "in" && state.settled.delete(id)) return;
    // An error without an id answers a line that could not be read.
    if (isObject(message.error) && (message.id === null || message.id === undefined)) {
      sayError(state, out, undefined, errorText(message.error), codeIn(message.error));
      return;
    }
    out.push(...unknownEvent(place(state), message, "(response without a request)"));
    return;
  }
  waiting.delete(id);
  if (dir === "out") clientRequestAnswered(state, out, id, request, message);
  else agentRequestAnswered(state, out, request, message);
}

function clientRequestAnswered(
  state: State,
  out: Out,
  id: string,
  request: Request,
  message: JsonObject,
): void {
  const { method, params } = request;
  const result = objectOf(message.result);
  if (method === "session/fork") state.forks = Math.max(0, state.forks - 1);
  const named = wordsOf(result.sessionId) ?? request.session;
  if (method === "session/prompt") {
    if (request.session !== undefined)
      answerPrompt(state, out, sessionOf(state, request.session), id, message);
    else if (isObject(message.error)) refused(state, out, request, message.error);
    return;
  }
  if (/^session\/(load|fork)$/.test(method) && named !== undefined) {
    const session = sessionOf(state, named);
    closeText(out, session);
    settleReplayed(state, out, session);
    session.replay = undefined;
    session.isKnown = true;
  }
  if (isObject(message.error)) return refused(state, out, request, message.error);
  if (method === "initialize") {
    state.agent = agentDetails(result);
    state.quirks = quirksOf(objectOf(result.agentInfo));
    return;
  }
  if (named === undefined) return;
  const session = sessionOf(state, named);
  if (/^session\/(new|load|resume|fork)$/.test(method)) nameSession(state, out, session, params, result);
  if (method === "session/set_mode")
    changeSession(state, out, session, { mode: wordsOf(params.modeId) ?? "" });
  if (method === "session/set_model")
    changeSession(state, out, session, { model: wordsOf(params.modelId) ?? "" });
  if (method === "session/set_config_option") changeSession(state, out, session, settingsIn(result));
}

/** A request that the agent refused. An unsupported one is not reported. */
function refused(state: State, out: Out, { method, session }: Request, error: JsonObject): void {
  if (error.code === METHOD_NOT_FOUND) return;
  const known = session === undefined ? undefined : state.sessions.get(session);
  sayError(state, out, known, `${method}: ${errorText(error)}`, codeIn(error));
}

function codeIn(error: JsonObject): JsonObject {
  const code = codeOf(error);
  return code === undefined ? {} : { code };
}

function agentRequestAnswered(state: State, out: Out, request: Request, message: JsonObject): void {
  const { method, params, session, ask } = request;
  if (ask !== undefined && session !== undefined)
    return answerAsk(state, out, sessionOf(state, session), ask, message);
  const result = objectOf(message.result);
  if (method === "terminal/create") {
    const id = wordsOf(result.terminalId);
    if (id !== undefined) keepTerminal(state, id);
  }
  const terminal = wordsOf(params.terminalId) ?? "";
  if (method === "terminal/output" && typeof result.output === "string") {
    const exit = objectOf(result.exitStatus);
    const exitCode = isObject(result.exitStatus) ? (wholeOf(exit.exitCode) ?? null) : undefined;
    state.terminals.set(terminal, { output: result.output, exitCode });
    feedTerminal(state, out, terminal);
  }
}

/** A call may show its terminal only after that was released: the oldest go when there are too many. */
function keepTerminal(state: State, id: string): void {
  state.terminals.set(id, { output: "", exitCode: undefined });
  for (const oldest of state.terminals.keys()) {
    if (state.terminals.size <= bounds.openTerminals) return;
    state.terminals.delete(oldest);
  }
}

function place(state: State): { key: string; provider: string } {
  return { key: nextKey(state, undefined, "notice"), provider: state.options.provider };
}
