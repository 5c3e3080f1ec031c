/**
 * A rollout log, read once before its blocks are made: its records, and what must be known ahead.
 *
 * A rollout says most things twice. `response_item` records hold what goes to and comes from the model; `event_msg`
 * records what the user was shown. Which of the two is complete changed with the versions (events until 0.47 lack
 * results, from 0.166 on they are typed items; a turn that was cut has events only). So neither is chosen by version:
 * a response item counts, an event that says the same confirms it, and an event that nothing else says counts itself.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { isObject, parseLine } from "../framing/json.ts";
import { listOf, objectOf, textOf, timeOf, wordsOf } from "../read.ts";
import { readCommand, readLogItem, type ToolItem } from "./item.ts";

export interface LogRecord {
  /** Its number in the thread: stable, because a rollout only grows. */
  readonly ordinal: number;
  readonly at: number | undefined;
  readonly type: string;
  readonly payload: JsonObject;
  readonly raw: JsonObject;
}

export interface LogIndex {
  readonly records: readonly LogRecord[];
  /** Lines that are no records; a torn last line is none of them. */
  readonly noise: readonly { readonly ordinal: number; readonly line: string }[];
  readonly thread: string | undefined;
  /** The thread that started this one, and how this one is called. */
  readonly parentThread: string | undefined;
  readonly label: string | undefined;
  /** By call id: what really happened. */
  readonly items: ReadonlyMap<string, ToolItem>;
  /** By call id: the thread of the agent that it started, where an event tells. */
  readonly started: ReadonlyMap<string, string>;
  /** Ids of the calls that the model made. */
  readonly calls: ReadonlySet<string>;
  /** How often each text stands in response items, by who said it. */
  readonly said: ReadonlyMap<string, number>;
  /** How often each text was shown as a prompt of the user. */
  readonly prompts: ReadonlyMap<string, number>;
  /** Response items that an event announced: their ordinal → the event's, under which an earlier import has named them. */
  readonly announced: ReadonlyMap<number, number>;
  /** The log marks where turns begin and end. */
  readonly hasTasks: boolean;
  /** By the ordinal of the record that begins a turn, or of a prompt: the model that is named next. */
  readonly models: ReadonlyMap<number, string>;
  /** Its searches have no ids, so that events cannot be told from response items by them. */
  readonly hasNamelessSearches: boolean;
  /** Response items that are the summary of a compaction, by ordinal. */
  readonly summaries: ReadonlySet<number>;
}

export function indexLog(lines: Iterable<string>): LogIndex {
  const { records: whole, noise } = readRecords(lines);
  const records = withoutPlans(whole);
  const items = new Map<string, ToolItem>();
  const started = new Map<string, string>();
  const calls = new Set<string>();
  const said = new Map<string, number>();
  const prompts = new Map<string, number>();
  let hasTasks = false;
  for (const { type, payload } of records) {
    if (type === "response_item") indexItem(payload, calls, said);
    if (type !== "event_msg") continue;
    if (payload.type === "task_started" || payload.type === "turn_started") hasTasks = true;
    const prompt = promptOf(payload);
    if (prompt !== undefined) add(prompts, prompt);
    const done = eventItem(payload);
    if (done !== undefined) items.set(done.id, done.item);
    const agent = startedBy(payload);
    if (agent !== undefined) started.set(...agent);
  }
  const meta = objectOf(records.find((record) => record.type === "session_meta")?.payload);
  return {
    records,
    noise,
    ...threadOf(meta),
    items,
    started,
    calls,
    said,
    prompts,
    announced: findAnnounced(records),
    models: findModels(records),
    hasNamelessSearches: records.some(
      ({ payload }) => payload.type === "web_search_call" && payload.id === undefined,
    ),
    hasTasks,
    summaries: findSummaries(records),
  };
}

function readRecords(lines: Iterable<string>): Pick<LogIndex, "records" | "noise"> {
  const records: LogRecord[] = [];
  const noise: { ordinal: number; line: string }[] = [];
  let number = 0;
  let last: { ordinal: number; line: string } | undefined;
  for (const line of lines) {
    if (line.trim() === "") continue;
    const ordinal = number++;
    if (last !== undefined) noise.push(last);
    last = undefined;
    const parsed = parseLine(line);
    const raw = "json" in parsed && isObject(parsed.json) ? parsed.json : undefined;
    if (raw === undefined) last = { ordinal, line };
    else records.push(recordOf(raw, ordinal));
  }
  // A log that is being written may end inside a line: that line is read when it is whole.
  if (last !== undefined && !last.line.trimStart().startsWith("{")) noise.push(last);
  return { records, noise };
}

