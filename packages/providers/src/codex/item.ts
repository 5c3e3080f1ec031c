/**
 * Codex's items, as both its stream and its rollout log write them, read into one shape.
 *
 * The stream says `command_execution` with one shell-quoted string, the log `CommandExecution` with a list of
 * arguments; a log also knows diffs, durations and folders that the stream leaves out. Behind this file the two are
 * the same. Reading is total: a field that is missing or of the wrong type reads as empty.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import type { PatchChange } from "../apply-patch.ts";
import { isObject } from "../framing/json.ts";
import type { TodoItem } from "../outcome.ts";
import { given, listOf, numberOf, objectOf, textOf, wholeOf, wordsOf } from "../read.ts";
import { type ChangeKind, unifiedDiff } from "../unified-diff.ts";
import { type OtherTool, readOther } from "./other-tool.ts";
import { joinWords, unwrapCommand, unwrapWords } from "./shell.ts";

export type ItemStatus = "running" | "done" | "failed" | "denied";

export interface Command {
  readonly type: "command";
  readonly command: string;
  readonly rawCommand: string;
  readonly output: string;
  readonly exitCode?: number | null;
  readonly status: ItemStatus;
  readonly durationMs?: number;
  readonly cwd?: string;
}

export interface Files {
  readonly type: "files";
  readonly changes: readonly PatchChange[];
  readonly status: ItemStatus;
  /** What the tool printed: shown where it failed. */
  readonly message?: string;
}

export interface McpCall {
  readonly type: "mcp";
  readonly server: string;
  readonly tool: string;
  readonly input: Json;
  readonly content: readonly Json[];
  readonly structured?: Json;
  readonly meta?: Json;
  readonly error?: string;
  readonly status: ItemStatus;
  readonly durationMs?: number;
}

export interface Search {
  readonly type: "search";
  readonly query: string;
  readonly action?: JsonObject;
}

export interface Todo {
  readonly type: "todo";
  readonly items: readonly TodoItem[];
}

export interface Collab {
  readonly type: "collab";
  readonly tool: string;
  readonly prompt?: string;
  readonly receivers: readonly string[];
  readonly states: readonly AgentState[];
  readonly status: ItemStatus;
}

export interface AgentState {
  readonly thread: string;
  readonly status: string;
  readonly message?: string;
}

export type ToolItem = Command | Files | McpCall | Search | Todo | Collab | OtherTool;

export type Item =
  | ToolItem
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "warning"; readonly text: string };

/** An item of the stream; undefined for a type that nobody has told us about. */
export function readItem(item: JsonObject): Item | undefined {
  switch (item.type ?? item.item_type) {
    case "agent_message":
    case "assistant_message":
      return { type: "text", text: textOf(item.text) ?? "" };
    case "reasoning":
      return { type: "thinking", text: textOf(item.text) ?? "" };
    case "error":
      return { type: "warning", text: textOf(item.message) ?? "" };
    case "command_execution":
      return readCommand(item);
    case "file_change":
      return readFiles(item);
    case "mcp_tool_call":
      return readMcp(item);
    case "web_search":
      return readSearch(item);
    case "todo_list":
      return readTodo(item);
    case "collab_tool_call":
      return readCollab(item);
    default:
      return readOther(item, readStatus(item));
  }
}

/** A tool's item of the rollout log; undefined for what is none. */
export function readLogItem(item: JsonObject): ToolItem | undefined {
  switch (item.type) {
    case "CommandExecution":
      return readCommand(item);
    case "FileChange":
      return readFiles(item);
    case "McpToolCall":
      return readMcp(item);
    case "WebSearch":
      return readSearch(item);
    case "CollabAgentToolCall":
      return readCollab(item);
    case "DynamicToolCall":
      return readMcp({
        ...item,
        server: item.namespace ?? "",
        result: listOf(item.content_items).map(asPart),
      });
    default:
      return undefined;
  }
}

function readStatus(item: JsonObject): ItemStatus {
  const status = textOf(item.status);
  if (status === "in_progress") return "running";
  if (status === "declined") return "denied";
  if (status === "failed" || item.success === false) return "failed";
  if (status === "completed") return "done";
  // Without a status, or with one that nobody knows, the exit code decides, then the word.
  const exit = wholeOf(item.exit_code);
  if (exit !== undefined) return exit === 0 ? "done" : "failed";
  return status !== undefined && UNDONE.test(status) ? "failed" : "done";
}

const UNDONE = /error|fail|cancel|abort|interrupt|incomplete|timed?_?out/;

export function readCommand(item: JsonObject): Command {
  const words = listOf(item.command).filter((word) => typeof word === "string");
  const rawCommand = textOf(item.command) ?? joinWords(words);
  const exit = wholeOf(item.exit_code);
  return {
    type: "command",
    command: words.length > 0 ? unwrapWords(words) : unwrapCommand(rawCommand),
    rawCommand,
    output:
      textOf(item.aggregated_output) ?? [item.stdout, item.stderr].map((text) => textOf(text) ?? "").join(""),
    ...(exit !== undefined ? { exitCode: exit } : item.exit_code === null ? { exitCode: null } : {}),
    status: readStatus(item),
    ...given({ durationMs: durationOf(item.duration), cwd: folderOf(item.cwd) }),
  };
}

function readFiles(item: JsonObject): Files {
  const changes = isObject(item.changes)
    ? Object.entries(item.changes).map(([path, change]) =>
        loggedChange(path, typeof change === "string" ? { type: change } : objectOf(change)),
      )
    : listOf(item.changes).map((change) => streamedChange(objectOf(change)));
  const message = [item.stdout, item.stderr].map((text) => textOf(text) ?? "").join("");
  return { type: "files", changes, status: readStatus(item), ...given({ message: wordsOf(message) }) };
}

