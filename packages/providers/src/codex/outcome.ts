/**
 * What a reader sees of Codex's tool items: the call with its one-line row, and the result as a block of the most
 * exact kind. Used by the live adapter and by the log importer, so that both show the same.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import type { Outcome } from "../call.ts";
import { changesOutcome, outputRow, todoOutcome } from "../outcome.ts";
import { given, listOf, objectOf, plural, textOf, wordsOf } from "../read.ts";
import { compactParams, cutRow, rowOf } from "../row.ts";
import type { AgentState, Collab, Command, Files, McpCall, Search, ToolItem } from "./item.ts";
import { otherFace, otherOutcome } from "./other-tool.ts";

/** What is known of a call before it has a place in the stream. */
export interface CallFace {
  readonly toolName: string;
  readonly input: JsonObject;
  readonly compactParams?: string | undefined;
  readonly displayName?: string;
  readonly server?: string;
  readonly remote?: boolean;
}

/** The call of a stream item. Its name is the item's: what the model called is not in the stream. */
export function displayOf(item: ToolItem): CallFace {
  switch (item.type) {
    case "command":
      return {
        toolName: "command_execution",
        displayName: "Shell",
        input: { command: item.rawCommand },
        compactParams: rowOf(item.command),
      };
    case "files":
      return {
        toolName: "file_change",
        displayName: "Patch",
        input: { changes: item.changes.map(({ path, kind }) => ({ path, kind })) },
        compactParams: pathsRow(item.changes.map((change) => change.path)),
      };
    case "mcp":
      return {
        // A tool of the client has no server.
        ...(item.server === ""
          ? { toolName: item.tool }
          : { toolName: `mcp__${item.server}__${item.tool}`, displayName: item.tool, server: item.server }),
        input: inputObject(item.input),
        compactParams: compactParams(item.input),
      };
    case "search":
      return {
        toolName: "web_search",
        displayName: "Web search",
        remote: true,
        input: given({ query: item.query, action: item.action }),
        compactParams: rowOf(item.query),
      };
    case "todo":
      return {
        toolName: "todo_list",
        displayName: "Plan",
        input: {
          items: item.items.map(({ content, status }) => ({
            text: content,
            completed: status === "completed",
          })),
        },
        compactParams: plural(item.items.length, "step"),
      };
    case "collab":
      return {
        toolName: item.tool,
        input: given({
          prompt: item.prompt,
          receiver_thread_ids: item.receivers.length > 0 ? item.receivers : undefined,
        }),
        compactParams:
          rowOf(item.prompt ?? "") ?? rowOf(item.receivers.map((id) => id.slice(0, 8)).join(", ")),
      };
    case "other":
      return otherFace(item);
  }
}

export function outcomeOf(item: ToolItem): Outcome {
  switch (item.type) {
    case "command":
      return commandOutcome(item);
    case "files":
      return filesOutcome(item);
    case "mcp":
      return mcpOutcome(item);
    case "search":
      return searchOutcome(item);
    case "todo":
      return { ...todoOutcome(item.items), input: displayOf(item).input };
    case "collab":
      return collabOutcome(item);
    case "other":
      return otherOutcome(item);
  }
}

export function commandOutcome(item: Command): Outcome {
  const failed = item.status === "failed" || item.status === "denied";
  return {
    result: { kind: "command", text: item.output, metadata: commandMetadata(item) },
    failed,
    reason: item.status === "denied" ? "denied" : undefined,
    shortResult: commandRow(item, failed),
    error: failed ? commandRow(item, failed) : undefined,
    durationMs: item.durationMs,
  };
}

export function commandMetadata(item: Command): JsonObject {
  return given({
    command: item.command,
    rawCommand: item.rawCommand === item.command ? undefined : item.rawCommand,
    exitCode: item.exitCode,
    isError: item.status === "failed" || item.status === "denied" ? true : undefined,
    durationMs: item.durationMs,
    cwd: item.cwd,
  });
}

function commandRow(item: Command, failed: boolean): string {
  if (item.status === "denied") return "declined";
  if (typeof item.exitCode === "number" && item.exitCode !== 0) return `exit ${item.exitCode}`;
  return failed ? "failed" : outputRow(item.output);
}

function filesOutcome(item: Files): Outcome {
  const applied = changesOutcome(item.changes);
  if (item.status !== "failed" && item.status !== "denied") return applied;
  const denied = item.status === "denied";
  const { kind, text, metadata } = applied.result ?? {
    kind: "file_change",
    text: "",
    metadata: { changes: [] },
  };
  return {
    result: { kind, text, metadata: { ...metadata, isError: true, ...given({ result: item.message }) } },
    failed: true,
    reason: denied ? "denied" : undefined,
    shortResult: denied ? "declined" : "failed",
    error: rowOf(item.message ?? "") ?? "The patch was not applied",
  };
}