/** A plan is told as an item of its own: the answer that it stands in is shown without it. */
function withoutPlans(records: readonly LogRecord[]): readonly LogRecord[] {
  const items = records.map(({ type, payload }) => (type === "event_msg" ? objectOf(payload.item) : {}));
  const plans = new Set(items.filter((item) => item.type === "Plan").map((item) => textOf(item.text)));
  if (plans.size === 0) return records;
  return records.map((record) => {
    const { type, payload } = record;
    if (type !== "response_item" || payload.role !== "assistant" || !Array.isArray(payload.content))
      return record;
    const content = listOf(payload.content).map((part) => {
      const text = textOf(objectOf(part).text);
      if (text === undefined) return part;
      return { ...objectOf(part), text: text.replace(PLAN, (all, plan) => (plans.has(plan) ? "" : all)) };
    });
    return { ...record, payload: { ...payload, content } };
  });
}

const PLAN = /^<proposed_plan>[ \t]*\n([\s\S]*?)^<\/proposed_plan>[ \t]*(?:\n|$)/gm;

function recordOf(raw: JsonObject, line: number): LogRecord {
  const ordinal = typeof raw.ordinal === "number" && Number.isSafeInteger(raw.ordinal) ? raw.ordinal : line;
  const { type, payload } = isObject(raw.payload)
    ? { type: textOf(raw.type) ?? "", payload: raw.payload }
    : bareRecord(raw);
  return { ordinal, at: timeOf(raw.timestamp), type, payload, raw };
}

/** Before 0.30 a rollout was a line about the session and bare response items, with marks between them. */
function bareRecord(raw: JsonObject): Pick<LogRecord, "type" | "payload"> {
  if (raw.record_type !== undefined) return { type: "world_state", payload: {} };
  const type = textOf(raw.type);
  if (type === undefined) return { type: "instructions" in raw ? "session_meta" : "", payload: raw };
  return { type: RECORDS.has(type) ? type : "response_item", payload: raw };
}

const RECORDS = new Set([
  "session_meta",
  "turn_context",
  "response_item",
  "event_msg",
  "compacted",
  "world_state",
]);

function threadOf(meta: JsonObject): Pick<LogIndex, "thread" | "parentThread" | "label"> {
  const subagent = objectOf(meta.source).subagent;
  const spawn = objectOf(objectOf(subagent).thread_spawn);
  return {
    thread: wordsOf(meta.id),
    parentThread: wordsOf(meta.parent_thread_id) ?? wordsOf(spawn.parent_thread_id),
    label:
      wordsOf(meta.agent_nickname) ??
      wordsOf(spawn.agent_nickname) ??
      wordsOf(subagent) ??
      wordsOf(meta.agent_role),
  };
}

/** The thread that an event says a call has started, with the call's id. */
function startedBy(event: JsonObject): readonly [string, string] | undefined {
  const told = event.type === "item_completed" ? objectOf(event.item) : event;
  if (told.type !== "SubAgentActivity" && told.type !== "sub_agent_activity") return undefined;
  const call = wordsOf(told.id) ?? wordsOf(told.event_id);
  const thread = wordsOf(told.agent_thread_id);
  return told.kind === "started" && call !== undefined && thread !== undefined ? [call, thread] : undefined;
}

function indexItem(payload: JsonObject, calls: Set<string>, said: Map<string, number>): void {
  const callId = wordsOf(payload.call_id);
  if (callId !== undefined && isCall(payload)) calls.add(callId);
  if (payload.type === "web_search_call" || payload.type === "image_generation_call") {
    const id = wordsOf(payload.id);
    if (id !== undefined) calls.add(id);
  }
  if (payload.type === "message") add(said, `${textOf(payload.role)}\n${messageText(payload)}`);
  if (payload.type === "reasoning")
    for (const part of shownReasoning(payload)) add(said, `reasoning\n${part}`);
}

/** The parts that are shown: the summary, or the raw reasoning where there is none. */
function shownReasoning(payload: JsonObject): readonly string[] {
  const summary = reasoningParts(payload);
  if (summary.some((part) => part !== "")) return summary;
  return listOf(payload.content)
    .map((part) => textOf(objectOf(part).text))
    .filter((text) => text !== undefined);
}

/** The type of the first part of a message that is neither text nor image. */
export function strangePart(payload: JsonObject): string | undefined {
  for (const native of listOf(payload.content)) {
    const part = objectOf(native);
    const isKnown = typeof part.text === "string" || typeof part.refusal === "string";
    if (!isKnown && part.type !== "input_image") return textOf(part.type) ?? "(no type)";
  }
  return undefined;
}

export function isCall(payload: JsonObject): boolean {
  return ["function_call", "custom_tool_call", "local_shell_call", "tool_search_call"].includes(
    textOf(payload.type) ?? "",
  );
}

