/**
 * Items of a thread: what is said, thought and done. An item starts, may grow by deltas, and completes; each of the three may
 * be missing. Text comes by deltas and is confirmed by the whole; a command's deltas begin late, so its whole counts.
 *
 * Invariant: an item is one block, or one call with its result below it, started once and ended once.
 */

import type { JsonObject, Reason } from "@blockyard/kernel";
import { cutCall, endCall, type Outcome, openResult, resultKey, startCall, wholeBlock } from "../call.ts";
import type { ToolItem } from "../codex/item.ts";
import { readOther } from "../codex/other-tool.ts";
import { commandMetadata, displayOf, outcomeOf } from "../codex/outcome.ts";
import { bounds } from "../limits.ts";
import { given, listOf, numberOf, textOf, wordsOf } from "../read.ts";
import { rowOf } from "../row.ts";
import { unknownEvent } from "../unknown.ts";
import { takeExpired } from "./answers.ts";
import { changesOf, readCommand, readTool, saidIn, statusOf, thoughtsIn } from "./item.ts";
import { noticeOf, otherCall } from "./other-items.ts";
import {
  excuseAnswer,
  itemKey,
  noticeKey,
  type OpenItem,
  type Out,
  PROVIDER,
  placeIn,
  remember,
  type State,
  type Thread,
} from "./state.ts";

/** The turn's starter wrote prompts with such an id, so they are in the conversation already. */
export const KNOWN_PROMPT = "blockyard:";
/** The mark in the middle of an output that was too long to be kept whole. */
const OMITTED = /\.\.\. \d+ bytes omitted \.\.\./;
const INTERRUPTED: Reason = "interrupted";

export function itemStarted(state: State, out: Out, thread: Thread, item: JsonObject): void {
  const id = textOf(item.id) ?? "";
  const known = thread.open.get(id);
  if (known !== undefined) {
    known.item = item;
    return;
  }
  open(state, out, thread, item, id);
}

export function itemCompleted(state: State, out: Out, thread: Thread, item: JsonObject): void {
  const id = textOf(item.id) ?? "";
  const known = thread.open.get(id) ?? open(state, out, thread, item, id);
  thread.open.delete(id);
  if (known === undefined) return;
  known.item = item;
  if (known.shape === "text") endText(out, thread, known);
  else if (known.shape === "call") endTool(state, out, known);
  else if (known.shape === "unknown") endUnknown(out, known);
}

/** Undefined if the item is complete at once. */
function open(state: State, out: Out, thread: Thread, item: JsonObject, id: string): OpenItem | undefined {
  const type = textOf(item.type) ?? "(no type)";
  switch (type) {
    case "userMessage":
      said(state, out, thread, item);
      // Its second half repeats it.
      return addOpen(state, out, thread, id, { ...blank(state, item, type), shape: "notice" });
    case "agentMessage":
    case "plan":
    case "reasoning": {
      const opened = addOpen(state, out, thread, id, { ...blank(state, item, type), shape: "text" });
      const text = textOf(item.text) ?? "";
      if (text !== "") append(out, thread, opened, text);
      return opened;
    }
    default:
      return openOther(state, out, thread, item, id, type);
  }
}

function openOther(
  state: State,
  out: Out,
  thread: Thread,
  item: JsonObject,
  id: string,
  type: string,
): OpenItem {
  const notice = noticeOf(item);
  if (notice !== undefined) {
    out.push(...wholeBlock({ ...placeIn(thread), key: noticeKey(state), ...notice }));
    return addOpen(state, out, thread, id, { ...blank(state, item, type), shape: "notice" });
  }
  const tool = toolOf(item);
  const display = tool === undefined ? otherCall(item) : displayOf(tool);
  if (display === undefined) return openUnknown(state, out, thread, item, id, type);
  const toolUseId = `${state.run}:${id}`;
  const key = itemKey(state);
  if (thread.turn !== undefined) thread.turn.calls++;
  out.push(...startCall({ ...placeIn(thread), key, toolUseId, ...display }));
  const opened = {
    ...blank(state, item, type, key),
    shape: "call",
    toolUseId,
    toolName: display.toolName,
  } as const;
  linkAgents(state, item, key);
  return addOpen(state, out, thread, id, opened);
}

