/**
 * Turns of a thread, their tokens and their errors.
 *
 * The first event of a turn begins it, and `turn/completed` ends it; a review has two names for one turn. The counters
 * are the thread's since its beginning, also across resumes: a turn's share is the increase during the turn, and a
 * count for a finished turn only gives the counter's starting value. A sub-agent has no turns of its own: its tokens
 * are those of the call that started it.
 */

import { type Json, type JsonObject, NO_USAGE, type Usage } from "@blockyard/kernel";
import { cutCall, endCall, openResult, resultKey, startCall, wholeBlock } from "../call.ts";
import { failureMetadata, isRetry, noticeBlock, readFailure } from "../codex/failure.ts";
import type { Todo } from "../codex/item.ts";
import { displayOf, outcomeOf } from "../codex/outcome.ts";
import { isObject } from "../framing/json.ts";
import { REMEMBERED_TURNS } from "../limits.ts";
import { checklist, type TodoItem, todoRow } from "../outcome.ts";
import { given, listOf, numberOf, objectOf, plural, textOf, wordsOf } from "../read.ts";
import { count, usageSince } from "../usage.ts";
import { expireAsks } from "./answers.ts";
import { adopt, cut } from "./items.ts";
import {
  countAnswer,
  itemKey,
  noticeKey,
  type OpenTurn,
  type Out,
  PROVIDER,
  placeIn,
  remember,
  type State,
  type Thread,
  threadOf,
} from "./state.ts";

export function turnStarted(state: State, out: Out, params: JsonObject): void {
  const thread = threadOf(state, textOf(params.threadId) ?? "");
  const { id, rootTurnId } = objectOf(params.turn);
  const [name, root] = [textOf(id) ?? "", textOf(rootTurnId) ?? ""];
  if (thread.turn?.ids.has(name)) return;
  // A review's turn has the name of its request, which comes first, and its own.
  const isSame = thread.turn?.ids.has(root) === true || thread.turn?.isAnnounced === false;
  if (isSame) thread.turn?.ids.add(name);
  else beginTurn(state, out, thread, name);
  if (thread.turn !== undefined) thread.turn.isAnnounced = true;
}

/** The thread of a turn's event; begins that turn if nothing has. */
export function inTurn(state: State, out: Out, params: JsonObject): Thread {
  const thread = threadOf(state, textOf(params.threadId) ?? "");
  const id = textOf(params.turnId);
  if (thread.turn === undefined && id !== undefined && !thread.ended.has(id))
    beginTurn(state, out, thread, id);
  if (thread.isChild && thread.parent === undefined && state.links.has(thread.id)) adopt(state, thread, "");
  return thread;
}

function beginTurn(state: State, out: Out, thread: Thread, id: string): void {
  if (thread.turn !== undefined) endTurn(state, out, thread, { status: "interrupted" });
  thread.answer = undefined;
  thread.turn = {
    name: thread.isChild ? "" : `${state.run}/turn-${++state.turns}`,
    ids: new Set([id]),
    isAnnounced: false,
    before: thread.total,
    responses: 0,
    silent: 0,
    isSilent: false,
    calls: 0,
    plan: undefined,
    error: undefined,
  };
  if (thread.isChild) return;
  out.push({
    ...{ type: "turn-start", turn: thread.turn.name, provider: PROVIDER, sessionId: thread.id },
    ...given({ model: thread.model }),
  });
}

export function turnCompleted(state: State, out: Out, params: JsonObject): void {
  const thread = threadOf(state, textOf(params.threadId) ?? "");
  const turn = objectOf(params.turn);
  const id = textOf(turn.id) ?? "";
  if (thread.ended.has(id)) return;
  if (thread.turn === undefined) beginTurn(state, out, thread, id);
  endTurn(state, out, thread, turn);
}

