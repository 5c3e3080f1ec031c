/**
 * The adapter of `codex exec --json`, 0.47 to 0.166.
 *
 * Codex sends whole items, never deltas: `item.started`, `item.updated`, `item.completed`, or only the last of them.
 * An item is known by its id, and where ids differ between its events (web searches have two), by what it is. Each
 * tool item is a call with its result below it. Items that are open when the turn or the stream ends are closed as
 * interrupted. State: what is open, the ids of what has lately ended, the thread's token total.
 */

import type { BlockEvent, BlockKey, Json, JsonObject, Usage } from "@blockyard/kernel";
import type { Adapter } from "../adapter.ts";
import { cutCall, endCall, openResult, resultKey, startCall, wholeBlock } from "../call.ts";
import { isObject } from "../framing/json.ts";
import { checklist, todoRow } from "../outcome.ts";
import { given, objectOf, textOf, wordsOf } from "../read.ts";
import { noiseBlock, unknownEvent } from "../unknown.ts";
import { failureMetadata, isRetry, noticeBlock, readFailure } from "./failure.ts";
import { type Item, readItem, type Todo, type ToolItem } from "./item.ts";
import { commandMetadata, displayOf, outcomeOf } from "./outcome.ts";
import { turnUsage } from "./usage.ts";

const PROVIDER = "codex";
/** Ids of ended items that are remembered, so that one that is sent again adds nothing. */
const REMEMBERED = 256;

export interface CodexStart {
  /** The thread's tokens before this run: what a resumed thread reports includes them. */
  readonly previousUsage?: Usage;
}

/** An item that has started and not ended. */
interface OpenItem {
  readonly key: BlockKey;
  readonly type: string;
  readonly toolUseId: string;
  readonly toolName: string;
  /** What it is about: tells two open items of one type apart where ids do not. */
  readonly about: string;
  /** How much of its text has been written; undefined where no result block is open. */
  written: string | undefined;
  todo: Todo | undefined;
}

interface State {
  readonly run: string;
  readonly open: Map<string, OpenItem>;
  /** Id → what the item looked like when it ended. */
  readonly ended: Map<string, string>;
  items: number;
  turns: number;
  notices: number;
  turn: string | undefined;
  thread: string | undefined;
  total: Usage | undefined;
  /** The notice of reconnections that is open. */
  retry: { readonly key: BlockKey; times: number; message: string } | undefined;
  /** An error line that may turn out to be the turn's end. */
  error: { readonly key: BlockKey; readonly message: string } | undefined;
  /** The last answer, and whether a retry was announced behind it. */
  answer: { readonly text: string; retried: boolean } | undefined;
}

export const codexAdapter: Adapter<State> & { start(run: string, before?: CodexStart): State } = {
  provider: PROVIDER,
  start(run: string, before: CodexStart = {}): State {
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
      answer: undefined,
    };
  },
  step(state, event) {
    const out: BlockEvent[] = [];
    const type = isObject(event) ? textOf(event.type) : undefined;
    if (type !== "turn.failed") settleError(state, out);
    if (!(type === "error" && isObject(event) && isRetry(textOf(event.message) ?? "")))
      endRetries(state, out);
    if (isObject(event) && type !== undefined) stepEvent(state, out, type, event);
    else out.push(...unknownEvent({ key: noticeKey(state), provider: PROVIDER }, event));
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
    closeOpen(state, out);
    if (state.turn !== undefined) {
      out.push({ type: "turn-end", turn: state.turn, status: "error", reason: "interrupted" });
      state.turn = undefined;
    }
    return out;
  },
};

function stepEvent(state: State, out: BlockEvent[], type: string, event: JsonObject): void {
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
    case "error":
      return stepError(state, out, textOf(event.message) ?? JSON.stringify(event));
    default:
      out.push(...unknownEvent({ key: noticeKey(state), provider: PROVIDER }, event));
  }
}

