/**
 * Which provider wrote this, and is it a stream or a session log: told from the first lines.
 *
 * A guess by shape, never by file name. Lines that say nothing (noise, hooks, control messages) are passed over; the
 * first line that only one source writes decides.
 */

import { type Json, type JsonObject, jsonText } from "@blockyard/kernel";
import { DocumentReader } from "./framing/documents.ts";
import { isObject, parseJson } from "./framing/json.ts";
import { isItemList } from "./openai/response-items.ts";
import { readTraffic } from "./traffic.ts";

interface Recognised {
  readonly provider: string;
  readonly source: "stream" | "log";
}

/** Checks the beginning of a file or stream; 256 KB are plenty. Undefined if nothing fits. */
export function recognise(head: string): Recognised | undefined {
  const text = head.charCodeAt(0) === 0xfeff ? head.slice(1) : head;
  const whole = parseJson(text);
  if (whole !== undefined) {
    const found = firstOf(Array.isArray(whole) ? (whole as readonly Json[]) : [whole]);
    if (found !== undefined) return found;
  }
  const events: Json[] = [];
  const documents = new DocumentReader();
  const take = (written: string) => {
    const event = parseJson(
      written
        .replace(/^data:/, "")
        .trim()
        .replace(/,$/, ""),
    );
    if (Array.isArray(event)) for (const each of event as readonly Json[]) events.push(each);
    else if (event !== undefined) events.push(event);
  };
  for (const line of text.split(/\r\n|\n|\r/)) {
    for (const found of documents.push(line)) {
      if ("lines" in found) for (const each of found.lines) take(each);
      else take("line" in found ? found.line : found.value);
    }
  }
  for (const line of documents.end()) take(line);
  return firstOf(events) ?? byNames(text);
}

