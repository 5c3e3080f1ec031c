/**
 * A tool's result as the CLI tells it → what a reader is shown: blocks of the most exact kind, and a row.
 *
 * The structured payload (`tool_use_result`) is the better source and is missing in old versions, below sub-agents
 * and on every failure; then the text that the model was given has to do, without the wrappers that are meant for the
 * model. Used by the live adapter and by the log importer, so that both show the same.
 */

import type { Json, JsonObject, Kind, Reason } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { given, listOf, objectOf, plural, textOf, wordsOf } from "../read.ts";
import { cutRow, rowOf } from "../row.ts";
import type { TodoItem } from "./state.ts";

/** What is known of a result. */
export interface ToolReport {
  readonly toolName: string;
  readonly input: JsonObject;
  readonly content: Json | undefined;
  /** `tool_use_result`, where there is one and it is no error text. */
  readonly payload: Json | undefined;
  readonly isError: boolean;
  readonly cwd: string;
  /** Told by a version before 2.0.30, which says less. */
  readonly isOld: boolean;
  readonly todo: Map<string, TodoItem>;
  /** Whole outputs that the CLI has put aside, by the path that it names. */
  readonly asideOf: (path: string) => string | undefined;
}

export interface Shown {
  readonly kind: Kind;
  readonly text: string;
  readonly metadata: JsonObject;
}

export interface Outcome {
  /** The result; a second one where a command has changed files. */
  readonly blocks: readonly Shown[];
  readonly failed: boolean;
  readonly reason?: Reason | undefined;
  readonly short?: string | undefined;
  readonly error?: string | undefined;
  readonly images?: readonly JsonObject[] | undefined;
  /** What it started goes on. */
  readonly isBackground?: boolean;
}

export type Show = (report: ToolReport) => Outcome | undefined;

/** What the model was given, taken apart. */
interface Content {
  readonly text: string;
  readonly images: readonly JsonObject[];
  readonly references: readonly string[];
}

export function contentOf(content: Json | undefined): Content {
  if (typeof content === "string") return { text: unwrapped(content), images: [], references: [] };
  const texts: string[] = [];
  const images: JsonObject[] = [];
  const references: string[] = [];
  const isNothing = content === undefined || content === null;
  for (const part of Array.isArray(content) || isNothing ? listOf(content) : [content]) {
    const block = objectOf(part);
    const image = imageOf(block);
    if (image !== undefined) images.push(image);
    else if (block.type === "tool_reference") references.push(textOf(block.tool_name) ?? "?");
    else texts.push(partText(part, block));
  }
  const text = texts.length === 0 ? references.join("\n") : unwrapped(texts.join("\n"));
  return { text, images, references };
}

function partText(part: Json, block: JsonObject): string {
  const said = textOf(part) ?? textOf(block.text);
  if (said !== undefined) return said;
  if (block.type === "document") return documentText(block);
  if (block.type === "search_result")
    return [textOf(block.title), textOf(block.source), contentOf(block.content).text].join("\n");
  return JSON.stringify(part);
}

function documentText(block: JsonObject): string {
  const source = objectOf(block.source);
  if (source.type === "text") return textOf(source.data) ?? "";
  return `[document: ${textOf(block.title) ?? textOf(source.media_type) ?? "unnamed"}]`;
}

/** An image part of the Messages API, as blocks keep it. */
export function imageOf(block: JsonObject): JsonObject | undefined {
  if (block.type !== "image") return undefined;
  const source = objectOf(block.source);
  const data = textOf(source.data) ?? textOf(block.data);
  if (data === undefined) return undefined;
  return given({ data, mediaType: wordsOf(source.media_type) ?? wordsOf(block.mimeType) });
}

/** Without the wrappers that only the model needs. */
function unwrapped(text: string): string {
  const bare = withoutReminders(text);
  const inner = /^\s*<tool_use_error>([\s\S]*)<\/tool_use_error>\s*$/.exec(bare);
  return inner === null ? bare : (inner[1] as string);
}

const REMINDER = "<system-reminder>";
const REMINDER_END = "</system-reminder>";

/** Without the reminders that the CLI hangs on the end of a result. */
export function withoutReminders(text: string): string {
  let bare = text;
  for (;;) {
    const end = bare.trimEnd();
    if (!end.endsWith(REMINDER_END)) return bare;
    const start = end.lastIndexOf(REMINDER);
    if (start < 0) return bare;
    bare = end.slice(0, start).replace(/\n{1,2}$/, "");
  }
}

/** The plain outcome: the text, whatever the tool was. */
export function plain(report: ToolReport, content: Content = contentOf(report.content)): Outcome {
  const failed = report.isError;
  const text = content.text;
  const metadata = given({
    isError: failed ? true : undefined,
    images: content.images.length === 0 ? undefined : content.images,
    result: isObject(report.payload) || Array.isArray(report.payload) ? leftOf(report.payload) : undefined,
  }) as JsonObject;
  return {
    blocks: [{ kind: "tool_result", text, metadata }],
    failed,
    short: failed ? undefined : outputRow(text, content.images.length),
    error: failed ? errorRow(wordsOf(objectOf(report.payload).error) ?? text) : undefined,
    images: content.images,
  };
}

/** The payload without what the text already says. */
function leftOf(payload: Json): Json | undefined {
  if (!isObject(payload)) return undefined;
  const { content: _content, ...rest } = payload;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

export function errorRow(text: string): string {
  const row = rowOf(text) ?? "failed";
  // A list of what is wrong with an input: its first message says more than its bracket.
  const message = row.endsWith("[") ? /"message": "([^"]*)"/.exec(text)?.[1] : undefined;
  if (message !== undefined) return cutRow(`${row.slice(0, -1)}${message}`);
  const next = row.endsWith(":") ? rowOf(text.slice(text.indexOf(row) + row.length)) : undefined;
  return next === undefined ? row : cutRow(`${row} ${next}`);
}

/** What a row shows of an output: the line, if there is only one. */
export function outputRow(text: string, images = 0): string {
  const trimmed = text.trim();
  if (trimmed === "") return images > 0 ? `${images} image${images === 1 ? "" : "s"}` : "no output";
  return trimmed.includes("\n") ? linesRow(trimmed) : cutRow(trimmed, 80);
}

/** `12 lines`, without taking the text apart: outputs can be large. */
export function linesRow(text: string): string {
  let lines = text === "" || text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return plural(lines, "line");
}
