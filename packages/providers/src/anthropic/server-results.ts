/**
 * Results of tools that run at Anthropic (web search and fetch, code execution, MCP, tool search): a content block of
 * the answer → one result block of the most exact kind, below its call, and the end of that call.
 *
 * Also for Claude Code, whose stream carries the same blocks. The result itself is kept whole in `result`, because it
 * has to go back to the API unchanged.
 */

import {
  type BlockEvent,
  type BlockKey,
  type Json,
  type JsonObject,
  jsonText,
  type Kind,
} from "@blockyard/kernel";
import type { PatchChange } from "../apply-patch.ts";
import { editedFile, newFile, overwrittenFile } from "../edit-diff.ts";
import { isObject } from "../framing/json.ts";
import { languageOf } from "../language.ts";
import { cutRow, lineCount, rowOf } from "../row.ts";
import { unifiedDiff } from "../unified-diff.ts";
import { type ContentPlace, isResultType, stringOf } from "./content.ts";

/** A result's call, as far as it is known. */
export interface Call {
  readonly key: BlockKey;
  readonly toolUseId: string;
  readonly toolName: string;
  readonly input?: Json | undefined;
}

interface Shown {
  readonly kind: Kind;
  readonly text: string;
  readonly metadata: JsonObject;
  readonly short?: string | undefined;
  readonly failed?: boolean;
}

/** Whether a content block is a result. `tool_result` is one of a tool that ran at the caller. */
export function isServerResult(block: JsonObject): boolean {
  return typeof block.type === "string" && isResultType(block.type);
}

/** The result block, whole; and the end of its call, where `call` is still open. */
export function serverResult(
  place: ContentPlace,
  block: JsonObject,
  call: Call | undefined,
  callIsOpen: boolean,
): readonly BlockEvent[] {
  const shown = show(block, call);
  const failed = shown.failed === true || block.is_error === true;
  const toolUseId = stringOf(block.tool_use_id) ?? call?.toolUseId ?? place.key;
  const toolName = call?.toolName ?? (jsonText(block.type).replace(/_?tool_result$/, "") || "unknown");
  const parent = call?.key ?? place.parent;
  const events: BlockEvent[] = [
    {
      type: "block-start",
      key: place.key,
      ...(parent === undefined ? {} : { parent }),
      kind: shown.kind,
      role: "tool",
      metadata: {
        ...place.metadata,
        toolUseId,
        toolName,
        ...(failed ? { isError: true } : {}),
        ...(block.content === undefined ? {} : { result: block.content }),
        ...shown.metadata,
      },
      text: shown.text,
    },
    {
      type: "block-end",
      key: place.key,
      status: failed ? "error" : "done",
      ...(failed ? { reason: "failed" as const } : {}),
    },
  ];
  if (call !== undefined && callIsOpen) events.push(callEnd(call, failed, shown));
  return events;
}

function callEnd(call: Call, failed: boolean, shown: Shown): BlockEvent {
  const short = shown.short ?? rowOf(shown.text);
  return {
    type: "block-end",
    key: call.key,
    status: failed ? "error" : "done",
    ...(failed ? { reason: "failed" as const } : {}),
    metadata: {
      success: !failed,
      ...(short === undefined ? {} : failed ? { error: short } : { shortResult: cutRow(short) }),
    },
  };
}

function show(block: JsonObject, call: Call | undefined): Shown {
  const content = block.content;
  const type = isObject(content) ? (stringOf(content.type) ?? "") : "";
  if (isObject(content) && type.endsWith("_error")) {
    const code = stringOf(content.error_code) ?? type;
    const message = stringOf(content.error_message);
    return { kind: "tool_result", text: message ? `${code}: ${message}` : code, metadata: {}, failed: true };
  }
  if (block.type === "web_search_tool_result" && Array.isArray(content)) return searchResults(content);
  if (!isObject(content)) return contentParts(content);
  if ("stdout" in content || "return_code" in content) return commandOutput(content, call);
  if (type === "web_fetch_result") return fetched(content);
  if (Array.isArray(content.tool_references)) return references(content.tool_references);
  if (type.startsWith("text_editor_code_execution")) return editor(type, content, call);
  if (typeof content.encrypted_content === "string")
    return { kind: "tool_result", text: "", metadata: {}, short: "encrypted" };
  const text = stringOf(content.text) ?? stringOf(content.content) ?? JSON.stringify(content, null, 2);
  return { kind: "tool_result", text, metadata: {} };
}

function searchResults(content: readonly Json[]): Shown {
  const found = content.filter(isObject).map((result) => ({
    url: stringOf(result.url) ?? "",
    title: stringOf(result.title) ?? stringOf(result.url) ?? "",
  }));
  return {
    kind: "tool_result",
    text: linkList(found),
    metadata: { citations: found },
    short: `${found.length} result${found.length === 1 ? "" : "s"}`,
  };
}

/** Links for reading: a Markdown list. */
export function linkList(
  links: readonly { readonly url: string; readonly title?: string | undefined }[],
): string {
  return links
    .map(({ url, title }) => `- [${(title ?? url).replace(/[[\]\\]/g, "\\$&")}](${url})`)
    .join("\n");
}

