/**
 * The content blocks of a message, from start to end, and the message's usage.
 *
 * Invariant: each piece starts at most once and ends at most once; an empty text never starts. Tool calls are pieces
 * too, but live on after their message (see call.ts).
 */

import {
  addUsage,
  type BlockEvent,
  type Json,
  type JsonObject,
  NO_USAGE,
  type Reason,
  subtractUsage,
  type Usage,
} from "@blockyard/kernel";
import { openContent } from "../anthropic/content.ts";
import { isObject } from "../framing/json.ts";
import { given, textOf, wholeOf } from "../read.ts";
import { unknownEvent } from "../unknown.ts";
import { anthropicUsage, isSameUsage, isZero, mergeNative } from "../usage.ts";
import { breakCall, runStreamed } from "./call.ts";
import { endPiece } from "./piece-block.ts";
import { takeHeld } from "./result.ts";
import { addPiece, type Message, type Out, type Piece, PROVIDER, type State } from "./state.ts";
import { cutPart, settleText, stopPart } from "./text-piece.ts";

export function thinkingEnd(state: State, piece: Piece): JsonObject {
  const tokens = wholeOf(state.thinkingTokens);
  const estimatedTokens = tokens === undefined || tokens < 0 ? undefined : tokens;
  state.thinkingTokens = undefined;
  return given({ signature: piece.signature || undefined, estimatedTokens }) as JsonObject;
}

/** Decides a piece that no assistant line has confirmed. Without a reason it is simply done. */
export function settle(state: State, out: Out, piece: Piece, reason: Reason | undefined): void {
  if (piece.type === "call") {
    const call = piece.call;
    if (call === undefined || call.isRunning || call.isEnded || piece.isConfirmed) return;
    if (reason === undefined && piece.isStopped && runStreamed(state, out, call)) return;
    return breakCall(
      out,
      call,
      reason ?? (piece.message.stopReason === "max_tokens" ? "truncated" : "interrupted"),
    );
  }
  if (piece.isEnded) return;
  if (piece.held !== undefined && reason === undefined) return takeHeld(state, out, piece);
  if (piece.part !== undefined) {
    if (reason !== undefined) return cutPart(out, piece, reason);
    stopPart(state, out, piece);
    if (piece.isEnded) return;
  }
  if (!piece.isStarted) {
    piece.isEnded = true;
    return;
  }
  if (piece.type === "text") return settleText(out, piece, piece.isConfirmed ? undefined : reason);
  const last = piece.type === "thinking" ? thinkingEnd(state, piece) : {};
  endPiece(out, piece, reason === undefined ? "done" : "error", reason, undefined, last);
}

/** Nothing more of this message will come. */
export function closeMessage(state: State, out: Out, message: Message, reason: Reason | undefined): void {
  // Parts before the texts that they may belong to.
  const parts = message.pieces.filter((piece) => piece.part !== undefined);
  for (const piece of [...parts, ...message.pieces]) {
    settle(state, out, piece, reason ?? (piece.isStopped || piece.isConfirmed ? undefined : "interrupted"));
  }
  if (reason !== undefined) tellUsage(out, message);
}

/** Content blocks about the message; unknown types are shown as unknown. */
export function startWhole(out: Out, piece: Piece, block: JsonObject): void {
  piece.isStarted = true;
  for (const event of wholeEvents(piece, block)) {
    out.push(event);
    piece.text += textIn(event);
  }
}

/** Its assistant line has come, and is final. */
export function confirmWhole(out: Out, piece: Piece, block: JsonObject): void {
  endPiece(out, piece, "done", undefined, wholeEvents(piece, block).map(textIn).join(""));
}

function textIn(event: BlockEvent): string {
  return event.type === "block-start" || event.type === "block-append" ? (event.text ?? "") : "";
}

/** The events that start it. */
function wholeEvents(piece: Piece, block: JsonObject): readonly BlockEvent[] {
  const { message } = piece;
  const place = {
    key: piece.key,
    parent: message.scope.parent,
    metadata: { messageId: message.id, index: piece.index },
  };
  // A type may be any word, also one that every object has.
  const opened = (textOf(block.type) ?? "") in Object.prototype ? undefined : openContent(place, block);
  if (opened !== undefined) return opened.events;
  const type = `content/${textOf(block.type) ?? "(no type)"}`;
  return unknownEvent({ ...place, provider: PROVIDER }, block, type).slice(0, 1);
}

export function addUnknown(state: State, out: Out, message: Message, event: Json, type: string): void {
  const piece = addPiece(message, "whole", state.prefix);
  piece.isStarted = true;
  piece.isConfirmed = true;
  piece.isEnded = true;
  out.push(
    ...unknownEvent({ key: piece.key, provider: PROVIDER, parent: message.scope.parent }, event, type),
  );
}

// ---------------------------------------------------------------------------------------------------------------------
// Usage: per message, the last row wins.

export function takeUsage(out: Out, message: Message, usage: Json | undefined, tell: boolean): void {
  if (!isObject(usage)) return;
  // Later rows usually say all that earlier ones did.
  const isWhole = message.usage === undefined || typeof usage.input_tokens === "number";
  message.usage = isWhole ? usage : mergeNative(message.usage, usage);
  if (tell) tellUsage(out, message);
}

/** A message without its last piece: its input is known, but not the size of its output. */
export function isCut({ isStreamed, stopReason, model }: Message): boolean {
  return isStreamed && stopReason === undefined && model !== "<synthetic>";
}

export function usageOf(message: Message, native: JsonObject): Usage {
  const usage = anthropicUsage(native);
  return isCut(message) ? { ...usage, output: 0, reasoning: 0 } : usage;
}

export function tellUsage(out: Out, message: Message): void {
  if (message.usage === undefined || message.model === "<synthetic>") return;
  const usage = usageOf(message, message.usage);
  if (isZero(usage) || isSameUsage(usage, message.toldUsage)) return;
  const { turn } = message;
  turn.usage = addUsage(subtractUsage(turn.usage, message.toldUsage ?? NO_USAGE), usage);
  turn.lastUsage = usage;
  if (message.model !== undefined) turn.models.add(message.model);
  message.toldUsage = usage;
  out.push({
    type: "message-usage",
    messageId: message.id,
    turn: turn.name,
    ...(message.scope.parent === undefined ? {} : { parent: message.scope.parent }),
    ...(message.model === undefined ? {} : { model: message.model }),
    usage,
    native: message.usage,
  });
}
