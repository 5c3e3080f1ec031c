/**
 * Assistant lines: one finished content block each. Where the block was streamed before, the line confirms it and is
 * the authority on its text and input; otherwise it is the block.
 */

import type { JsonObject } from "@blockyard/kernel";
import { isCall, isResultType } from "../anthropic/content.ts";
import { isObject } from "../framing/json.ts";
import { given, listOf, numberOf, objectOf, textOf, timeOf } from "../read.ts";
import { runCall } from "./call.ts";
import { messageOf, newPiece, redaction } from "./message.ts";
import { confirmWhole, takeUsage, thinkingEnd } from "./piece.ts";
import { endPiece, startPiece } from "./piece-block.ts";
import type { Message, Out, Piece, State } from "./state.ts";
import { finishText, releaseText } from "./text-piece.ts";
import { currentTurn, markOf } from "./turn.ts";

export function assistantLine(state: State, out: Out, line: JsonObject): void {
  const body = objectOf(line.message);
  const id = textOf(body.id) ?? textOf(line.uuid) ?? `message-${state.nextSerial++}`;
  const message = messageOf(state, out, id, line);
  message.model = textOf(body.model) ?? message.model;
  const at = timeOf(line.timestamp);
  const content =
    typeof body.content === "string" ? [{ type: "text", text: body.content }] : listOf(body.content);
  for (const block of content) confirm(state, out, message, objectOf(block), line, at);
  // While the message streams, its usage comes better with message_delta.
  if (!isStreaming(state, message)) takeUsage(out, message, body.usage, true);
}

/**
 * A `message` line: a whole answer at once, as some hosts write it. What was streamed before, or told block by block, is
 * confirmed by its place among the blocks of its type; a message without an id repeats the last one.
 */
export function messageLine(state: State, out: Out, line: JsonObject, body: JsonObject): void {
  const id = textOf(body.id);
  const known = id === undefined ? state.lastMessage : state.messages.get(id);
  state.lastMessage = undefined;
  if (known === undefined) {
    assistantLine(state, out, { ...line, message: body });
    state.lastMessage = undefined;
    return;
  }
  const content =
    typeof body.content === "string" ? [{ type: "text", text: body.content }] : listOf(body.content);
  const seen = new Map<Piece["type"], number>();
  for (const block of content.map(objectOf)) {
    const type = pieceTypeOf(textOf(block.type) ?? "");
    const place = seen.get(type) ?? 0;
    seen.set(type, place + 1);
    const said = known.pieces.filter((piece) => piece.type === type)[place];
    if (said?.isConfirmed !== true) confirm(state, out, known, block, line, timeOf(line.timestamp));
  }
  if (!isStreaming(state, known)) takeUsage(out, known, body.usage, true);
}

function isStreaming(state: State, message: Message): boolean {
  for (const each of state.streaming.values()) if (each === message) return true;
  return false;
}

function confirm(
  state: State,
  out: Out,
  message: Message,
  block: JsonObject,
  line: JsonObject,
  at: number | undefined,
): void {
  const known = partner(message, block);
  const piece = known ?? newPiece(state, out, message, block, at);
  piece.isConfirmed = true;
  switch (piece.type) {
    case "text":
      return confirmText(state, out, piece, block, line, at);
    case "thinking":
      return confirmThinking(state, out, piece, block, line, at);
    case "call":
      if (piece.call === undefined) return;
      return runCall(state, out, piece.call, block.input ?? {}, displayName(line, piece.call.id));
    case "whole":
      return confirmWhole(out, piece, block);
    default:
      return;
  }
}

/**
 * The streamed block that an assistant line repeats: a call by its id, otherwise the open one of this type, because
 * the line comes before the stop; after that the oldest unconfirmed one, equal text first.
 */
function partner(message: Message, block: JsonObject): Piece | undefined {
  const type = textOf(block.type) ?? "";
  if (isCall(type)) {
    const id = textOf(block.id);
    return message.pieces.find((piece) => piece.call !== undefined && piece.call.id === id);
  }
  const wanted = pieceTypeOf(type);
  const said = textOf(block.text) ?? textOf(block.thinking);
  let oldest: Piece | undefined;
  let equal: Piece | undefined;
  for (const piece of message.pieces) {
    if (piece.isConfirmed || piece.type !== wanted) continue;
    if (!piece.isStopped) return piece;
    oldest ??= piece;
    if (piece.text === said) equal ??= piece;
  }
  return equal ?? oldest;
}