/** A tool with a shape of its own here does not count as unknown. */
function toolOf(item: JsonObject): ToolItem | undefined {
  const tool = readTool(item);
  return tool ?? (otherCall(item) === undefined ? readOther(item, statusOf(item)) : undefined);
}

/** The thread that the call has started: its events go below it. */
function linkAgents(state: State, item: JsonObject, key: string): void {
  if (item.type === "subAgentActivity" && item.kind === "started")
    link(state, textOf(item.agentThreadId), key);
  if (item.type !== "collabAgentToolCall" || item.tool !== "spawnAgent") return;
  const receivers = listOf(item.receiverThreadIds);
  for (const id of receivers) link(state, textOf(id), key);
  const waiting = state.spawns.findIndex((spawn) => spawn.key === key);
  if (receivers.length > 0 && waiting !== -1) state.spawns.splice(waiting, 1);
  else if (receivers.length === 0 && waiting === -1 && state.spawns.length < bounds.threads)
    state.spawns.push({ prompt: textOf(item.prompt) ?? "", key });
}

function link(state: State, id: string | undefined, key: string): void {
  if (id === undefined) return;
  const thread = state.threads.get(id);
  if (thread?.isChild) thread.parent ??= key;
  else if (thread === undefined) state.links.set(id, key);
  remember(state.links, bounds.threads);
}

/** A message that the turn's starter has written already. */
export function sentPrompt(state: State, { clientUserMessageId, input }: JsonObject): void {
  if (textOf(clientUserMessageId)?.startsWith(KNOWN_PROMPT) !== true) return;
  state.sent.push(saidIn({ content: input ?? [] }).text);
  if (state.sent.length > bounds.openCalls) state.sent.shift();
}

function wasSent(state: State, text: string): boolean {
  const at = state.sent.indexOf(text);
  if (at !== -1) state.sent.splice(at, 1);
  return at !== -1;
}

/** A message of a person, or of the agent that started this one, at the place where it was read. */
function said(state: State, out: Out, thread: Thread, item: JsonObject): void {
  for (const [id, known] of thread.open) {
    // An incoming message cuts the one being written, which is not continued.
    if (known.type !== "agentMessage" && known.type !== "plan") continue;
    thread.open.delete(id);
    cut(state, out, known);
  }
  const { text, images } = saidIn(item);
  if (thread.turn !== undefined) excuseAnswer(thread.turn);
  if (thread.isChild && thread.parent === undefined) adopt(state, thread, text);
  const clientId = wordsOf(item.clientId);
  // Up to 0.135 an item does not say which message it is.
  const isKnown = item.clientId === undefined ? wasSent(state, text) : clientId?.startsWith(KNOWN_PROMPT);
  if (isKnown) return;
  const key = itemKey(state);
  const place = placeIn(thread);
  const metadata = given({ messageId: clientId });
  images.forEach((image, i) => {
    const spec = { kind: "image", role: "user", metadata: image, text: "" } as const;
    out.push(...wholeBlock({ ...place, key: `${key}/image-${i}`, ...spec }));
  });
  if (text !== "") out.push(...wholeBlock({ ...place, key, kind: "text", role: "user", metadata, text }));
}

/** A sub-agent speaks before its start was confirmed: it is known by its prompt, or it is the oldest that waits. */
export function adopt(state: State, thread: Thread, prompt: string): void {
  const linked = state.links.get(thread.id);
  if (linked !== undefined) {
    thread.parent = linked;
    return;
  }
  const at = Math.max(
    0,
    state.spawns.findIndex((spawn) => spawn.prompt === prompt),
  );
  const [spawn] = state.spawns.splice(at, 1);
  thread.parent = spawn?.key;
}

export function textDelta(out: Out, thread: Thread, params: JsonObject): void {
  const known = thread.open.get(textOf(params.itemId) ?? "");
  const delta = textOf(params.delta) ?? "";
  if (known?.shape === "text" && delta !== "") append(out, thread, known, delta);
}

