/**
 * The adapter of `codex exec --json`, 0.20 to 0.169; what came before 0.44 is put into the later form first (protocol.ts).
 *
 * Codex sends whole items, never deltas: `item.started`, `item.updated`, `item.completed`, or only the last of them
 * (item-step.ts). Items that are open when the turn or the stream ends are closed as interrupted.
 */

import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import type { Adapter } from "../adapter.ts";
import { wholeBlock } from "../call.ts";
import { isObject } from "../framing/json.ts";
import { given, objectOf, textOf } from "../read.ts";
import { noiseBlock, unknownEvent } from "../unknown.ts";
import { failureMetadata, isRetry, noticeBlock, readFailure } from "./failure.ts";
import { closeOpen, stepItem } from "./item-step.ts";
import { headLine, laterEvents, messageIn, newProtocol, planEnd, turnEnd } from "./protocol.ts";
import { type CodexStart, type CodexState, noticeKey, PROVIDER } from "./state.ts";
import { turnUsage } from "./usage.ts";

export const codexAdapter: Adapter<CodexState> & { start(run: string, before?: CodexStart): CodexState } = {
  provider: PROVIDER,
  start(run: string, before: CodexStart = {}): CodexState {
    return {
      run,
      open: new Map(),
      ended: new Map(),
      items: 0,
      turns: 0,
      notices: 0,
      turn: undefined,
      thread: undefined,
      total: before.previousUsage,
      retry: undefined,
      error: undefined,
      protocol: undefined,
      answer: undefined,
    };
  },
  step(state, event) {
    const out: BlockEvent[] = [];
    const msg = messageIn(event);
    if (msg !== undefined) stepProtocol(state, out, event, msg);
    else if (!isObject(event) || !headLine(state, out, event)) step(state, out, event);
    return [state, out];
  },
  noise(state, line) {
    return [state, noiseBlock({ key: noticeKey(state), provider: PROVIDER }, line)];
  },
  end(state) {
    const out: BlockEvent[] = [];
    endRetries(state, out);
    if (state.error !== undefined) {
      out.push({ type: "block-end", key: state.error.key, status: "error", reason: "interrupted" });
      state.error = undefined;
    }
    endProtocol(state, out);
    closeOpen(state, out);
    if (state.turn !== undefined) {
      out.push({ type: "turn-end", turn: state.turn, status: "error", reason: "interrupted" });
      state.turn = undefined;
    }
    return out;
  },
};

function step(state: CodexState, out: BlockEvent[], event: Json): void {
  const type = isObject(event) ? textOf(event.type) : undefined;
  if (type !== "turn.failed") settleError(state, out);
  if (
    !(type === "error" && isObject(event) && isRetry(textOf(event.message) ?? "")) &&
    type !== "protocol.retry"
  )
    endRetries(state, out);
  if (isObject(event) && type !== undefined) stepEvent(state, out, type, event);
  else out.push(...unknownEvent({ key: noticeKey(state), provider: PROVIDER }, event));
}

function stepProtocol(state: CodexState, out: BlockEvent[], event: Json, msg: JsonObject): void {
  state.protocol ??= newProtocol();
  if (msg.type === "task_started") endProtocol(state, out);
  const later = laterEvents(state.protocol, msg);
  if (later === undefined) {
    const place = { key: noticeKey(state), provider: PROVIDER };
    out.push(...unknownEvent(place, event, `msg/${textOf(msg.type) ?? "(no type)"}`));
  }
  for (const each of later ?? []) step(state, out, each);
}

/** No event ends the turn: it is over if the answer was the last event. */
function endProtocol(state: CodexState, out: BlockEvent[]): void {
  const { protocol } = state;
  if (protocol === undefined || state.turn === undefined) return;
  // Not every search has an end event.
  const isRunning = [...state.open.values()].some(
    ({ type }) => type !== "web_search" && type !== "todo_list",
  );
  const isOver = protocol.isAnswered && !isRunning;
  if (isOver) for (const each of [...planEnd(protocol), turnEnd(protocol)]) step(state, out, each);
}

function stepEvent(state: CodexState, out: BlockEvent[], type: string, event: JsonObject): void {
  switch (type) {
    case "thread.started":
    case "session.created":
      return startThread(state, out, event);
    case "turn.started":
      return startTurn(state, out);
    case "turn.completed":
      return completeTurn(state, out, event);
    case "turn.failed":
      return failTurn(state, out, event);
    case "item.started":
    case "item.updated":
    case "item.completed":
      return stepItem(state, out, type, event);
    case "protocol.aborted":
      return endTurn(state, out);
    case "protocol.retry":
      return addRetry(state, out, textOf(event.message) ?? "");
    case "error":
      return stepError(state, out, textOf(event.message) ?? JSON.stringify(event));
    default:
      out.push(...unknownEvent({ key: noticeKey(state), provider: PROVIDER }, event));
  }
}

