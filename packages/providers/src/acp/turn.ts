/**
 * Prompts and their answers: the turns of a session.
 *
 * A prompt that is sent while another is open is placed where it was sent, and its turn begins when the open one is
 * answered. `stopReason` does not say whether a turn failed; the program's errors do.
 */

import { addUsage, type BlockEvent, type JsonObject, NO_USAGE, type Usage } from "@blockyard/kernel";
import { readFailure } from "../codex/failure.ts";
import { isObject } from "../framing/json.ts";
import { given, listOf, numberOf, objectOf, textOf, wordsOf } from "../read.ts";
import { costSince, count, usageSince } from "../usage.ts";
import { expireAsks } from "./ask-state.ts";
import { closeCalls } from "./call.ts";
import { closeTodo } from "./plan.ts";
import { elapsed, type Out, type Session, type State, type Turn } from "./state.ts";
import { closeSubagents } from "./subagent.ts";
import { closeText, sayError, sayNotice, sayPrompt } from "./text.ts";
import { openTurn } from "./turn-state.ts";

type TurnEnd = Extract<BlockEvent, { type: "turn-end" }>;

export function startPrompt(
  state: State,
  out: Out,
  session: Session,
  request: string,
  params: JsonObject,
): void {
  if (session.turn !== undefined && session.turn.request === undefined) endOwnTurn(state, out, session);
  if (session.turn !== undefined) session.queue.push({ request });
  else {
    closeText(out, session);
    openTurn(state, out, session, request);
  }
  if (state.options.showsPrompts) sayPrompt(state, out, session, listOf(params.prompt));
}

/** The answer to a prompt: `{result}` or `{error}`. */
export function answerPrompt(
  state: State,
  out: Out,
  session: Session,
  request: string,
  answer: JsonObject,
): void {
  const turn = session.turn;
  if (turn === undefined || turn.request !== request) {
    const queued = session.queue.find((each) => each.request === request);
    if (queued !== undefined) queued.answer = answer;
    return;
  }
  endTurn(state, out, session, turn, answer);
  for (let next = session.queue.shift(); next !== undefined; next = session.queue.shift()) {
    const begun = openTurn(state, out, session, next.request);
    if (next.answer === undefined) return;
    endTurn(state, out, session, begun, next.answer);
  }
}

/** Stop reasons that say that the agent had more to say or to do. */
const LIMITS = new Set(["max_tokens", "max_turn_requests"]);

function endTurn(state: State, out: Out, session: Session, turn: Turn, answer: JsonObject): void {
  const result = objectOf(answer.result);
  const stopReason = wordsOf(result.stopReason);
  if (isObject(answer.error)) failTurn(state, out, session, turn, answer.error);
  else if (turn.isEmpty && !turn.isCancelled && stopReason !== "cancelled") {
    const text = "The agent ended this turn without any output. ACP does not say whether it failed.";
    sayNotice(state, out, session, "empty_turn", text);
  }
  // Of agents that call it the end of the turn, too.
  const isCancelled = stopReason === "cancelled" || (turn.isCancelled && turn.failure === undefined);
  closeText(out, session, isCancelled ? "cancelled" : undefined);
  expireAsks(state, out, session);
  closeSubagents(state, out, session, isCancelled);
  closeCalls(state, out, session, isCancelled ? "cancelled" : "interrupted");
  closeTodo(out, session);
  const failure = turn.failure;
  const status = isCancelled || failure !== undefined ? "error" : "done";
  const cut = LIMITS.has(stopReason ?? "") ? "truncated" : undefined;
  const reason = isCancelled ? "cancelled" : failure === undefined ? cut : "failed";
  push(state, out, session, turn, {
    status,
    ...given({ reason, stopReason, error: isCancelled ? undefined : failure }),
    ...usageIn(state, session, turn, result),
  });
}

function failTurn(state: State, out: Out, session: Session, turn: Turn, error: JsonObject): void {
  const message = errorText(error);
  const details = isObject(error.data) ? error.data : undefined;
  // Claude's adapter says it as text too, without what it puts in front here.
  if (turn.failure === undefined || !message.endsWith(turn.failure)) {
    sayError(state, out, session, message, given({ code: codeOf(error), details }));
  }
  turn.failure = message;
}

/** What went wrong, which some agents say only beside the message, or as the provider's JSON in it. */
export function errorText(error: JsonObject): string {
  const said = readFailure(wordsOf(error.message) ?? "The agent answered with an error").text;
  const { details, message } = objectOf(error.data);
  const more = wordsOf(details) ?? readFailure(wordsOf(message) ?? "").text;
  return more === "" || said.includes(more) ? said : `${said}: ${more}`;
}

/** Codes are numbers, of JSON-RPC or of HTTP. */
export function codeOf(error: JsonObject): string | undefined {
  return typeof error.code === "number" ? String(error.code) : wordsOf(error.code);
}

/** A turn that the agent began by itself has no answer: it ends with the next prompt, or with what marks its end. */
export function endOwnTurn(state: State, out: Out, session: Session): void {
  const turn = session.turn;
  if (turn === undefined || turn.request !== undefined) return;
  closeText(out, session);
  expireAsks(state, out, session);
  closeSubagents(state, out, session, true);
  closeCalls(state, out, session, "interrupted");
  closeTodo(out, session);
  push(state, out, session, turn, { status: "done", ...given({ usage: turn.usage }), ...costIn(session) });
}

