/**
 * The raw stream events of messages, which come with partial messages only.
 *
 * A block that only the deltas had is decided when its message stops: withdrawn if the CLI says so, otherwise done.
 * What the assistant lines say of the same blocks is assistant.ts's matter.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { isCall } from "../anthropic/content.ts";
import { isObject } from "../framing/json.ts";
import { RECENT_MESSAGES } from "../limits.ts";
import { given, listOf, numberOf, objectOf, textOf, wholeOf } from "../read.ts";
import { appendInput, openCall } from "./call.ts";
import { addUnknown, closeMessage, settle, startWhole, takeUsage, tellUsage } from "./piece.ts";
import { endPiece, startPiece } from "./piece-block.ts";
import { takeHeld, takeServerResult, takeStreamedResult } from "./result.ts";
import { addPiece, type Message, type Out, type Piece, type State, scopeOf } from "./state.ts";
import { addTextPiece, appendText, keepCitation, releaseText, stopPart } from "./text-piece.ts";
import { currentTurn } from "./turn.ts";

export function messageOf(state: State, out: Out, id: string, line: JsonObject): Message {
  const known = state.messages.get(id);
  if (known !== undefined) return known;
  const scope = scopeOf(state, line);
  const turn = currentTurn(state, out, scope);
  const message: Message = {
    id,
    scope,
    turn,
    model: undefined,
    pieces: [],
    held: undefined,
    byIndex: new Map(),
    usage: undefined,
    toldUsage: undefined,
    stopReason: undefined,
    isStreamed: false,
  };
  // Another message: the text of the one before is over.
  for (const each of state.messages.values())
    if (each.held !== undefined && each.scope.parent === scope.parent) releaseText(out, each);
  state.messages.set(id, message);
  state.lastMessage = message;
  if (state.messages.size > RECENT_MESSAGES) forgetOldest(state, out);
  return message;
}

function forgetOldest(state: State, out: Out): void {
  for (const [id, message] of state.messages) {
    closeMessage(state, out, message, "interrupted");
    state.messages.delete(id);
    return;
  }
}

export function streamEvent(state: State, out: Out, line: JsonObject): void {
  const event = objectOf(line.event);
  const scope = typeof line.parent_tool_use_id === "string" ? line.parent_tool_use_id : "";
  if (event.type === "message_start") return startMessage(state, out, line, objectOf(event.message), scope);
  const message = streamed(state, out, line, scope);
  switch (event.type) {
    case "content_block_delta":
      return addDelta(state, out, message, event);
    case "content_block_start":
      return startContent(state, out, message, event);
    case "content_block_stop":
      return stopContent(state, out, message, event);
    case "message_delta":
      message.stopReason = textOf(objectOf(event.delta).stop_reason) ?? message.stopReason;
      releaseText(out, message);
      return takeUsage(out, message, event.usage, true);
    case "message_stop":
      return stopMessage(state, out, message, scope, objectOf(line.abandoned_blocks));
    case "ping":
      return;
    case "error":
      return streamError(state, out, message, objectOf(event.error));
    default:
      return addUnknown(
        state,
        out,
        message,
        line.event ?? null,
        `stream_event/${textOf(event.type) ?? "(no type)"}`,
      );
  }
}

function startMessage(state: State, out: Out, line: JsonObject, start: JsonObject, scope: string): void {
  const previous = state.streaming.get(scope);
  // A message that was never stopped: the next one is the sign that it is over.
  if (previous !== undefined) closeMessage(state, out, previous, "interrupted");
  const id = textOf(start.id) ?? textOf(line.api_message_id) ?? `message-${state.nextSerial++}`;
  const message = messageOf(state, out, id, line);
  message.model = textOf(start.model) ?? message.model;
  message.byIndex.clear();
  message.isStreamed = true;
  message.turn.isRequesting = false;
  state.streaming.set(scope, message);
  takeUsage(out, message, start.usage, false);
}

/** A stream event's message: by its id if the CLI states it, otherwise the one being streamed. */
function streamed(state: State, out: Out, line: JsonObject, scope: string): Message {
  const current = state.streaming.get(scope);
  const id = line.api_message_id;
  if (typeof id !== "string" || id === current?.id) {
    if (current !== undefined) return current;
    const message = messageOf(state, out, `message-${state.nextSerial++}`, line);
    state.streaming.set(scope, message);
    return message;
  }
  const message = messageOf(state, out, id, line);
  if (current === undefined) state.streaming.set(scope, message);
  return message;
}

