/**
 * What `codex exec --json` printed before 0.44: the events of its inner protocol, `{id, msg: {type, …}}`, behind a line about the
 * session and one with the prompt. They are read as the events that came after them; a rollout tells the same ones.
 *
 * A tool's end does not repeat how it began, and no event ends a turn: where the answer was the last thing that was said, the
 * turn is whole.
 */

import { type BlockEvent, type Json, type JsonObject, jsonText } from "@blockyard/kernel";
import { wholeBlock } from "../call.ts";
import { isObject } from "../framing/json.ts";
import { bounds } from "../limits.ts";
import { given, listOf, numberOf, objectOf, textOf, wordsOf } from "../read.ts";
import { type CodexState, noticeKey, PROVIDER, type Protocol } from "./state.ts";

/** The message of an event of the protocol; undefined for other events. */
export function messageIn(event: Json): JsonObject | undefined {
  if (!isObject(event) || event.type !== undefined || !isObject(event.msg)) return undefined;
  return typeof event.msg.type === "string" ? event.msg : undefined;
}

export function newProtocol(): Protocol {
  return { begun: new Map(), usage: {}, isAnswered: false, plan: undefined, texts: 0 };
}

/** The first lines: the session facts, and the prompt. False for any other line. */
export function headLine(state: CodexState, out: BlockEvent[], event: JsonObject): boolean {
  if (event.type !== undefined) return false;
  const prompt = textOf(event.prompt);
  if (prompt !== undefined) {
    out.push(
      ...wholeBlock({ key: noticeKey(state), kind: "text", role: "user", metadata: {}, text: prompt }),
    );
    return true;
  }
  const cwd = wordsOf(event.workdir);
  if (cwd === undefined) return false;
  const { workdir: _, model, ...details } = event;
  out.push({ type: "session", provider: PROVIDER, cwd, ...given({ model: wordsOf(model) }), details });
  return true;
}

/** The equivalent events in the later form; undefined for an unknown type. */
export function laterEvents(protocol: Protocol, msg: JsonObject): readonly JsonObject[] | undefined {
  const type = textOf(msg.type) ?? "";
  const read = Object.hasOwn(EVENTS, type) ? EVENTS[type] : undefined;
  if (read === undefined) return isNothing(type) ? [] : undefined;
  if (type !== "token_count") protocol.isAnswered = type === "agent_message";
  return read(protocol, msg);
}

type Read = (protocol: Protocol, msg: JsonObject) => readonly JsonObject[];

const EVENTS: Readonly<Record<string, Read>> = {
  session_configured: (_, msg) => [{ type: "thread.started", thread_id: msg.session_id ?? null }],
  task_started: () => [{ type: "turn.started" }],
  task_complete: (protocol) => [...planEnd(protocol), turnEnd(protocol)],
  turn_aborted: (protocol) => [...planEnd(protocol), { type: "protocol.aborted" }],
  agent_message: (protocol, { message }) => [said(protocol, "agent_message", message)],
  agent_reasoning: (protocol, { text }) => [said(protocol, "reasoning", text)],
  agent_reasoning_raw_content: (protocol, { text }) => [said(protocol, "reasoning", text)],
  exec_command_begin: (protocol, msg) => begin(protocol, msg, { ...msg, type: "command_execution" }),
  exec_command_end: (protocol, msg) => end(protocol, msg, msg),
  patch_apply_begin: (protocol, msg) => begin(protocol, msg, { ...msg, type: "file_change" }),
  patch_apply_end: (protocol, msg) => end(protocol, msg, msg),
  mcp_tool_call_begin: (protocol, msg) =>
    begin(protocol, msg, { ...objectOf(msg.invocation), type: "mcp_tool_call" }),
  mcp_tool_call_end: (protocol, msg) => end(protocol, msg, mcpResult(msg)),
  web_search_begin: (protocol, msg) => begin(protocol, msg, { ...msg, type: "web_search" }),
  web_search_end: (protocol, msg) => end(protocol, msg, msg),
  view_image_tool_call: (_, { call_id, path }) => [
    {
      type: "item.completed",
      item: {
        id: call_id ?? "",
        type: "tool_call",
        tool: "view_image",
        status: "completed",
        path: path ?? "",
      },
    },
  ],
  plan_update: updatePlan,
  token_count: countTokens,
  error: (protocol, { message }) => [
    ...planEnd(protocol),
    { type: "turn.failed", error: { message: message ?? null }, usage: protocol.usage },
  ],
  stream_error: (_, { message }) => [{ type: "protocol.retry", message: message ?? "" }],
  background_event: (protocol, { message }) => [warning(protocol, message)],
  warning: (protocol, { message }) => [warning(protocol, message)],
  deprecation_notice: (protocol, { summary }) => [warning(protocol, summary)],
};