/** The text of a message; the tags that stand around an image are no text. */
export function messageText(payload: JsonObject): string {
  if (typeof payload.content === "string") return payload.content;
  const texts: string[] = [];
  for (const part of listOf(payload.content)) {
    const text = textOf(objectOf(part).text) ?? textOf(objectOf(part).refusal);
    if (text !== undefined && !/^<image\b[^>]*>$|^<\/image>$/.test(text.trim())) texts.push(text);
  }
  return texts.join("\n");
}

export function reasoningParts(payload: JsonObject): readonly string[] {
  return listOf(payload.summary)
    .map((part) => textOf(objectOf(part).text))
    .filter((text) => text !== undefined);
}

/** What the user typed, as an event tells it. */
export function promptOf(event: JsonObject): string | undefined {
  if (event.type === "user_message") return textOf(event.message);
  const item = objectOf(event.item);
  if (event.type !== "item_completed" || item.type !== "UserMessage") return undefined;
  return messageText(item);
}

/** The outcome of a tool call, as an event tells it. */
export function eventItem(event: JsonObject): { id: string; item: ToolItem } | undefined {
  if (event.type === "item_completed") {
    const item = objectOf(event.item);
    const read = readLogItem(item);
    const id = wordsOf(item.id);
    return read === undefined || id === undefined ? undefined : { id, item: read };
  }
  const id = wordsOf(event.call_id);
  const item = id === undefined ? undefined : endEvent(event);
  return id === undefined || item === undefined ? undefined : { id, item };
}

/** The events of versions before typed items. */
function endEvent(event: JsonObject): ToolItem | undefined {
  switch (event.type) {
    case "exec_command_end":
      return readCommand(event);
    case "patch_apply_end":
      return readLogItem({ ...event, type: "FileChange" });
    case "web_search_end":
      return readLogItem({ ...event, type: "WebSearch" });
    case "mcp_tool_call_end": {
      const invocation = objectOf(event.invocation);
      const result = objectOf(event.result);
      const isError = result.Err !== undefined;
      return readLogItem({
        ...invocation,
        type: "McpToolCall",
        ...(isError ? { error: result.Err as Json } : { result: result.Ok ?? null }),
        duration: event.duration ?? null,
        status: isError || objectOf(result.Ok).isError === true ? "failed" : "completed",
      });
    }
    default:
      return undefined;
  }
}

/** The record that names a turn's model follows the one that begins it. */
function findModels(records: readonly LogRecord[]): ReadonlyMap<number, string> {
  const models = new Map<number, string>();
  let next: string | undefined;
  for (let i = records.length - 1; i >= 0; i--) {
    const { type, payload, ordinal } = records[i] as LogRecord;
    if (type === "turn_context") next = textOf(payload.model) ?? next;
    if (next !== undefined && (type === "event_msg" || type === "response_item")) models.set(ordinal, next);
    if (payload.type === "task_started") next = undefined;
  }
  return models;
}

/** Pairs each answer and each reasoning with the first event before it that says the same. */
function findAnnounced(records: readonly LogRecord[]): ReadonlyMap<number, number> {
  const waiting = new Map<string, number[]>();
  const announced = new Map<number, number>();
  for (const { type, payload, ordinal } of records) {
    const shown = type === "event_msg" ? announcement(payload) : undefined;
    if (shown !== undefined) waiting.set(shown, waiting.get(shown) ?? []);
    if (shown !== undefined) waiting.get(shown)?.push(ordinal);
    const text = type === "response_item" ? announcedText(payload) : undefined;
    const first = text === undefined ? undefined : waiting.get(text)?.shift();
    if (first !== undefined) announced.set(ordinal, first);
  }
  return announced;
}

function announcement(event: JsonObject): string | undefined {
  if (event.type === "agent_message") return `assistant\n${textOf(event.message)}`;
  return event.type === "agent_reasoning" ? `reasoning\n${textOf(event.text)}` : undefined;
}

function announcedText(payload: JsonObject): string | undefined {
  if (payload.type === "message" && payload.role === "assistant") return `assistant\n${messageText(payload)}`;
  return payload.type === "reasoning" ? `reasoning\n${reasoningParts(payload)[0]}` : undefined;
}

/** The model's last message before a `compacted` record is the summary, if newer logs mark it so or it is repeated. */
function findSummaries(records: readonly LogRecord[]): ReadonlySet<number> {
  const summaries = new Set<number>();
  let last: LogRecord | undefined;
  for (const record of records) {
    const { type, payload } = record;
    if (type === "response_item" && payload.type === "message" && payload.role === "assistant") {
      last = record;
      if (objectOf(record.raw.metadata).compaction_output === true) summaries.add(record.ordinal);
    } else if (type === "compacted" && last !== undefined) {
      const text = messageText(last.payload);
      const isSummary = text !== "" && (textOf(payload.message) ?? "").endsWith(text);
      if (isSummary) summaries.add(last.ordinal);
      last = undefined;
    } else if (type === "response_item") last = undefined;
  }
  return summaries;
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
