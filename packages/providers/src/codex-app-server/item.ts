/**
 * Items of the app-server, read into the shapes that the stream of `codex exec` and the rollout log have: the names differ
 * (`commandExecution` for `command_execution`), and here are diffs, folders and durations that the stream leaves out.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import type { PatchChange } from "../apply-patch.ts";
import {
  type Command,
  type Files,
  type ItemStatus,
  loggedChange,
  readCollab,
  readMcp,
  readSearch,
  type ToolItem,
} from "../codex/item.ts";
import { unwrapCommand } from "../codex/shell.ts";
import { given, listOf, numberOf, objectOf, textOf, wholeOf, wordsOf } from "../read.ts";

/** A tool's item; undefined for what is none. */
export function readTool(item: JsonObject): ToolItem | undefined {
  switch (item.type) {
    case "commandExecution":
      return readCommand(item);
    case "fileChange":
      return { type: "files", changes: changesOf(item.changes), status: statusOf(item) } satisfies Files;
    case "mcpToolCall":
      return { ...readMcp(item), ...given({ durationMs: durationOf(item) }) };
    case "webSearch":
      return readSearch({ ...item, action: snakeAction(item.action) });
    case "collabAgentToolCall":
      return readCollab({
        ...item,
        tool: snake(textOf(item.tool) ?? "collab"),
        receiver_thread_ids: item.receiverThreadIds ?? [],
        agents_states: snakeStates(item.agentsStates),
      });
    default:
      return undefined;
  }
}

export function readCommand(item: JsonObject): Command {
  const rawCommand = textOf(item.command) ?? "";
  const exit = wholeOf(item.exitCode);
  return {
    type: "command",
    command: unwrapCommand(rawCommand),
    rawCommand,
    output: textOf(item.aggregatedOutput) ?? "",
    ...(exit !== undefined ? { exitCode: exit } : item.exitCode === null ? { exitCode: null } : {}),
    status: statusOf(item),
    ...given({ durationMs: durationOf(item), cwd: wordsOf(item.cwd) }),
  };
}

/** In an add or a delete the "diff" is the file's bare content; in a move its new place is told behind the hunks. */
export function changesOf(changes: Json | undefined): readonly PatchChange[] {
  return listOf(changes).map((each) => {
    const change = objectOf(each);
    const kind = objectOf(change.kind);
    const type = textOf(kind.type) ?? textOf(change.kind) ?? "update";
    const path = textOf(change.path) ?? "";
    const moved = wordsOf(kind.move_path) ?? wordsOf(kind.movePath);
    const diff = textOf(change.diff);
    const isWhole = type === "add" || type === "delete";
    const hunks = moved === undefined ? diff : diff?.replace(/\n*\nMoved to: [^\n]*\n?$/, "\n");
    return loggedChange(
      path,
      given({
        type,
        move_path: moved,
        content: isWhole ? diff : undefined,
        unified_diff: isWhole || !hunks?.trim() ? undefined : ended(hunks),
      }),
    );
  });
}

export function statusOf(item: JsonObject): ItemStatus {
  switch (item.status) {
    case "inProgress":
      return "running";
    case "declined":
      return "denied";
    case "completed":
      return "done";
    case "failed":
      return "failed";
    default: {
      const exit = wholeOf(item.exitCode);
      return exit === undefined || exit === 0 ? "done" : "failed";
    }
  }
}

/** The words of a message, and its pictures. */
export function saidIn(item: JsonObject): { readonly text: string; readonly images: readonly JsonObject[] } {
  const texts: string[] = [];
  const images: JsonObject[] = [];
  for (const part of listOf(item.content)) {
    const { type, text, url, path, name } = objectOf(part);
    if (type === "text") texts.push(textOf(text) ?? "");
    else if (type === "image") images.push(pictureOf(textOf(url) ?? ""));
    else if (type === "localImage") images.push({ url: textOf(path) ?? "" });
    else if (type === "skill") texts.push(`$${textOf(name) ?? ""}`);
    else if (type === "mention") texts.push(`@${textOf(name) ?? textOf(path) ?? ""}`);
    else texts.push(JSON.stringify(part));
  }
  return { text: texts.join("\n"), images };
}

export function pictureOf(url: string): JsonObject {
  const match = /^data:([^;,]*);base64,(.*)$/s.exec(url);
  return match === null ? { url } : { data: match[2] as string, mediaType: match[1] as string };
}

/** Both halves of a reasoning: what the model summed up, and what it thought. */
export function thoughtsIn(item: JsonObject): { readonly summary: string; readonly raw: string } {
  const join = (parts: Json | undefined) =>
    listOf(parts)
      .map((part) => textOf(part) ?? textOf(objectOf(part).text) ?? "")
      .join("\n");
  return { summary: join(item.summary), raw: join(item.content) };
}

/** `spawnAgent` → `spawn_agent`: the names that the stream and the log have. */
function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function snakeAction(action: Json | undefined): Json {
  const object = objectOf(action);
  return typeof object.type === "string" ? { ...object, type: snake(object.type) } : (action ?? null);
}

function snakeStates(states: Json | undefined): JsonObject {
  return Object.fromEntries(
    Object.entries(objectOf(states)).map(([thread, state]) => {
      const { status, ...rest } = objectOf(state);
      return [thread, given({ ...rest, status: typeof status === "string" ? snake(status) : undefined })];
    }),
  );
}

function durationOf(item: JsonObject): number | undefined {
  const ms = numberOf(item.durationMs);
  return ms === undefined ? undefined : Math.max(0, Math.round(ms));
}

function ended(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