function startContent(state: State, out: Out, message: Message, event: JsonObject): void {
  const block = objectOf(event.content_block);
  const index = wholeOf(event.index) ?? message.pieces.length;
  const known = message.byIndex.get(index);
  if (known !== undefined) settle(state, out, known, "interrupted");
  const piece = newPiece(state, out, message, block, undefined, true);
  message.byIndex.set(index, piece);
  if (piece.call !== undefined) piece.call.firstInput ??= block.input;
  if (piece.type === "text") appendText(state, out, piece, textOf(block.text) ?? "");
  if (piece.type === "thinking") startPiece(state, out, piece, redaction(block));
  if (piece.type === "thinking") appendText(state, out, piece, textOf(block.thinking) ?? "");
  for (const citation of listOf(block.citations)) if (isObject(citation)) keepCitation(out, piece, citation);
}

export function redaction(block: JsonObject): JsonObject {
  if (block.type !== "redacted_thinking") return {};
  return given({ redacted: true, opaque: textOf(block.data) }) as JsonObject;
}

/** A piece for a new content block. Calls start at once, other types when their content comes. */
export function newPiece(
  state: State,
  out: Out,
  message: Message,
  block: JsonObject,
  at?: number,
  isStreamed = false,
): Piece {
  const type = textOf(block.type) ?? "";
  if (type === "text") return addTextPiece(state, message);
  releaseText(out, message);
  if (type === "thinking" || type === "redacted_thinking") return addPiece(message, "thinking", state.prefix);
  if (isCall(type))
    return addPiece(message, "call", state.prefix, startCall(state, out, message, block, type, at));
  if (type.endsWith("_tool_result")) {
    const piece = addPiece(message, "result", state.prefix);
    takeServerResult(state, out, piece, block, at);
    piece.isEnded = true;
    return piece;
  }
  if (type === "tool_result") {
    const piece = addPiece(message, "result", state.prefix);
    if (isStreamed && isEmptyContent(block.content)) piece.held = block;
    else takeStreamedResult(state, out, piece, block, at);
    return piece;
  }
  const piece = addPiece(message, "whole", state.prefix);
  startWhole(out, piece, block);
  if (!isStreamed) endPiece(out, piece, "done");
  return piece;
}

function isEmptyContent(content: Json | undefined): boolean {
  return (
    content === undefined ||
    content === null ||
    content === "" ||
    (Array.isArray(content) && content.length === 0)
  );
}

function startCall(state: State, out: Out, message: Message, block: JsonObject, type: string, at?: number) {
  currentTurn(state, out, message.scope).hasSpoken = true;
  return openCall(state, out, {
    id: textOf(block.id) ?? `${message.id}.${message.pieces.length}`,
    name: textOf(block.name) ?? type,
    scope: message.scope,
    turn: message.turn.ordinal,
    messageId: message.id,
    index: message.pieces.length,
    isRemote: type !== "tool_use",
    server: textOf(block.server_name),
    at,
  });
}

function addDelta(state: State, out: Out, message: Message, event: JsonObject): void {
  const delta = objectOf(event.delta);
  const index = wholeOf(event.index) ?? lastIndex(message);
  let piece = message.byIndex.get(index);
  if (piece === undefined) {
    piece = strayPiece(state, message, delta);
    if (piece !== undefined) message.byIndex.set(index, piece);
  }
  if (piece !== undefined && applyDelta(state, out, piece, delta)) return;
  addUnknown(
    state,
    out,
    message,
    event as JsonObject,
    `stream_event/delta/${textOf(delta.type) ?? "(no type)"}`,
  );
}