/** The stream names paths only. */
function streamedChange(change: JsonObject): PatchChange {
  return {
    path: textOf(change.path) ?? "",
    kind: changeKind(change.kind),
    ...given({
      diff: wordsOf(change.diff) ?? wordsOf(change.unified_diff),
      movedTo: wordsOf(change.move_path) ?? wordsOf(objectOf(change.kind).move_path),
    }),
  };
}

/** The log has the content of added and deleted files, and the hunks of changed ones. */
export function loggedChange(path: string, written: JsonObject): PatchChange {
  const change = tagged(written);
  const kind = changeKind(change.type);
  const movedTo = wordsOf(change.move_path);
  const hunks = textOf(change.unified_diff);
  const content = textOf(change.content);
  const diff =
    hunks !== undefined
      ? `--- ${path}\n+++ ${movedTo ?? path}\n${hunks}`
      : wholeFileDiff(path, kind, content);
  return { path, kind, ...given({ diff, movedTo }) };
}

/** Up to 0.47 the kind of a change is the name that it stands under. */
function tagged(change: JsonObject): JsonObject {
  const [kind] = Object.keys(change);
  const inner = kind === undefined ? undefined : change[kind];
  return change.type === undefined && isObject(inner) ? { type: kind as string, ...inner } : change;
}

function wholeFileDiff(path: string, kind: ChangeKind, content: string | undefined): string | undefined {
  if (content === undefined) return undefined;
  const pair = kind === "delete" ? { before: content, after: "" } : { before: "", after: content };
  return wordsOf(unifiedDiff(path, pair, kind));
}

function changeKind(kind: Json | undefined): ChangeKind {
  const name = textOf(kind) ?? textOf(objectOf(kind).type);
  return name === "add" || name === "delete" ? name : "modify";
}

export function readMcp(item: JsonObject): McpCall {
  const result = objectOf(item.result);
  const structured = result.structured_content ?? result.structuredContent;
  const isError = result.isError === true || result.is_error === true;
  const error = textOf(objectOf(item.error).message) ?? textOf(item.error);
  const status = readStatus(item);
  return {
    type: "mcp",
    server: textOf(item.server) ?? "",
    tool: textOf(item.tool) ?? "",
    input: item.arguments ?? {},
    content: contentOf(item.result),
    ...given({
      structured: structured ?? undefined,
      meta: result._meta ?? undefined,
      error,
      durationMs: durationOf(item.duration),
    }),
    status: status === "done" && (isError || error !== undefined) ? "failed" : status,
  };
}

/** A part of what a tool of the client gave. */
function asPart(part: Json): Json {
  const { type, text, imageUrl } = objectOf(part);
  if (type === "inputText") return { type: "text", text: textOf(text) ?? "" };
  return type === "inputImage" ? { type: "input_image", image_url: textOf(imageUrl) ?? "" } : part;
}

/** A list of parts, as a rule; a text alone is one. */
function contentOf(result: Json | undefined): readonly Json[] {
  const content = isObject(result) ? result.content : result;
  return typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
}

export function readSearch(item: JsonObject): Search {
  const action = isObject(item.action) ? item.action : undefined;
  return { type: "search", query: wordsOf(item.query) ?? queryOf(action), ...given({ action }) };
}

function queryOf(action: JsonObject | undefined): string {
  if (action === undefined) return "";
  const query = wordsOf(action.query) ?? textOf(listOf(action.queries)[0]);
  const url = textOf(action.url) ?? "";
  const pattern = wordsOf(action.pattern);
  return query ?? (pattern === undefined ? url : `'${pattern}' in ${url}`);
}

function readTodo(item: JsonObject): Todo {
  return { type: "todo", items: listOf(item.items).map((entry) => readStep(objectOf(entry))) };
}

/** `{text, completed}` here; `{step, status}` where the model is asked for a plan. */
function readStep(entry: JsonObject): TodoItem {
  const status = textOf(entry.status);
  const isDone = entry.completed === true || status === "completed";
  return {
    content: textOf(entry.text) ?? textOf(entry.step) ?? "",
    status: isDone ? "completed" : status === "in_progress" ? "in_progress" : "pending",
  };
}

export function readCollab(item: JsonObject): Collab {
  return {
    type: "collab",
    tool: wordsOf(item.tool) ?? "collab",
    ...given({ prompt: wordsOf(item.prompt) }),
    receivers: listOf(item.receiver_thread_ids).filter((id) => typeof id === "string"),
    states: Object.entries(objectOf(item.agents_states)).map(([thread, state]) => agentState(thread, state)),
    status: readStatus(item),
  };
}

/** `{status, message}` in the stream; `"running"` or `{completed: message}` in the log. */
export function agentState(thread: string, state: Json): AgentState {
  if (typeof state === "string") return { thread, status: state };
  const object = objectOf(state);
  if (typeof object.status === "string") {
    return { thread, status: object.status, ...given({ message: wordsOf(object.message) }) };
  }
  const [status, message] = Object.entries(object)[0] ?? ["unknown", null];
  return { thread, status, ...given({ message: wordsOf(message) }) };
}

/** `{secs, nanos}`. */
function durationOf(value: Json | undefined): number | undefined {
  const duration = objectOf(value);
  const seconds = numberOf(duration.secs);
  if (seconds === undefined) return undefined;
  return Math.max(0, Math.round(seconds * 1000 + (numberOf(duration.nanos) ?? 0) / 1_000_000));
}

/** A folder, whether it was written as a path or as a `file:` address. */
function folderOf(value: Json | undefined): string | undefined {
  const text = wordsOf(value);
  if (text === undefined || !text.startsWith("file://")) return text;
  const path = text.slice("file://".length);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