/** Closes the thread's turn with its incomplete blocks. Commands continue: the agent does not wait for them. */
export function endTurn(state: State, out: Out, thread: Thread, told: JsonObject): void {
  const { turn } = thread;
  if (turn === undefined) return;
  endRetries(thread, out);
  const status = textOf(told.status) ?? "completed";
  const hasFailed = status === "failed";
  const message = textOf(objectOf(told.error).message) ?? (hasFailed ? "The turn failed" : undefined);
  if (hasFailed) fail(state, out, thread, turn, objectOf(told.error), message ?? "");
  else settleError(thread, out);
  const isEmpty = closeItems(state, out, thread);
  endPlan(out, turn, status === "completed");
  expireAsks(state, out, thread.id);
  if (status === "completed") tellHidden(state, out, thread, turn, isEmpty);
  for (const id of turn.ids) {
    thread.ended.add(id);
    remember(thread.ended, REMEMBERED_TURNS);
  }
  thread.turn = undefined;
  if (thread.isChild) return;
  const usage = thread.total === undefined ? undefined : usageSince(thread.total, turn.before);
  const reason = hasFailed ? "failed" : status === "completed" ? undefined : "interrupted";
  const native = given({
    ...thread.native,
    rateLimits: state.limits,
    error: hasFailed ? told.error : undefined,
  });
  out.push({
    ...{ type: "turn-end", turn: turn.name, status: reason === undefined ? "done" : "error" },
    ...given({
      reason,
      usage: turn.responses > 0 || usage !== undefined ? usage : undefined,
      durationMs: numberOf(told.durationMs),
      models: thread.model === undefined ? undefined : [thread.model],
      error: hasFailed ? readFailure(message ?? "").text : undefined,
      native: Object.keys(native).length === 0 ? undefined : native,
    }),
  } as Out[number]);
}

/** The message came before as an `error`: it is shown once. */
function fail(
  state: State,
  out: Out,
  thread: Thread,
  turn: OpenTurn,
  error: JsonObject,
  message: string,
): void {
  if (turn.error?.message === message) {
    out.push({ type: "block-end", key: turn.error.key, status: "error", reason: "failed" });
    turn.error = undefined;
    return;
  }
  settleError(thread, out);
  const block = { ...placeIn(thread), key: noticeKey(state), kind: "error", role: "system" } as const;
  const failure = readFailure(message);
  const metadata = errorMetadata(error, message);
  out.push(...wholeBlock({ ...block, text: failure.text, metadata }, { status: "error", reason: "failed" }));
}

/** Whether a message was begun and stayed empty. */
function closeItems(state: State, out: Out, thread: Thread): boolean {
  let isEmpty = false;
  for (const [id, known] of thread.open) {
    if (known.type === "commandExecution") continue;
    thread.open.delete(id);
    if (known.type === "agentMessage" && !known.started) isEmpty = true;
    cut(state, out, known);
  }
  return isEmpty && thread.answer === undefined;
}

/**
 * Each answer of the model but the last one calls a tool: if none is shown with it, its calls left no item. At least
 * this many are missing; the protocol says no more.
 */
function tellHidden(state: State, out: Out, thread: Thread, turn: OpenTurn, isEmpty: boolean): void {
  const place = placeIn(thread);
  const hidden = turn.silent - 1;
  if (hidden > 0) {
    const text = hiddenText(hidden, thread.path);
    out.push(...placed(noticeBlock(noticeKey(state), text, "warning"), place));
  }
  if (isEmpty) {
    const text =
      "The model started an answer but gave no text. In Codex's protocol, a refusal looks like this.";
    out.push(...placed(noticeBlock(noticeKey(state), text, "warning"), place));
  }
}

function hiddenText(hidden: number, path: string | undefined): string {
  const [are, them, results] = hidden === 1 ? ["is", "it", "its result"] : ["are", "them", "their results"];
  const file = path ?? "the thread's file in Codex's sessions folder";
  return [
    `At least ${plural(hidden, "call")} of this turn ${are} missing here: Codex did not report ${them}. The model got ${results}.`,
    "Codex's protocol omits calls that fail before they run, are denied by a rule or the sandbox, look for tools, or check a running command.",
    `To see what was called, open ${file}`,
  ].join(" ");
}