function firstOf(events: readonly Json[]): Recognised | undefined {
  if (events.some(isBareClaude)) return stream("claude");
  for (const event of events) {
    const found = isObject(event) ? byTraffic(event) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Claude Code 0.2 printed bare messages: the answers look like the API's, results and the bill do not. */
function isBareClaude(event: Json): boolean {
  if (!isObject(event) || event.type !== undefined) return false;
  if (event.role === "system") return "cost_usd" in event && "duration_ms" in event;
  const [first] = Array.isArray(event.content) ? (event.content as readonly Json[]) : [];
  return event.role === "user" && isObject(first) && first.type === "tool_result";
}

/** Traffic of both directions is recognized by its content. */
function byTraffic(event: JsonObject): Recognised | undefined {
  const traffic = readTraffic(event);
  if (traffic === undefined)
    return startShape(event) ?? bareAcpShape(event) ?? appServerShape(event, false) ?? byShape(event);
  const { message, dir } = traffic;
  if (!isObject(message)) return undefined;
  return acpShape(message) ?? appServerShape(message, dir === "in") ?? controlShape(message);
}

/** Every message of ACP says that it is JSON-RPC. */
function acpShape(message: JsonObject): Recognised | undefined {
  return message.jsonrpc === "2.0" ? stream("acp") : undefined;
}

/** Messages without their direction. MCP is JSON-RPC as well, and its versions are dates. */
function bareAcpShape(message: JsonObject): Recognised | undefined {
  const { method, params, result } = message;
  const hello = isObject(params) ? params : isObject(result) ? result : {};
  const isAcp = typeof hello.protocolVersion === "number" || jsonText(method).startsWith("session/");
  return isAcp ? acpShape(message) : undefined;
}

/** Claude Code's control protocol is its stream, with the host's lines in between. */
function controlShape(message: JsonObject): Recognised | undefined {
  const type = typeof message.type === "string" ? message.type : "";
  return claudeShape(message, type)?.source === "stream" ? stream("claude-control") : undefined;
}

/** A recording says how its program was started. */
function startShape({ dir, line }: JsonObject): Recognised | undefined {
  const started = dir === "start" && typeof line === "string" ? parseJson(line) : undefined;
  const args = isObject(started) ? started.args : undefined;
  return Array.isArray(args) && args.includes("stream-json") ? stream("claude-control") : undefined;
}

const APP_SERVER_METHODS =
  /^(thread|turn|item|account|model|review|mcpServer|remoteControl|skills|serverRequest)\//;

/** Codex speaks JSON-RPC without saying so. */
function appServerShape(message: JsonObject, isClient: boolean): Recognised | undefined {
  const { method, params, result } = message;
  if (isObject(result) && typeof result.codexHome === "string") return stream("codex-app-server");
  if (typeof method !== "string" || "jsonrpc" in message) return undefined;
  if (APP_SERVER_METHODS.test(method) || method === "configWarning") return stream("codex-app-server");
  const isHello = isClient && method === "initialize" && isObject(params) && !("protocolVersion" in params);
  return isHello ? stream("codex-app-server") : undefined;
}

function byShape(event: JsonObject): Recognised | undefined {
  const type = typeof event.type === "string" ? event.type : "";
  return (
    claudeShape(event, type) ??
    codexShape(event, type) ??
    opencodeShape(event, type) ??
    geminiShape(event, type) ??
    openaiShape(event, type) ??
    anthropicShape(event, type)
  );
}

const CLAUDE_STREAM = new Set([
  "stream_event",
  "control_request",
  "control_response",
  "tool_progress",
  "tool_use_summary",
  "rate_limit_event",
  "command_lifecycle",
  "conversation_reset",
]);
const CLAUDE_LINES = new Set(["system", "assistant", "user", "message"]);
const CLAUDE_LOG = new Set([
  "summary",
  "queue-operation",
  "file-history-snapshot",
  "last-prompt",
  "cost-state",
  "attachment",
  "tools-used",
  "mode",
  "progress",
]);

function claudeShape(event: JsonObject, type: string): Recognised | undefined {
  if ("parentUuid" in event || "isSidechain" in event) return log("claude");
  if (CLAUDE_LOG.has(type) && ("sessionId" in event || "leafUuid" in event || "messageId" in event))
    return log("claude");
  if (CLAUDE_STREAM.has(type)) return stream("claude");
  const hasSession = typeof event.session_id === "string";
  if (hasSession && CLAUDE_LINES.has(type)) return stream("claude");
  if ((type === "assistant" || type === "user") && isObject(event.message) && "content" in event.message)
    return stream("claude");
  if (type === "system" && event.subtype === "init") return stream("claude");
  if (type === "result" && ("total_cost_usd" in event || "cost_usd" in event || "num_turns" in event))
    return stream("claude");
  return undefined;
}

const CODEX_LOG = new Set([
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "world_state",
  "compacted",
]);

function codexShape(event: JsonObject, type: string): Recognised | undefined {
  if (CODEX_LOG.has(type) && "payload" in event) return log("codex");
  if (/^(thread|turn|item)\.[a-z_]+$/.test(type)) return stream("codex");
  // Before 0.44 events of the inner protocol; before 0.30 bare items behind a line about the session.
  if (type === "" && isObject(event.msg) && typeof event.msg.type === "string") return stream("codex");
  if (type === "" && typeof event.workdir === "string" && "sandbox" in event) return stream("codex");
  if (event.record_type === "state") return log("codex");
  if (type === "" && typeof event.id === "string" && "instructions" in event && "timestamp" in event)
    return log("codex");
  return undefined;
}

function opencodeShape(event: JsonObject, type: string): Recognised | undefined {
  if (typeof event.sessionID !== "string") return undefined;
  return isObject(event.part) || type === "error" ? stream("opencode") : undefined;
}

function geminiShape(event: JsonObject, type: string): Recognised | undefined {
  if (typeof event.response === "string" && isObject(event.stats) && "models" in event.stats)
    return stream("gemini");
  if (typeof event.timestamp !== "string") return undefined;
  if (type === "init" && typeof event.session_id === "string") return stream("gemini");
  if (type === "message" && typeof event.content === "string") return stream("gemini");
  if (type === "tool_use" && typeof event.tool_id === "string") return stream("gemini");
  if (type === "tool_result" && typeof event.tool_id === "string") return stream("gemini");
  return type === "result" && typeof event.status === "string" ? stream("gemini") : undefined;
}

function openaiShape(event: JsonObject, type: string): Recognised | undefined {
  if (type.startsWith("response.")) return stream("openai");
  if (event.object === "response" || Array.isArray(event.choices)) return stream("openai");
  if (type === "error" && ("code" in event || "param" in event)) return stream("openai");
  if (event.object === "error" && "message" in event) return stream("openai");
  if (isItemList(event)) return stream("openai");
  // An error body: OpenAI's has no type of its own.
  if (type !== "") return undefined;
  const isError = isObject(event.error) && "message" in event.error;
  return isError || typeof event.error === "string" ? stream("openai") : undefined;
}

function anthropicShape(event: JsonObject, type: string): Recognised | undefined {
  if (/^(message_(start|delta|stop)|content_block_(start|delta|stop))$/.test(type))
    return stream("anthropic");
  if (type === "message" && Array.isArray(event.content)) return stream("anthropic");
  return type === "error" && isObject(event.error) ? stream("anthropic") : undefined;
}

/** A head that was cut inside its first event: SSE names, and names near the beginning of a line, still tell. */
function byNames(text: string): Recognised | undefined {
  if (/^event: ?(message_start|content_block|ping)/m.test(text)) return stream("anthropic");
  if (/^event: ?response\./m.test(text)) return stream("openai");
  const start = text.trimStart().slice(0, 4096);
  if (/^\[?\{"type":"system","subtype":"/.test(start)) return stream("claude");
  if (/^\{"parentUuid":/.test(start)) return log("claude");
  if (/"type":"(session_meta|response_item)","payload":/.test(start)) return log("codex");
  return /^(data: ?)?\{"id":"[^"]*","object":"chat\.completion/.test(start) ? stream("openai") : undefined;
}

function stream(provider: string): Recognised {
  return { provider, source: "stream" };
}

function log(provider: string): Recognised {
  return { provider, source: "log" };
}