/** Deltas of what also comes whole, and bookkeeping. */
function isNothing(type: string): boolean {
  return /_(delta|section_break|response)$|^(turn_diff|user_message|shutdown_complete|raw_response_item)$/.test(
    type,
  );
}

function said(protocol: Protocol, type: string, text: Json | undefined): JsonObject {
  return { type: "item.completed", item: { id: `said-${protocol.texts++}`, type, text: text ?? "" } };
}

function warning(protocol: Protocol, message: Json | undefined): JsonObject {
  const item = { id: `said-${protocol.texts++}`, type: "error", message: message ?? "" };
  return { type: "item.completed", item };
}

function begin(protocol: Protocol, msg: JsonObject, item: JsonObject): readonly JsonObject[] {
  const id = wordsOf(msg.call_id) ?? "";
  const begun = { ...item, id, status: "in_progress" };
  protocol.begun.set(id, begun);
  if (protocol.begun.size > bounds.openCalls) protocol.begun.delete([...protocol.begun.keys()][0] as string);
  return [{ type: "item.started", item: begun }];
}

/** What a tool's end states, over what its beginning stated. */
function end(protocol: Protocol, msg: JsonObject, outcome: JsonObject): readonly JsonObject[] {
  const id = wordsOf(msg.call_id) ?? "";
  const { status: _, ...begun } = objectOf(protocol.begun.get(id));
  protocol.begun.delete(id);
  const type = begun.type ?? textOf(msg.type)?.replace(/_end$/, "") ?? "";
  return [
    { type: "item.completed", item: { ...begun, ...outcome, id, type: TYPES[jsonText(type)] ?? type } },
  ];
}

/** Of a call whose beginning was lost. */
const TYPES: Readonly<Record<string, string>> = {
  exec_command: "command_execution",
  patch_apply: "file_change",
};

function mcpResult(msg: JsonObject): JsonObject {
  const { Ok: ok, Err: error } = objectOf(msg.result);
  const failed = error !== undefined || objectOf(ok).isError === true;
  return {
    ...objectOf(msg.invocation),
    type: "mcp_tool_call",
    status: failed ? "failed" : "completed",
    ...(error === undefined
      ? { result: ok ?? null }
      : { error: isObject(error) ? error : { message: error } }),
    ...given({ duration: msg.duration }),
  };
}

/** One list from the first update of a turn to its end. */
function updatePlan(protocol: Protocol, msg: JsonObject): readonly JsonObject[] {
  const isFirst = protocol.plan === undefined;
  const id = isFirst ? `said-${protocol.texts++}` : (protocol.plan?.id ?? "");
  protocol.plan = { id, type: "todo_list", items: listOf(msg.plan) };
  return [{ type: isFirst ? "item.started" : "item.updated", item: protocol.plan }];
}

export function planEnd(protocol: Protocol): readonly JsonObject[] {
  const { plan } = protocol;
  protocol.plan = undefined;
  return plan === undefined ? [] : [{ type: "item.completed", item: plan }];
}

export function turnEnd(protocol: Protocol): JsonObject {
  return { type: "turn.completed", usage: protocol.usage };
}

const COUNTS = ["input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens"] as const;

/** Up to 0.29 a count is of one request, then of the thread. */
function countTokens(protocol: Protocol, msg: JsonObject): readonly JsonObject[] {
  const total = objectOf(msg.info).total_token_usage;
  const counted = isObject(total) ? total : msg;
  const before = (name: string) => (isObject(total) ? 0 : (protocol.usage[name] ?? 0));
  const usage = COUNTS.map((name) => [name, before(name) + (numberOf(counted[name]) ?? 0)] as const);
  if (isObject(total) || msg.info === undefined) protocol.usage = Object.fromEntries(usage);
  return [];
}