/** Said again on resume, with the same id: the token total goes on. Another thread counts from zero. */
function startThread(state: State, out: BlockEvent[], event: JsonObject): void {
  const thread = textOf(event.thread_id) ?? textOf(event.session_id);
  // Several runs may be piped through as one stream; item ids begin again in each.
  closeOpen(state, out);
  state.ended.clear();
  endTurn(state, out);
  if (state.thread !== undefined && state.thread !== thread) state.total = undefined;
  state.thread = thread;
  out.push({ type: "session", provider: PROVIDER, ...given({ sessionId: thread }) });
}

function startTurn(state: State, out: BlockEvent[]): void {
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
function endTurn(state: State, out: BlockEvent[]): void {
  if (state.turn === undefined) return;
  closeOpen(state, out);
  out.push({ type: "turn-end", turn: state.turn, status: "error", reason: "interrupted" });
  state.turn = undefined;
}

function completeTurn(state: State, out: BlockEvent[], event: JsonObject): void {
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
function failTurn(state: State, out: BlockEvent[], event: JsonObject): void {
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
function stepError(state: State, out: BlockEvent[], message: string): void {
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
function addRetry(state: State, out: BlockEvent[], message: string): void {
  if (state.retry === undefined) {
    const key = noticeKey(state);
    state.retry = { key, times: 1, message };
    out.push(...noticeBlock(key, message, "retry").slice(0, 1));
    return;
  }
  state.retry.times++;
  state.retry.message = message;
  out.push({ type: "block-meta", key: state.retry.key, metadata: { times: state.retry.times } });
}

function endRetries(state: State, out: BlockEvent[]): void {
  const { retry } = state;
  if (retry === undefined) return;
  state.retry = undefined;
  const text = retry.times === 1 ? undefined : readFailure(retry.message).text;
  out.push({ type: "block-end", key: retry.key, status: "done", ...given({ text }) });
}

/** The turn went on: the error was none that ends it. */
function settleError(state: State, out: BlockEvent[]): void {
  if (state.error === undefined) return;
  out.push({ type: "block-end", key: state.error.key, status: "done", metadata: { notice: "warning" } });
  state.error = undefined;
}

function stepItem(state: State, out: BlockEvent[], event: string, whole: JsonObject): void {
  const raw = whole.item;
  if (!isObject(raw)) {
    out.push(...unknownEvent({ key: noticeKey(state), provider: PROVIDER }, whole, event));
    return;
  }
  const type = textOf(raw.type) ?? textOf(raw.item_type) ?? "(no type)";
  const named = wordsOf(raw.id) ?? `${type}@${state.items}`;
  const item = readItem(raw);
  const isEnd = event === "item.completed";
  if (state.ended.get(named) === lookOf(type, item, raw)) return;
  if (state.ended.has(named) && !isEnd) return;
  const known = findOpen(state, named, type, event === "item.started" ? undefined : item);
  // An id that an open item of another type has is none.
  const id = known === undefined && state.open.has(named) ? `${named}@${state.items}` : named;
  if (item === undefined) stepUnknown(state, out, { id, type, raw, known, isEnd });
  else if (item.type === "text" || item.type === "thinking")
    stepText(state, out, { id, type, item, known, isEnd });
  else if (item.type === "warning") stepWarning(state, out, { id, type, item, isEnd });
  else stepTool(state, out, { id, type, item, known, isEnd });
  if (isEnd) remember(state, known?.id ?? id, lookOf(type, item, raw));
}

interface Known {
  readonly id: string;
  readonly open: OpenItem;
}

/**
 * By id; where an item goes on under a new id, by what it is: an open item of that type about the same thing, the oldest
 * first. One that starts is never taken for another: a retry may do the same again.
 */
function findOpen(state: State, id: string, type: string, item: Item | undefined): Known | undefined {
  const byId = state.open.get(id);
  if (byId !== undefined && byId.type === type) return { id, open: byId };
  if (item === undefined) return undefined;
  const about = aboutOf(item);
  for (const [other, open] of state.open) {
    if (open.type === type && (open.about === about || (type === "web_search" && open.about === ""))) {
      return { id: other, open };
    }
  }
  return undefined;
}

interface TextStep {
  readonly id: string;
  readonly type: string;
  readonly item: { readonly type: "text" | "thinking"; readonly text: string };
  readonly known: Known | undefined;
  readonly isEnd: boolean;
}

function stepText(state: State, out: BlockEvent[], { id, type, item, known, isEnd }: TextStep): void {
  const open =
    known?.open ??
    openItem(state, id, type, { key: itemKey(state), toolUseId: id, toolName: type, about: "" });
  if (known === undefined) {
    const repeats = item.type === "text" && state.answer?.retried === true && state.answer.text === item.text;
    out.push({
      type: "block-start",
      key: open.key,
      kind: item.type,
      role: "model",
      metadata: repeats ? { notice: "repeat" } : {},
      text: item.text,
    });
  } else if (item.text !== open.written && item.text.startsWith(open.written ?? "")) {
    out.push({ type: "block-append", key: open.key, text: item.text.slice(open.written?.length ?? 0) });
  }
  const isOther = known !== undefined && !item.text.startsWith(open.written ?? "");
  if (!isOther) open.written = item.text;
  if (!isEnd) return;
  out.push({ type: "block-end", key: open.key, status: "done", ...(isOther ? { text: item.text } : {}) });
  state.open.delete(known?.id ?? id);
  if (item.type === "text") state.answer = { text: item.text, retried: false };
}

interface WarningStep {
  readonly id: string;
  readonly type: string;
  readonly item: { readonly type: "warning"; readonly text: string };
  readonly isEnd: boolean;
}

/** An `error` item is a warning, whatever it is called; it comes whole. */
function stepWarning(state: State, out: BlockEvent[], { item, isEnd }: WarningStep): void {
  if (isEnd) out.push(...noticeBlock(itemKey(state), item.text, isRetry(item.text) ? "retry" : "warning"));
}

interface ToolStep {
  readonly id: string;
  readonly type: string;
  readonly item: ToolItem;
  readonly known: Known | undefined;
  readonly isEnd: boolean;
}

function stepTool(state: State, out: BlockEvent[], { id, type, item, known, isEnd }: ToolStep): void {
  const open = known?.open ?? startTool(state, out, id, type, item);
  if (!isEnd) {
    showProgress(out, open, item);
    return;
  }
  out.push(...endCall(open, outcomeOf(item), open.written !== undefined));
  state.open.delete(known?.id ?? id);
}

function startTool(state: State, out: BlockEvent[], id: string, type: string, item: ToolItem): OpenItem {
  const display = displayOf(item);
  const key = itemKey(state);
  const toolUseId = `${state.run}:${id}`;
  out.push(...startCall({ key, toolUseId, ...display }));
  return openItem(state, id, type, { key, toolUseId, toolName: display.toolName, about: aboutOf(item) });
}

/** What a running item shows already: a command's output so far, a plan's present state. */
function showProgress(out: BlockEvent[], open: OpenItem, item: ToolItem): void {
  if (item.type === "command" && item.output !== "") {
    if (open.written === undefined) out.push(openResult(open, "command", commandMetadata(item), item.output));
    else if (item.output.startsWith(open.written) && item.output !== open.written) {
      out.push({
        type: "block-append",
        key: resultKey(open.key),
        text: item.output.slice(open.written.length),
      });
    } else return;
    open.written = item.output;
  }
  if (item.type !== "todo") return;
  const items = item.items.map((entry) => ({ ...entry }));
  if (open.written === undefined) out.push(openResult(open, "todo", { items }, checklist(item.items)));
  else out.push({ type: "block-meta", key: resultKey(open.key), metadata: { items } });
  out.push({ type: "block-meta", key: open.key, metadata: { shortResult: todoRow(item.items) } });
  open.written ??= "";
  open.todo = item;
}

interface UnknownStep {
  readonly id: string;
  readonly type: string;
  readonly raw: JsonObject;
  readonly known: Known | undefined;
  readonly isEnd: boolean;
}

/** Shown when it ends; what only ever starts is shown when the stream does. */
function stepUnknown(state: State, out: BlockEvent[], { id, type, raw, known, isEnd }: UnknownStep): void {
  if (known === undefined) {
    const key = itemKey(state);
    const [start, end] = unknownEvent({ key, provider: PROVIDER }, raw as Json, `item/${type}`);
    if (start !== undefined) out.push(start);
    if (isEnd && end !== undefined) out.push(end);
    if (!isEnd) openItem(state, id, type, { key, toolUseId: id, toolName: "", about: "" });
    return;
  }
  const [start] = unknownEvent({ key: known.open.key, provider: PROVIDER }, raw as Json, `item/${type}`);
  const text = start?.type === "block-start" ? start.text : undefined;
  known.open.written = text;
  if (!isEnd) return;
  out.push({ type: "block-end", key: known.open.key, status: "done", ...given({ text }) });
  state.open.delete(known.id);
}

/** Ends what never completed: the turn is over, or the stream is. */
function closeOpen(state: State, out: BlockEvent[]): void {
  for (const open of state.open.values()) {
    if (open.toolName === "" || open.type === "agent_message" || open.type === "reasoning") {
      // What nobody knows has no deltas: its last state is its text.
      const text = open.toolName === "" ? open.written : undefined;
      out.push({
        type: "block-end",
        key: open.key,
        status: "error",
        reason: "interrupted",
        ...given({ text }),
      });
      continue;
    }
    if (open.written !== undefined) out.push(cutResult(open));
    out.push(cutCall(open.key));
  }
  state.open.clear();
}

function cutResult(open: OpenItem): BlockEvent {
  const end = {
    type: "block-end",
    key: resultKey(open.key),
    status: "error",
    reason: "interrupted",
  } as const;
  if (open.todo !== undefined) return { ...end, text: checklist(open.todo.items) };
  return { ...end, metadata: { interrupted: true } };
}

function openItem(
  state: State,
  id: string,
  type: string,
  open: Pick<OpenItem, "key" | "toolUseId" | "toolName" | "about">,
): OpenItem {
  const item: OpenItem = { ...open, type, written: undefined, todo: undefined };
  state.open.set(id, item);
  return item;
}

function remember(state: State, id: string, look: string): void {
  state.ended.set(id, look);
  if (state.ended.size <= REMEMBERED) return;
  for (const oldest of state.ended.keys()) {
    state.ended.delete(oldest);
    return;
  }
}

/** What an item looks like from afar: one that is sent again looks the same. */
function lookOf(type: string, item: Item | undefined, raw: JsonObject): string {
  if (item === undefined) return `${type} ${JSON.stringify(raw).length}`;
  if ("text" in item) return `${type} ${item.text.length}`;
  if (item.type === "command") return `${type} ${item.status} ${item.output.length}`;
  if (item.type === "todo") return `${type} ${checklist(item.items)}`;
  return `${type} ${"status" in item ? item.status : ""} ${aboutOf(item)}`;
}

function aboutOf(item: Item): string {
  switch (item.type) {
    case "command":
      return item.rawCommand;
    case "files":
      return item.changes.map((change) => change.path).join("\n");
    case "mcp":
      return `${item.server} ${item.tool} ${JSON.stringify(item.input)}`;
    case "search":
      return item.query;
    case "collab":
      return `${item.tool} ${item.prompt ?? ""}`;
    default:
      return "";
  }
}

function itemKey(state: State): BlockKey {
  return `${state.run}/item-${state.items++}`;
}

function noticeKey(state: State): BlockKey {
  return `${state.run}/notice-${state.notices++}`;
}