/** A delta whose start was lost: text and thinking can still be shown. */
function strayPiece(state: State, message: Message, delta: JsonObject): Piece | undefined {
  if (delta.type === "text_delta") return addTextPiece(state, message);
  if (delta.type === "thinking_delta") return addPiece(message, "thinking", state.prefix);
  return undefined;
}

/** False for a delta that does not fit its block: it is shown as unknown instead. */
function applyDelta(state: State, out: Out, piece: Piece, delta: JsonObject): boolean {
  switch (delta.type) {
    case "text_delta":
      if (piece.held !== undefined) piece.text += textOf(delta.text) ?? "";
      else if (piece.type === "text") appendText(state, out, piece, textOf(delta.text) ?? "");
      return piece.type === "text" || piece.held !== undefined;
    case "thinking_delta":
      if (piece.type !== "thinking") return false;
      appendText(state, out, piece, textOf(delta.thinking) ?? "");
      return true;
    case "input_json_delta":
      if (piece.call === undefined) return false;
      appendInput(out, piece.call, textOf(delta.partial_json) ?? "");
      return true;
    case "signature_delta":
      piece.signature = textOf(delta.signature) ?? piece.signature;
      return true;
    case "citations_delta":
      if (isObject(delta.citation)) keepCitation(out, piece, delta.citation);
      return true;
    case "compaction_delta":
      if (piece.type === "whole") appendText(state, out, piece, textOf(delta.content) ?? "");
      return true;
    default:
      return false;
  }
}

/** Events without an index belong to the last opened block. */
function lastIndex(message: Message): number {
  return [...message.byIndex.keys()].at(-1) ?? -1;
}

function stopContent(state: State, out: Out, message: Message, event: JsonObject): void {
  const piece = message.byIndex.get(wholeOf(event.index) ?? lastIndex(message));
  if (piece === undefined) return;
  piece.isStopped = true;
  if (piece.part !== undefined) stopPart(state, out, piece);
  if (piece.held !== undefined) takeHeld(state, out, piece);
}

function stopMessage(state: State, out: Out, message: Message, scope: string, abandoned: JsonObject): void {
  const from =
    textOf(abandoned.api_message_id) === message.id ? numberOf(abandoned.from_block_index) : undefined;
  if (from !== undefined) {
    for (const [index, piece] of message.byIndex) if (index >= from) settle(state, out, piece, "retracted");
  }
  for (const piece of message.pieces) if (piece.held !== undefined) takeHeld(state, out, piece);
  const isUnsure =
    from === undefined && message.stopReason === undefined && message.pieces.some(isUnconfirmed);
  if (isUnsure) state.stopped = message;
  else closeMessage(state, out, message, undefined);
  tellUsage(out, message);
  if (state.streaming.get(scope) === message) state.streaming.delete(scope);
}

function isUnconfirmed({ type, isConfirmed, isEnded }: Piece): boolean {
  return !isConfirmed && !isEnded && (type === "text" || type === "thinking");
}

/**
 * A message that was stopped without a reason may have lost its connection: up to 2.1.250 only the following retry
 * shows that. Then unconfirmed blocks are withdrawn.
 */
export function decideStopped(state: State, out: Out, line: JsonObject): void {
  const { stopped } = state;
  if (stopped === undefined || (line.type === "system" && line.subtype === "status")) return;
  state.stopped = undefined;
  const isLost = line.type === "system" && line.subtype === "api_retry";
  if (isLost)
    for (const piece of stopped.pieces) if (isUnconfirmed(piece)) settle(state, out, piece, "retracted");
  closeMessage(state, out, stopped, undefined);
}

/** The API's own error inside a stream; the CLI then continues, or repeats it on a line of its own. */
function streamError(state: State, out: Out, message: Message, error: JsonObject): void {
  const said = textOf(error.message) ?? textOf(error.type) ?? "The stream failed";
  const piece = addPiece(message, "whole", state.prefix);
  piece.isConfirmed = true;
  startPiece(state, out, piece, given({ code: textOf(error.type) }), said, "error");
  endPiece(out, piece, "error", "failed");
}