function pieceTypeOf(type: string): Piece["type"] {
  if (type === "text") return "text";
  if (type === "thinking" || type === "redacted_thinking") return "thinking";
  if (isCall(type)) return "call";
  return isResultType(type) ? "result" : "whole";
}

function confirmText(
  state: State,
  out: Out,
  piece: Piece,
  block: JsonObject,
  line: JsonObject,
  at: number | undefined,
): void {
  const said = textOf(block.text) ?? "";
  if (piece.isEnded) return;
  if (said === "" && !piece.isStarted) {
    piece.isEnded = true;
    return;
  }
  currentTurn(state, out, piece.message.scope).hasSpoken = true;
  if (piece.message.scope.parent === undefined) piece.message.turn.lastWords = markOf(said);
  const streamed = piece.part?.citations ?? piece.citations;
  const citations = listOf(block.citations).length > 0 ? listOf(block.citations) : streamed;
  const isStreamed = piece.isStarted || (piece.part !== undefined && piece.part.text !== "");
  if (!isStreamed && isLocal(line)) return sayLocally(state, out, piece, said, line, at);
  const reason = line.aborted === true ? "interrupted" : undefined;
  finishText(state, out, piece, { said, citations, reason, at });
}

/** Lines that the CLI made itself, in the model's place. */
function isLocal(line: JsonObject): boolean {
  return objectOf(line.message).model === "<synthetic>" || line.is_api_error_message === true;
}

/** Words of a failure, from versions that do not mark one (up to 2.0.76). */
const API_ERROR =
  /^(API Error\b|Invalid API key|Prompt is too long|Credit balance is too low|Claude (AI )?usage limit reached|Request timed out|OAuth (token|authentication) )/;

function sayLocally(
  state: State,
  out: Out,
  piece: Piece,
  said: string,
  line: JsonObject,
  at: number | undefined,
): void {
  piece.head = undefined;
  piece.part = undefined;
  releaseText(out, piece.message);
  const code = textOf(line.error) ?? textOf(line.api_error);
  if (code === undefined && line.is_api_error_message !== true && !API_ERROR.test(said)) {
    const notice = line.local_command_source === undefined ? "synthetic" : "local_command";
    startPiece(state, out, piece, { notice }, said, "text", "system", at);
    return endPiece(out, piece, "done");
  }
  const details = given({
    status: numberOf(line.api_error_status),
    type: textOf(line.api_error_type),
    params: isObject(line.api_error_params) ? line.api_error_params : undefined,
  });
  const metadata = given({
    code,
    details: Object.keys(details).length === 0 ? undefined : (details as JsonObject),
  });
  startPiece(state, out, piece, metadata as JsonObject, said, "error", "system", at);
  endPiece(out, piece, "error", "failed");
}

function confirmThinking(
  state: State,
  out: Out,
  piece: Piece,
  block: JsonObject,
  line: JsonObject,
  at: number | undefined,
): void {
  if (piece.isEnded) return;
  const said = textOf(block.thinking) ?? "";
  if (!piece.isStarted) startPiece(state, out, piece, redaction(block), said, "thinking", "model", at);
  piece.signature = textOf(block.signature) ?? piece.signature;
  const durationMs = numberOf(line.thinking_duration_ms);
  const aborted = line.aborted === true;
  const metadata = given({
    durationMs: durationMs !== undefined && durationMs >= 0 ? durationMs : undefined,
  });
  endPiece(out, piece, aborted ? "error" : "done", aborted ? "interrupted" : undefined, said, {
    ...thinkingEnd(state, piece),
    ...(metadata as JsonObject),
  });
}

function displayName(line: JsonObject, id: string): string | undefined {
  const meta = listOf(line.tool_use_meta)
    .map(objectOf)
    .find((each) => each.id === id);
  return textOf(meta?.display_name);
}
