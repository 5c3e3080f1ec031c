/**
 * One content block of an Anthropic message, from its start over its deltas to its end: the assembly that the Messages
 * stream and Claude Code's stream events share.
 *
 * Knows blocks, not messages: who joins them into messages and turns, and who ends a tool call, is the caller's
 * matter. A tool call is left running here, with its input parsed; only an input that is no whole JSON ends it.
 */

import type { BlockEvent, BlockKey, Json, JsonObject, Kind, Role } from "@blockyard/kernel";
import { type Cited, type CitedText, firstPart } from "../cited-text.ts";
import { isObject, parseJson } from "../framing/json.ts";
import { bounds } from "../limits.ts";
import { compactParams } from "../row.ts";
import { count } from "../usage.ts";

/** A block's position. `metadata` is what the caller wants on every block: messageId, index, turn, … */
export interface ContentPlace {
  readonly key: BlockKey;
  readonly parent?: BlockKey | undefined;
  readonly metadata: JsonObject;
}

/** A content block between its start and its stop. */
export interface OpenContent {
  readonly place: ContentPlace;
  readonly kind: Kind;
  /** The API's own type: text, tool_use, … */
  readonly type: string;
  readonly toolUseId: string;
  readonly toolName: string;
  /** The call runs at the provider. */
  readonly remote: boolean;
  /** The input from the start event, for servers that send no deltas. */
  readonly firstInput: Json | undefined;
  input: string;
  signature: string | undefined;
  /** A text so far, including joined parts; with citations only of complete parts. */
  whole: CitedText;
  /** Of the part that is being written. */
  citations: Json[];
  estimatedTokens: number;
  /** Of a notice: the block's content besides its text, which goes back to the API. */
  extra: JsonObject;
}

type Opened = { readonly open: OpenContent; readonly events: readonly BlockEvent[] };

/** Blocks about the message rather than content of it. */
const NOTICES: ReadonlyMap<string, (block: JsonObject) => string> = new Map([
  ["compaction", (block: JsonObject) => stringOf(block.content) ?? ""],
  ["fallback", (block: JsonObject) => `Model changed from ${nameOf(block.from)} to ${nameOf(block.to)}`],
  ["container_upload", (block: JsonObject) => stringOf(block.file_id) ?? ""],
  ["mcp_tool_listing", (block: JsonObject) => toolNames(block.tools)],
]);

/** Starts a block; undefined for a type that is no block of its own kind (results, and unknown types). */
export function openContent(place: ContentPlace, block: JsonObject): Opened | undefined {
  const type = stringOf(block.type) ?? "";
  if (type === "text") return opened(place, type, "text", stringOf(block.text) ?? "", {}, block);
  if (type === "thinking") return opened(place, type, "thinking", stringOf(block.thinking) ?? "", {}, block);
  if (type === "redacted_thinking") {
    const data = stringOf(block.data);
    return opened(
      place,
      type,
      "thinking",
      "",
      { redacted: true, ...(data === undefined ? {} : { opaque: data }) },
      block,
    );
  }
  if (isCall(type)) return opened(place, type, "tool_call", "", callMetadata(place, type, block), block);
  const notice = NOTICES.get(type);
  if (notice === undefined) return undefined;
  return opened(place, type, "text", notice(block), { notice: type, ...extraOf(block) }, block);
}

/** tool_result, and every `…_tool_result` of tools that run at the provider, also the next of that family. */
export function isResultType(type: string): boolean {
  return type === "tool_result" || type.endsWith("_tool_result");
}

/** tool_use, server_tool_use, mcp_tool_use, and the next of that family. */
export function isCall(type: string): boolean {
  return type === "tool_use" || type.endsWith("_tool_use");
}

/** A delta of an open block; undefined for a delta of an unknown type. */
export function appendContent(open: OpenContent, delta: JsonObject): readonly BlockEvent[] | undefined {
  const key = open.place.key;
  switch (delta.type) {
    case "text_delta":
      if (open.kind === "text" && typeof delta.text === "string") open.whole.text += delta.text;
      return appended(key, delta.text);
    case "thinking_delta":
      open.estimatedTokens += count(delta.estimated_tokens);
      return appended(key, delta.thinking);
    case "input_json_delta":
      if (typeof delta.partial_json === "string") open.input += delta.partial_json;
      return appended(key, delta.partial_json);
    case "signature_delta":
      open.signature = stringOf(delta.signature) ?? open.signature;
      return [];
    case "citations_delta":
      if (delta.citation !== undefined && delta.citation !== null) open.citations.push(delta.citation);
      return [];
    case "compaction_delta":
      if (typeof delta.encrypted_content === "string")
        open.extra = { ...open.extra, encrypted_content: delta.encrypted_content };
      return appended(key, delta.content);
    default:
      return undefined;
  }
}

/** Its first part is whole: the citations of that part have their place. */
export function endFirstPart(open: OpenContent): void {
  open.whole = firstPart(open.whole.text, open.citations);
  open.citations = [];
}

/** A stopped tool call's input: `{}` if none came; undefined if it is incomplete JSON. */
export function inputOf(open: OpenContent): Json | undefined {
  if (open.input.trim() === "") return open.firstInput ?? {};
  return parseJson(open.input, bounds.inputDepth);
}

/**
 * The block has stopped. Text and thinking end; a tool call runs on with its input, or ends as truncated where the
 * input is not whole: it is never shown as complete.
 */