export function planUpdated(state: State, out: Out, params: JsonObject): void {
  const thread = inTurn(state, out, params);
  const items = listOf(params.plan).map((each): TodoItem => {
    const { step, status } = objectOf(each);
    const known = status === "completed" ? "completed" : status === "inProgress" ? "in_progress" : "pending";
    return { content: textOf(step) ?? "", status: known };
  });
  const todo: Todo = { type: "todo", items };
  const { turn } = thread;
  if (turn === undefined) return;
  turn.calls++;
  if (turn.plan === undefined) {
    const key = itemKey(state);
    const toolUseId = `${state.run}:plan-${turn.name}`;
    turn.plan = { key, toolUseId, todo };
    out.push(...startCall({ ...placeIn(thread), key, toolUseId, ...displayOf(todo) }));
    out.push(
      openResult(
        { key, toolUseId, toolName: "todo_list" },
        "todo",
        { items: items.map((each) => ({ ...each })) },
        checklist(items),
      ),
    );
  } else
    out.push({
      type: "block-meta",
      key: resultKey(turn.plan.key),
      metadata: { items: items.map((each) => ({ ...each })) },
    });
  out.push({ type: "block-meta", key: turn.plan.key, metadata: { shortResult: todoRow(items) } });
  turn.plan.todo = todo;
}

function endPlan(out: Out, turn: OpenTurn, isDone: boolean): void {
  const { plan } = turn;
  if (plan === undefined) return;
  turn.plan = undefined;
  const call = { ...plan, toolName: "todo_list" };
  if (isDone) {
    out.push(...endCall(call, outcomeOf(plan.todo), true));
    return;
  }
  const text = checklist(plan.todo.items);
  out.push({ type: "block-end", key: resultKey(plan.key), status: "error", reason: "interrupted", text });
  out.push(cutCall(plan.key));
}

export function usageTold(state: State, out: Out, params: JsonObject): void {
  const thread = threadOf(state, textOf(params.threadId) ?? "");
  const { total, last, modelContextWindow } = objectOf(params.tokenUsage);
  if (!isObject(total)) return;
  const now = usageOf(total);
  const isMore =
    thread.total === undefined || now.input !== thread.total.input || now.output !== thread.total.output;
  const isOver = thread.ended.has(textOf(params.turnId) ?? "");
  const { turn } = thread;
  const isOwn = turn?.ids.has(textOf(params.turnId) ?? "") === true;
  thread.native = given({ usage: total, last: isObject(last) ? last : undefined, modelContextWindow });
  if (!isOwn && !isOver && turn !== undefined) return;
  if (thread.total === undefined) {
    thread.base = isOwn ? earlierUsage(thread, now, objectOf(last)) : now;
    if (isOwn && turn !== undefined) turn.before = thread.base;
  }
  thread.total = now;
  if (isOwn && isMore && !isCompacting(thread)) countAnswer(turn);
  if (!thread.isChild || thread.parent === undefined) return;
  out.push({
    ...{
      type: "message-usage",
      messageId: thread.id,
      parent: thread.parent,
      usage: usageSince(now, thread.base),
    },
    ...given({ model: thread.model }),
  });
}

/** The thread went back: its counter goes back too, and the next answer tells where it was before that answer. */
export function forgetCounter(thread: Thread): void {
  thread.total = undefined;
  thread.isNew = false;
  if (thread.turn !== undefined) thread.turn.before = undefined;
}

/**
 * A thread's counter before its first answer here. A resumed thread states its own, but not if its last turn was a
 * compaction. The last answer is not counted if it was cut, nor while a compaction is running.
 */
function earlierUsage({ isNew, isChild }: Thread, total: Usage, last: JsonObject): Usage {
  const answer = usageOf(last);
  const isTold = numberOf(last.inputTokens) !== undefined && (answer.input > 0 || !isChild);
  if (isNew || !isTold || answer.input > total.input || answer.output > total.output) return NO_USAGE;
  return usageSince(total, answer);
}