function commandOutput(content: JsonObject, call: Call | undefined): Shown {
  const input = isObject(call?.input) ? call.input : {};
  const command = stringOf(input.command) ?? stringOf(input.code) ?? "";
  const stderr = stringOf(content.stderr) ?? "";
  const exitCode = typeof content.return_code === "number" ? Math.trunc(content.return_code) : null;
  const stdout = stringOf(content.stdout) ?? "";
  return {
    kind: "command",
    text: stdout,
    metadata: { command, exitCode, ...(stderr === "" ? {} : { stderr }) },
    short: exitCode === null || exitCode === 0 ? (rowOf(stdout) ?? "no output") : `exit code ${exitCode}`,
    failed: exitCode !== null && exitCode !== 0,
  };
}

function fetched(content: JsonObject): Shown {
  const document = isObject(content.content) ? content.content : {};
  const source = isObject(document.source) ? document.source : {};
  const url = stringOf(content.url) ?? "";
  const title = stringOf(document.title);
  const text = source.type === "text" ? (stringOf(source.data) ?? "") : (title ?? url);
  return {
    kind: "tool_result",
    text,
    metadata: { citations: [{ url, ...(title === undefined ? {} : { title }) }] },
    short: title ?? url,
  };
}

function references(list: readonly Json[]): Shown {
  const names = list.map((item) => (isObject(item) ? stringOf(item.tool_name) : undefined) ?? "?");
  return { kind: "tool_result", text: names.join("\n"), metadata: {}, short: names.join(", ") };
}

/** The text editor of the code execution tool: view, create, str_replace. */
function editor(type: string, content: JsonObject, call: Call | undefined): Shown {
  const input = isObject(call?.input) ? call.input : {};
  const path = stringOf(input.path) ?? "";
  if (type.includes("_view_")) {
    const text = stringOf(content.content) ?? "";
    const language = languageOf(path);
    return {
      kind: "code",
      text,
      metadata: {
        filename: path,
        ...(language === undefined ? {} : { language }),
        ...(typeof content.start_line === "number" ? { startLine: content.start_line } : {}),
        ...(typeof content.total_lines === "number" ? { totalLines: content.total_lines } : {}),
      },
      short: lineCount(text),
    };
  }
  const isNew = type.includes("_create_") && content.is_file_update !== true;
  const change = editorChange(path, content, input, isNew);
  return {
    kind: "file_change",
    text: change.diff ?? "",
    metadata: { changes: [{ ...change }] },
    short: path,
  };
}

/** The lines that the editor tells; without them the call's own words. */
function editorChange(path: string, content: JsonObject, input: JsonObject, isNew: boolean): PatchChange {
  const lines = content.lines;
  if (Array.isArray(lines)) {
    const hunk = {
      oldStart: numberOf(content.old_start, 1),
      oldLines: numberOf(content.old_lines, 0),
      newStart: numberOf(content.new_start, 1),
      newLines: numberOf(content.new_lines, 0),
      lines: lines.filter((line: Json) => typeof line === "string"),
    };
    return { path, kind: isNew ? "add" : "modify", diff: unifiedDiff(path, [hunk]) };
  }
  const text = stringOf(input.file_text);
  if (text !== undefined) return isNew ? newFile(path, text) : overwrittenFile(path, text);
  const before = stringOf(input.old_str);
  const after = stringOf(input.new_str);
  if (before === undefined || after === undefined) return { path, kind: isNew ? "add" : "modify" };
  return editedFile(path, [{ before, after }]);
}

/** A string, or text parts; other parts are named by their type. */
function contentParts(content: Json | undefined): Shown {
  if (typeof content === "string") return { kind: "tool_result", text: content, metadata: {} };
  if (!Array.isArray(content)) return { kind: "tool_result", text: "", metadata: {} };
  const images: JsonObject[] = [];
  const texts = (content as readonly Json[]).flatMap((part) => {
    if (!isObject(part)) return [stringOf(part) ?? ""];
    const image = part.type === "image" ? imageOf(part) : undefined;
    if (image !== undefined) images.push(image);
    return image === undefined ? [partText(part)] : [];
  });
  const metadata: JsonObject = images.length === 0 ? {} : { images };
  return { kind: "tool_result", text: texts.join("\n"), metadata };
}

/** The text of a part: its own, that of a document, or of a found page. */
function partText(part: JsonObject): string {
  const source = isObject(part.source) ? part.source : {};
  const found = part.type === "search_result" ? contentParts(part.content).text : undefined;
  const named = [part.title, part.source, found].map(stringOf).filter((text) => text !== undefined);
  if (found !== undefined) return named.join("\n");
  const own = stringOf(part.text) ?? (source.type === "text" ? stringOf(source.data) : undefined);
  return own ?? `[${stringOf(part.type) ?? "part"}]`;
}

function imageOf(part: JsonObject): JsonObject | undefined {
  const source = isObject(part.source) ? part.source : part;
  const data = stringOf(source.data);
  const mediaType = stringOf(source.media_type) ?? stringOf(source.mimeType);
  return data === undefined ? undefined : { data, ...(mediaType === undefined ? {} : { mediaType }) };
}

function numberOf(value: Json | undefined, otherwise: number): number {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}
