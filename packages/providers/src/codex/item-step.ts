/**
 * The items of `codex exec --json` as block events: texts, thoughts, warnings, tools with their results, and unknown
 * ones. item.ts reads an item, adapter.ts handles turns and errors.
 *
 * An item is identified by its id or, if ids differ between its events, by its content. Each starts once and ends once;
 * a repeated one adds nothing.
 */

import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import { cutCall, endCall, openResult, resultKey, startCall } from "../call.ts";
import { isObject } from "../framing/json.ts";
import { REMEMBERED_ITEMS } from "../limits.ts";
import { checklist, todoRow } from "../outcome.ts";
import { given, textOf, wordsOf } from "../read.ts";
import { unknownEvent } from "../unknown.ts";
import { isRetry, noticeBlock } from "./failure.ts";
import { type Item, readItem, type ToolItem } from "./item.ts";
import { commandMetadata, displayOf, outcomeOf } from "./outcome.ts";
import { type CodexState, itemKey, noticeKey, type OpenItem, PROVIDER } from "./state.ts";

/** An event of an item. */
export function stepItem(state: CodexState, out: BlockEvent[], event: string, whole: JsonObject): void {
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
  const found = findOpen(state, named, type, event === "item.started" ? undefined : item);
  // What could not be read when it began is a block of its own, of a kind that nothing else goes on in.
  const known = item !== undefined && found?.open.toolName === "" ? undefined : found;
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
function findOpen(state: CodexState, id: string, type: string, item: Item | undefined): Known | undefined {
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

function stepText(state: CodexState, out: BlockEvent[], { id, type, item, known, isEnd }: TextStep): void {
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
function stepWarning(state: CodexState, out: BlockEvent[], { item, isEnd }: WarningStep): void {
  if (isEnd) out.push(...noticeBlock(itemKey(state), item.text, isRetry(item.text) ? "retry" : "warning"));
}

interface ToolStep {
  readonly id: string;
  readonly type: string;
  readonly item: ToolItem;
  readonly known: Known | undefined;
  readonly isEnd: boolean;
}

function stepTool(state: CodexState, out: BlockEvent[], { id, type, item, known, isEnd }: ToolStep): void {
  const open = known?.open ?? startTool(state, out, id, type, item);
  if (!isEnd) {
    showProgress(out, open, item);
    return;
  }
  out.push(...endCall(open, outcomeOf(item), open.written !== undefined));
  state.open.delete(known?.id ?? id);
}

function startTool(state: CodexState, out: BlockEvent[], id: string, type: string, item: ToolItem): OpenItem {
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
function stepUnknown(
  state: CodexState,
  out: BlockEvent[],
  { id, type, raw, known, isEnd }: UnknownStep,
): void {
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
export function closeOpen(state: CodexState, out: BlockEvent[]): void {
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
  state: CodexState,
  id: string,
  type: string,
  open: Pick<OpenItem, "key" | "toolUseId" | "toolName" | "about">,
): OpenItem {
  const item: OpenItem = { ...open, type, written: undefined, todo: undefined };
  state.open.set(id, item);
  return item;
}

function remember(state: CodexState, id: string, look: string): void {
  state.ended.set(id, look);
  if (state.ended.size <= REMEMBERED_ITEMS) return;
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
    case "other":
      return item.name;
    default:
      return "";
  }
}