function mcpOutcome(item: McpCall): Outcome {
  const failed = item.status === "failed" || item.status === "denied";
  const { text, images } = contentOf(item.content);
  const shown =
    item.error ?? (text === "" && item.structured !== undefined ? JSON.stringify(item.structured) : text);
  return {
    result: {
      kind: "tool_result",
      text: shown,
      metadata: given({
        isError: failed ? true : undefined,
        images: images.length > 0 ? images : undefined,
        result: structuredOf(item),
        durationMs: item.durationMs,
      }),
    },
    failed,
    reason: item.status === "denied" ? "denied" : undefined,
    shortResult: failed ? "failed" : outputRow(shown),
    error: failed ? (rowOf(shown) ?? "failed") : undefined,
    durationMs: item.durationMs,
  };
}

function structuredOf(item: McpCall): JsonObject | undefined {
  const kept = given({ structured_content: item.structured, _meta: item.meta });
  return Object.keys(kept).length === 0 ? undefined : (kept as JsonObject);
}

/** The parts of a tool's result: texts in lines, images apart, anything else as the JSON that it is. */
export function contentOf(content: readonly Json[]): { text: string; images: JsonObject[] } {
  const texts: string[] = [];
  const images: JsonObject[] = [];
  for (const part of content) {
    const object = objectOf(part);
    const image = imageOf(object);
    const text = textOf(part) ?? textOf(object.text);
    if (image !== undefined) images.push(image);
    else texts.push(text ?? JSON.stringify(part));
  }
  return { text: texts.join("\n"), images };
}

/** MCP's image part, or the Responses API's. */
export function imageOf(part: JsonObject): JsonObject | undefined {
  if (part.type === "image" && typeof part.data === "string") {
    return given({ data: part.data, mediaType: wordsOf(part.mimeType) ?? wordsOf(part.mime_type) });
  }
  if (part.type !== "input_image" && part.type !== "output_image") return undefined;
  const match = /^data:(image\/[^;,]*);base64,(.*)$/s.exec(textOf(part.image_url) ?? "");
  return match === null ? undefined : { data: match[2] as string, mediaType: match[1] as string };
}

/** The search runs at the provider; what it found goes to the model and is not shown. */
function searchOutcome(item: Search): Outcome {
  const display = displayOf(item);
  const kind = textOf(item.action?.type);
  const queries = listOf(item.action?.queries).length;
  return {
    failed: false,
    shortResult:
      kind === "open_page"
        ? "page opened"
        : kind === "find_in_page"
          ? "searched in page"
          : plural(Math.max(1, queries), "query", "queries"),
    input: display.input,
    compactParams: display.compactParams,
  };
}

function collabOutcome(item: Collab): Outcome {
  const failed = item.status === "failed" || item.status === "denied";
  // An agent that has just been started has only a state (`pending_init`), which is no report of it.
  const isStart = item.tool === "spawn_agent";
  const text = agentsText(isStart ? item.states.filter(({ message }) => message !== undefined) : item.states);
  return {
    result: {
      kind: "tool_result",
      text,
      metadata: given({
        isError: failed ? true : undefined,
        result: { receiver_thread_ids: item.receivers, agents: item.states.map((state) => ({ ...state })) },
      }),
    },
    failed,
    shortResult: failed ? "failed" : collabRow(item, text),
    error: failed ? (rowOf(text) ?? "failed") : undefined,
    // Which agent was started is known only now.
    ...(isStart ? {} : { input: displayOf(item).input }),
  };
}

function collabRow(item: Collab, text: string): string {
  if (item.tool === "spawn_agent") return `${plural(item.receivers.length, "agent")} started`;
  return rowOf(text) ?? plural(item.receivers.length, "agent");
}

/** `completed: There are 2 exports.`, one line an agent where there are several. */
export function agentsText(states: readonly AgentState[]): string {
  return states
    .map((state) => (state.message === undefined ? state.status : `${state.status}: ${state.message}`))
    .join("\n");
}

/** File names in a row: `math.js, mul.js`. */
export function pathsRow(paths: readonly string[]): string | undefined {
  return paths.length === 0
    ? undefined
    : cutRow(paths.map((path) => path.slice(path.lastIndexOf("/") + 1)).join(", "));
}

function inputObject(input: Json): JsonObject {
  return typeof input === "object" && input !== null && !Array.isArray(input)
    ? (input as JsonObject)
    : { arguments: input };
}