/** The first kind of thought that comes is written; the whole decides in the end. */
export function thoughtDelta(out: Out, thread: Thread, params: JsonObject, isRaw: boolean): void {
  const known = thread.open.get(textOf(params.itemId) ?? "");
  const delta = textOf(params.delta) ?? "";
  if (known?.type !== "reasoning" || delta === "") return;
  if (known.part !== undefined && known.part.isRaw !== isRaw) return;
  const index = numberOf(isRaw ? params.contentIndex : params.summaryIndex) ?? 0;
  const isNew = known.part !== undefined && known.part.index !== index;
  known.part = { index, isRaw };
  append(out, thread, known, isNew ? `\n${delta}` : delta);
}

export function outputDelta(out: Out, thread: Thread, params: JsonObject): void {
  const known = thread.open.get(textOf(params.itemId) ?? "");
  const delta = textOf(params.delta) ?? "";
  if (known?.type !== "commandExecution" || delta === "") return;
  if (known.written === undefined) {
    const { output: _, ...command } = readCommand(known.item);
    const metadata = commandMetadata({ ...command, output: "", status: "running" });
    out.push(openResult(known, "command", metadata, delta));
    known.written = delta;
    return;
  }
  known.written += delta;
  out.push({ type: "block-append", key: resultKey(known.key), text: delta });
}

/** A running call's own status. */
export function progress(out: Out, thread: Thread, params: JsonObject): void {
  const known = thread.open.get(textOf(params.itemId) ?? "");
  const message = wordsOf(params.message);
  if (known?.shape === "call" && message !== undefined)
    out.push({ type: "block-meta", key: known.key, metadata: given({ progress: rowOf(message) }) });
}

/** The patch while it is being written; its item comes later. */
export function patchDelta(state: State, out: Out, thread: Thread, params: JsonObject): void {
  const id = textOf(params.itemId) ?? "";
  const item = { type: "fileChange", id, changes: params.changes ?? [], status: "inProgress" };
  const known = thread.open.get(id);
  if (known === undefined) return itemStarted(state, out, thread, item);
  const input = { changes: changesOf(params.changes).map(({ path, kind }) => ({ path, kind })) };
  out.push({ type: "block-meta", key: known.key, metadata: { input } });
}

/** The model's input to a running command. */
export function typedInto(state: State, out: Out, thread: Thread, params: JsonObject): void {
  const stdin = textOf(params.stdin) ?? "";
  const key = itemKey(state);
  const call = { key, toolUseId: `${state.run}:${key}`, toolName: "write_stdin" };
  const input = given({ chars: stdin, session_id: textOf(params.processId) });
  if (thread.turn !== undefined) thread.turn.calls++;
  out.push(...startCall({ ...placeIn(thread), ...call, input, compactParams: rowOf(stdin) }));
  out.push(...endCall(call, { failed: false }));
}

function append(out: Out, thread: Thread, known: OpenItem, text: string): void {
  if (known.started) out.push({ type: "block-append", key: known.key, text });
  else out.push(startText(thread, known, text));
  known.started = true;
  known.written = (known.written ?? "") + text;
}

function startText(thread: Thread, known: OpenItem, text: string): Out[number] {
  const isThought = known.type === "reasoning";
  const phase = wordsOf(known.item.phase);
  const metadata = given({
    label: known.type === "plan" ? "Plan" : undefined,
    extra: phase === undefined ? undefined : { phase },
  });
  return {
    ...{ type: "block-start", ...placeIn(thread), key: known.key, role: "model", metadata, text },
    kind: isThought ? "thinking" : "text",
  };
}