/** Tokens of a compaction are answers of the model that call nothing. */
function isCompacting(thread: Thread): boolean {
  return [...thread.open.values()].some(({ type }) => type === "contextCompaction");
}

function usageOf(native: JsonObject): Usage {
  return {
    input: count(native.inputTokens),
    cacheRead: count(native.cachedInputTokens),
    cacheWrite: count(native.cacheWriteInputTokens),
    output: count(native.outputTokens),
    reasoning: count(native.reasoningOutputTokens),
  };
}

/** Not the end by itself: a retried error is a notice, any other stays open until the turn's end decides. */
export function errorTold(state: State, out: Out, params: JsonObject): void {
  const thread = inTurn(state, out, params);
  const error = objectOf(params.error);
  const message = textOf(error.message) ?? JSON.stringify(params.error ?? null);
  if (params.willRetry === true || isRetry(message)) return addRetry(state, out, thread, error, message);
  endRetries(thread, out);
  settleError(thread, out);
  const { turn } = thread;
  const key = noticeKey(state);
  const failure = readFailure(message);
  const block = { key, kind: "error", role: "system", text: failure.text } as const;
  out.push({ type: "block-start", ...placeIn(thread), ...block, metadata: errorMetadata(error, message) });
  if (turn === undefined) out.push({ type: "block-end", key, status: "error", reason: "failed" });
  else turn.error = { key, message };
}

function addRetry(state: State, out: Out, thread: Thread, error: JsonObject, message: string): void {
  if (thread.answer !== undefined) thread.answer.retried = true;
  if (thread.retry !== undefined) {
    thread.retry.times++;
    thread.retry.message = message;
    out.push({ type: "block-meta", key: thread.retry.key, metadata: { times: thread.retry.times } });
    return;
  }
  const key = noticeKey(state);
  thread.retry = { key, times: 1, message };
  const [start] = placed(noticeBlock(key, message, "retry"), placeIn(thread));
  if (start?.type !== "block-start") return;
  out.push({ ...start, metadata: { ...start.metadata, ...errorMetadata(error, message) } });
}

/** Anything but another retry ends the notice. */
export function endRetries(thread: Thread, out: Out): void {
  const { retry } = thread;
  if (retry === undefined) return;
  thread.retry = undefined;
  const text = retry.times === 1 ? undefined : readFailure(retry.message).text;
  out.push({ type: "block-end", key: retry.key, status: "done", ...given({ text }) });
}

/** The turn continued: the error did not end it. */
export function settleError(thread: Thread, out: Out): void {
  const error = thread.turn?.error;
  if (error === undefined || thread.turn === undefined) return;
  out.push({ type: "block-end", key: error.key, status: "done", metadata: { notice: "warning" } });
  thread.turn.error = undefined;
}

/** The kind of an error, a word or an object with one key, as its code; what more is known as details. */
function errorMetadata(error: JsonObject, message: string): JsonObject {
  const { code, details } = readFailure(message);
  const info: Json | undefined = error.codexErrorInfo;
  const [name] = isObject(info) ? Object.keys(info) : [wordsOf(info)];
  const known = name === "other" ? undefined : name;
  const status =
    isObject(info) && name !== undefined ? numberOf(objectOf(info[name]).httpStatusCode) : undefined;
  const more = given({ httpStatusCode: status, additionalDetails: wordsOf(error.additionalDetails) });
  const all = { ...(isObject(details) ? details : {}), ...more };
  return failureMetadata({
    text: "",
    ...given({ code: known ?? code, details: Object.keys(all).length === 0 ? details : all }),
  });
}

/** Events of one whole block, below another. */
export function placed(events: readonly Out[number][], place: { readonly parent?: string }): Out {
  return events.map((event) => (event.type === "block-start" ? { ...event, ...place } : event));
}