export function closeContent(open: OpenContent): readonly BlockEvent[] {
  const key = open.place.key;
  if (open.kind !== "tool_call") {
    return [{ type: "block-end", key, status: "done", ...metadataField(endMetadata(open)) }];
  }
  const input = inputOf(open);
  if (input === undefined) {
    const error = "The input of this call is incomplete JSON";
    return [
      { type: "block-end", key, status: "error", reason: "truncated", metadata: { error, success: false } },
    ];
  }
  const written: BlockEvent[] =
    open.input === "" ? [{ type: "block-append", key, text: JSON.stringify(input) }] : [];
  const params = compactParams(input);
  const metadata = { stage: "running", input, ...(params === undefined ? {} : { compactParams: params }) };
  return [...written, { type: "block-meta", key, metadata }];
}

/** The stream was cut inside the block. */
export function interruptContent(open: OpenContent): readonly BlockEvent[] {
  const metadata = { ...endMetadata(open), ...(open.kind === "tool_call" ? { success: false } : {}) };
  return [
    {
      type: "block-end",
      key: open.place.key,
      status: "error",
      reason: "interrupted",
      ...metadataField(metadata),
    },
  ];
}

/** What a text or thinking block knows only at its end. */
function endMetadata(open: OpenContent): JsonObject {
  // A delta may have come to a block of another type: a text has no signature.
  if (open.type === "compaction") return Object.keys(open.extra).length === 0 ? {} : { extra: open.extra };
  if (open.kind !== "thinking") return open.kind === "text" ? citationMetadata(open.whole.cited) : {};
  return {
    ...(open.signature ? { signature: open.signature } : {}),
    ...(open.estimatedTokens > 0 ? { estimatedTokens: open.estimatedTokens } : {}),
  };
}

/** Citations for readers, each with its place in the text, and in the API's own form. */
export function citationMetadata(cited: readonly Cited[]): JsonObject {
  const known = cited.filter(({ citation }) => isObject(citation));
  if (known.length === 0) return {};
  const shown = known.map(({ citation, start, end }) => ({
    ...citationOf(citation as JsonObject),
    start,
    end,
  }));
  return { citations: shown, extra: { citations: known.map(({ citation }) => citation) } };
}

/** The API's own shapes, and the older `{type, data: {url, title, snippet}}`. */
function citationOf(stated: JsonObject): JsonObject {
  const citation = isObject(stated.data) ? { ...stated, ...stated.data } : stated;
  const url = stringOf(citation.url) ?? stringOf(citation.source);
  const title = stringOf(citation.title) ?? stringOf(citation.document_title);
  const snippet = stringOf(citation.cited_text) ?? stringOf(citation.snippet);
  return {
    url: url ?? `document:${typeof citation.document_index === "number" ? citation.document_index : 0}`,
    ...(title === undefined ? {} : { title }),
    ...(snippet === undefined ? {} : { snippet }),
  };
}

function opened(
  place: ContentPlace,
  type: string,
  kind: Kind,
  text: string,
  own: JsonObject,
  block: JsonObject,
): Opened {
  const role: Role = NOTICES.has(type) ? "system" : "model";
  const start: BlockEvent = {
    type: "block-start",
    key: place.key,
    ...(place.parent === undefined ? {} : { parent: place.parent }),
    kind,
    role,
    metadata: { ...place.metadata, ...own },
  };
  const open: OpenContent = {
    place,
    kind,
    type,
    toolUseId: stringOf(own.toolUseId) ?? "",
    toolName: stringOf(own.toolName) ?? "",
    remote: own.remote === true,
    firstInput: kind === "tool_call" && block.input !== null ? block.input : undefined,
    input: "",
    signature: stringOf(block.signature),
    whole: { text, cited: [] },
    citations: Array.isArray(block.citations) ? [...(block.citations as readonly Json[])] : [],
    estimatedTokens: 0,
    extra: isObject(own.extra) ? own.extra : {},
  };
  return { open, events: text === "" ? [start] : [start, { type: "block-append", key: place.key, text }] };
}

function callMetadata(place: ContentPlace, type: string, block: JsonObject): JsonObject {
  const server = stringOf(block.server_name);
  return {
    // A call without an id still needs one, for its result to name.
    toolUseId: stringOf(block.id) ?? place.key,
    toolName: stringOf(block.name) ?? type,
    ...(type === "tool_use" ? {} : { remote: true }),
    ...(server === undefined ? {} : { server }),
  };
}

/** A block's content besides its type, stored for sending back. */
function extraOf(block: JsonObject): JsonObject {
  const { type: _, content: _content, ...rest } = block;
  return Object.keys(rest).length === 0 ? {} : { extra: rest };
}

function appended(key: BlockKey, text: Json | undefined): readonly BlockEvent[] {
  return typeof text === "string" && text !== "" ? [{ type: "block-append", key, text }] : [];
}

function metadataField(metadata: JsonObject): { readonly metadata?: JsonObject } {
  return Object.keys(metadata).length === 0 ? {} : { metadata };
}

export function stringOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function nameOf(value: Json | undefined): string {
  if (isObject(value)) return stringOf(value.model) ?? stringOf(value.id) ?? JSON.stringify(value);
  return stringOf(value) ?? "another";
}

function toolNames(value: Json | undefined): string {
  if (!Array.isArray(value)) return "";
  return (value as readonly Json[])
    .map((tool) => (isObject(tool) ? stringOf(tool.name) : stringOf(tool)) ?? "?")
    .join("\n");
}