function endText(out: Out, thread: Thread, known: OpenItem): void {
  const { item } = known;
  const { summary, raw } = thoughtsIn(item);
  const isThought = known.type === "reasoning";
  const whole = isThought ? summary || raw : (textOf(item.text) ?? "");
  if (whole === "" && !known.started) {
    // Thinking that is not shown is shown to have been.
    if (!isThought) return;
    const block = { key: known.key, kind: "thinking", role: "model", metadata: { redacted: true } } as const;
    out.push(...wholeBlock({ ...placeIn(thread), ...block, text: "" }));
    return;
  }
  if (!known.started) append(out, thread, known, whole);
  const repeats =
    known.type === "agentMessage" && thread.answer?.retried === true && whole === thread.answer.text;
  const metadata = given({
    notice: repeats ? "repeat" : undefined,
    extra: isThought && summary !== "" && raw !== "" ? { raw } : undefined,
  });
  out.push({
    ...{ type: "block-end", key: known.key, status: "done" },
    ...(whole === known.written || whole === "" ? {} : { text: whole }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  });
  if (known.type === "agentMessage") thread.answer = { text: whole, retried: false };
}

function endTool(state: State, out: Out, known: OpenItem): void {
  const { item } = known;
  linkAgents(state, item, known.key);
  const tool = toolOf(item);
  const outcome = tool === undefined ? otherCall(item)?.outcome : outcomeOf(tool);
  const hasMore =
    tool?.type === "command" &&
    OMITTED.test(tool.output) &&
    (known.written?.length ?? 0) > tool.output.length;
  const ended: Outcome = outcome ?? { failed: false };
  const result =
    known.written === undefined || ended.result?.kind === "command" ? ended.result : writtenResult(known);
  const kept = hasMore && result !== undefined ? { ...result, text: known.written ?? "" } : result;
  const expired = takeExpired(state, known.key);
  const whole = { ...ended, ...given({ result: kept }) };
  for (const event of endCall(known, whole, known.written !== undefined)) {
    const isCall = event.type === "block-end" && event.key === known.key;
    out.push(isCall ? { ...event, metadata: { ...event.metadata, ...expired } } : event);
  }
}

/** Written output stays, even if the item's end is not a command's. */
function writtenResult({ written, item }: OpenItem): NonNullable<Outcome["result"]> {
  return { kind: "command", text: written ?? "", metadata: commandMetadata(readCommand(item)) };
}

function openUnknown(
  state: State,
  out: Out,
  thread: Thread,
  item: JsonObject,
  id: string,
  type: string,
): OpenItem {
  const key = itemKey(state);
  const [start] = unknownEvent({ key, provider: PROVIDER, ...placeIn(thread) }, item, `item/${type}`);
  if (start !== undefined) out.push(start);
  return addOpen(state, out, thread, id, {
    ...blank(state, item, type, key),
    shape: "unknown",
    started: true,
  });
}

function endUnknown(out: Out, known: OpenItem): void {
  const place = { key: known.key, provider: PROVIDER };
  const [start] = unknownEvent(place, known.item, `item/${known.type}`);
  const text = start?.type === "block-start" ? start.text : undefined;
  out.push({ type: "block-end", key: known.key, status: "done", ...given({ text }) });
}

/** What remains of an item that never completes: its text so far, its call without a result. */
export function cut(state: State, out: Out, known: OpenItem, reason: Reason = INTERRUPTED): void {
  if (known.shape === "notice") return;
  if (known.shape !== "call") {
    if (known.started) out.push({ type: "block-end", key: known.key, status: "error", reason });
    return;
  }
  if (known.written !== undefined) {
    const end = { key: resultKey(known.key), status: "error", reason } as const;
    out.push({ type: "block-end", ...end, metadata: { interrupted: true } });
  }
  const end = cutCall(known.key, reason);
  const metadata = end.type === "block-end" ? end.metadata : {};
  out.push({ ...end, metadata: { ...metadata, ...takeExpired(state, known.key) } } as typeof end);
}

function blank(state: State, item: JsonObject, type: string, key?: string): Omit<OpenItem, "shape"> {
  return {
    key: key ?? itemKey(state),
    type,
    toolUseId: "",
    toolName: "",
    started: false,
    written: undefined,
    part: undefined,
    item,
  };
}

/** Beyond any realistic number of open items, the oldest is cut. */
function addOpen(state: State, out: Out, thread: Thread, id: string, item: OpenItem): OpenItem {
  if (thread.open.size >= bounds.openCalls) {
    for (const [oldest, known] of thread.open) {
      thread.open.delete(oldest);
      cut(state, out, known);
      break;
    }
  }
  thread.open.set(id, item);
  return item;
}