/** The stream has ended in it. */
export function cutTurn(state: State, out: Out, session: Session): void {
  if (session.turn !== undefined && session.turn.request === undefined) endOwnTurn(state, out, session);
  closeText(out, session, "interrupted");
  expireAsks(state, out, session);
  closeSubagents(state, out, session, true);
  closeCalls(state, out, session, "interrupted");
  closeTodo(out, session);
  const turn = session.turn;
  if (turn !== undefined) {
    const usage = given({ usage: turn.usage });
    push(state, out, session, turn, { status: "error", reason: "interrupted", ...usage, ...costIn(session) });
  }
  session.queue.length = 0;
}

function push(
  state: State,
  out: Out,
  session: Session,
  turn: Turn,
  end: Omit<TurnEnd, "type" | "turn">,
): void {
  session.turn = undefined;
  session.hasFailed = false;
  const models = end.models ?? (turn.model === undefined ? undefined : [turn.model]);
  const native = { ...end.native, ...given({ context: session.context }) };
  out.push({
    type: "turn-end",
    turn: turn.name,
    ...end,
    ...given({ durationMs: elapsed(turn.startedAt, state.now), models }),
    ...(Object.keys(native).length === 0 ? {} : { native }),
  });
}

type Counted = Pick<TurnEnd, "usage" | "costUsd" | "models" | "native">;

/** What an agent counts in its answer differs: the turn, the session so far, the last call. Ours is the turn alone. */
function usageIn(state: State, session: Session, turn: Turn, result: JsonObject): Counted {
  const said = objectOf(result.usage);
  const quota = objectOf(objectOf(result._meta).quota);
  const models = listOf(quota.model_usage).flatMap((each) => wordsOf(objectOf(each).model) ?? []);
  return {
    ...given({ usage: turnUsage(state, session, turn, said, quota) }),
    ...costIn(session),
    ...(models.length === 0 ? {} : { models: [...new Set(models)] }),
    ...(isObject(result.usage) ? { native: { usage: said } } : {}),
  };
}

function turnUsage(
  state: State,
  session: Session,
  turn: Turn,
  said: JsonObject,
  quota: JsonObject,
): Usage | undefined {
  const usage = Object.keys(said).length === 0 ? undefined : acpUsage(said);
  switch (state.quirks.usage) {
    case "chunks":
      return turn.usage ?? usage;
    case "quota": {
      const tokens = objectOf(quota.token_count);
      if (usage !== undefined || Object.keys(tokens).length === 0) return usage;
      return { ...NO_USAGE, input: count(tokens.input_tokens), output: count(tokens.output_tokens) };
    }
    case "session": {
      if (usage === undefined) return undefined;
      const since = usageSince(usage, session.total);
      session.total = usage;
      return since;
    }
    // With one call, the last is all of them.
    case "last-call":
      return turn.calls === 0 ? usage : undefined;
    default:
      return usage;
  }
}

/** Whether cached tokens are part of `inputTokens` shows in the total. */
function acpUsage(said: JsonObject): Usage {
  const cacheRead = count(said.cachedReadTokens);
  const cacheWrite = count(said.cachedWriteTokens);
  const output = count(said.outputTokens);
  const input = count(said.inputTokens);
  const isApart = count(said.totalTokens) >= input + output + cacheRead + cacheWrite;
  return {
    input: isApart ? input + cacheRead + cacheWrite : input,
    cacheRead,
    cacheWrite,
    output,
    reasoning: count(said.thoughtTokens),
  };
}

/** A session's money goes on over its turns. */
function costIn(session: Session): Pick<TurnEnd, "costUsd"> {
  const total = numberOf(session.details.costUsd);
  if (total === undefined) return {};
  const costUsd = costSince(total, session.costUsd);
  session.costUsd = total;
  return { costUsd };
}

/** `usage_update`: tokens in the context, the size of the window, money so far. */
export function noteUsage(state: State, out: Out, session: Session, update: JsonObject): void {
  const used = numberOf(update.used);
  const size = numberOf(update.size);
  const cost = objectOf(update.cost);
  const meta = objectOf(update._meta);
  if (used !== undefined) session.context = given({ used, size });
  const amount = cost.currency === "USD" ? numberOf(cost.amount) : undefined;
  if (amount !== undefined) session.details = { ...session.details, costUsd: amount };
  const model = textOf(meta["_claude/model"]);
  if (session.turn !== undefined && model !== undefined) session.turn.model = model;
  // Claude's adapter marks the end of a turn that a background task began so.
  if (objectOf(meta["_claude/origin"]).kind === "task-notification") endOwnTurn(state, out, session);
}

/** Tokens of one model call, which some agents add to a chunk. */
export function noteChunkUsage(state: State, session: Session, update: JsonObject): void {
  const usage = objectOf(update._meta).usage;
  if (state.quirks.usage !== "chunks" || !isObject(usage) || session.turn === undefined) return;
  session.turn.usage = addUsage(session.turn.usage ?? NO_USAGE, acpUsage(usage));
}