/** Repeated on resume, with the same id: the token total continues. Another thread counts from zero. */
function startThread(state: CodexState, out: BlockEvent[], event: JsonObject): void {
  const thread = textOf(event.thread_id) ?? textOf(event.session_id);
  // Several runs may be piped through as one stream; item ids begin again in each.
  closeOpen(state, out);
  state.ended.clear();
  endTurn(state, out);
  if (state.thread !== undefined && state.thread !== thread) state.total = undefined;
  state.thread = thread;
  out.push({ type: "session", provider: PROVIDER, ...given({ sessionId: thread }) });
}

function startTurn(state: CodexState, out: BlockEvent[]): void {
  endTurn(state, out);
  state.turn = `${state.run}/turn-${++state.turns}`;
  state.answer = undefined;
  out.push({
    type: "turn-start",
    turn: state.turn,
    provider: PROVIDER,
    ...given({ sessionId: state.thread }),
  });
}

/** A turn that another one follows without having ended. */
function endTurn(state: CodexState, out: BlockEvent[]): void {
  if (state.turn === undefined) return;
  closeOpen(state, out);
  out.push({ type: "turn-end", turn: state.turn, status: "error", reason: "interrupted" });
  state.turn = undefined;
}

function completeTurn(state: CodexState, out: BlockEvent[], event: JsonObject): void {
  if (state.turn === undefined) startTurn(state, out);
  closeOpen(state, out);
  const { usage, total } = turnUsage(event.usage, state.total);
  state.total = total;
  out.push({
    type: "turn-end",
    turn: state.turn as string,
    status: "done",
    ...given({ usage }),
    ...(isObject(event.usage) ? { native: { usage: event.usage } } : {}),
  });
  state.turn = undefined;
}

/** The message was sent before as an `error` line: it is shown once. */
function failTurn(state: CodexState, out: BlockEvent[], event: JsonObject): void {
  if (state.turn === undefined) startTurn(state, out);
  const message = textOf(objectOf(event.error).message) ?? textOf(event.error) ?? JSON.stringify(event);
  const failure = readFailure(message);
  if (state.error?.message === message) {
    out.push({ type: "block-end", key: state.error.key, status: "error", reason: "failed" });
    state.error = undefined;
  } else {
    settleError(state, out);
    const block = { key: noticeKey(state), kind: "error", role: "system", text: failure.text } as const;
    out.push(
      ...wholeBlock({ ...block, metadata: failureMetadata(failure) }, { status: "error", reason: "failed" }),
    );
  }
  closeOpen(state, out);
  const { usage, total } = turnUsage(event.usage, state.total);
  state.total = total;
  out.push({
    type: "turn-end",
    turn: state.turn as string,
    status: "error",
    reason: "failed",
    error: failure.text,
    native: { error: event.error ?? message },
    ...given({ usage }),
  });
  state.turn = undefined;
}

/** Not fatal by itself: it stays open until the next event tells whether the turn has failed with it. */
function stepError(state: CodexState, out: BlockEvent[], message: string): void {
  if (isRetry(message)) {
    if (state.answer !== undefined) state.answer.retried = true;
    addRetry(state, out, message);
    return;
  }
  const failure = readFailure(message);
  const key = noticeKey(state);
  state.error = { key, message };
  out.push({
    type: "block-start",
    key,
    kind: "error",
    role: "system",
    metadata: failureMetadata(failure),
    text: failure.text,
  });
}

/** One line for reconnections that follow each other: it counts them, and has the words of the last. */
function addRetry(state: CodexState, out: BlockEvent[], message: string): void {
  if (state.retry === undefined) {
    const key = noticeKey(state);
    state.retry = { key, times: 1, message };
    // Which one it is ("1/5") would stay while the line counts on.
    const counted = message.replace(/\s*\b\d+\/\d+/, "");
    out.push(...noticeBlock(key, counted, "retry").slice(0, 1));
    return;
  }
  state.retry.times++;
  state.retry.message = message;
  out.push({ type: "block-meta", key: state.retry.key, metadata: { times: state.retry.times } });
}

function endRetries(state: CodexState, out: BlockEvent[]): void {
  const { retry } = state;
  if (retry === undefined) return;
  state.retry = undefined;
  out.push({ type: "block-end", key: retry.key, status: "done", text: readFailure(retry.message).text });
}

/** The turn continued: the error did not end it. */
function settleError(state: CodexState, out: BlockEvent[]): void {
  if (state.error === undefined) return;
  out.push({ type: "block-end", key: state.error.key, status: "done", metadata: { notice: "warning" } });
  state.error = undefined;
}
