/**
 * Texts of a message, from the first character to the end. A cited answer comes as several text blocks: they are one text
 * (see cited-text.ts), so a text that is whole is held open until something that is no text follows in its message.
 *
 * Invariant: of a message at most one text is held, and it is the last piece or the one that the last pieces are part of.
 */

import type { Json, JsonObject, Reason } from "@blockyard/kernel";
import { citationMetadata } from "../anthropic/content.ts";
import { addCitation, addText, endPart, firstPart, nextPart } from "../cited-text.ts";
import { endPiece, startPiece } from "./piece-block.ts";
import { addPiece, type Message, type Out, type Piece, type State } from "./state.ts";

/** A new text block: one of its own, or what may be part of the text in front of it. */
export function addTextPiece(state: State, message: Message): Piece {
  const before = message.pieces.at(-1);
  const piece = addPiece(message, "text", state.prefix);
  const head = before?.head ?? before;
  if (head?.type !== "text" || !head.isStarted || head.isEnded || head.part !== undefined) return piece;
  if (!head.isStopped && !head.isConfirmed) return piece;
  head.whole ??= firstPart(head.text, head.citations);
  piece.head = head;
  piece.part = nextPart(head.whole);
  return piece;
}

export function appendText(state: State, out: Out, piece: Piece, delta: string): void {
  if (delta === "" || piece.isEnded) return;
  const { head, part } = piece;
  if (head !== undefined && part !== undefined) return write(out, head, addText(part, delta));
  if (!piece.isStarted) startPiece(state, out, piece, {});
  write(out, piece, delta);
}

export function keepCitation(out: Out, piece: Piece, citation: JsonObject): void {
  const { head, part } = piece;
  if (head === undefined || part === undefined) piece.citations.push(citation);
  else write(out, head, addCitation(part, citation));
}

function write(out: Out, piece: Piece, text: string): void {
  if (text === "") return;
  piece.text += text;
  out.push({ type: "block-append", key: piece.key, text });
}

interface TextEnd {
  readonly said: string;
  readonly citations: readonly Json[];
  readonly reason?: Reason | undefined;
  readonly at?: number | undefined;
}

/** The text block is whole. One that was cut ends its text; otherwise the next may be part of it. */
export function finishText(state: State, out: Out, piece: Piece, end: TextEnd): void {
  const text = piece.part === undefined ? piece : finishPart(state, out, piece, end);
  if (text === piece) {
    if (!piece.isStarted) startPiece(state, out, piece, {}, end.said, "text", "model", end.at);
    piece.whole = firstPart(end.said, end.citations);
  }
  text.lastAt = end.at ?? text.lastAt;
  piece.message.held = text;
  if (end.reason !== undefined) releaseText(out, piece.message, end.reason);
}

/** What the part belongs to: the text before, or itself. */
function finishPart(state: State, out: Out, piece: Piece, { said, citations, at }: TextEnd): Piece {
  const { head, part } = piece;
  if (head?.whole === undefined || part === undefined) return piece;
  const written = part.isJoined ? part.text : "";
  part.text = said;
  part.citations = [...citations];
  piece.part = undefined;
  if (endPart(head.whole, part)) {
    piece.isEnded = true;
    // What was written of it otherwise is set right with the end of the whole text.
    if (said.startsWith(written)) write(out, head, said.slice(written.length));
    return head;
  }
  piece.head = undefined;
  endText(out, head, undefined);
  if (said === "") piece.isEnded = true;
  else startPiece(state, out, piece, {}, said, "text", "model", at);
  return piece;
}

/** A part whose line has not come, when its block has stopped: what was streamed is what it says. */
export function stopPart(state: State, out: Out, piece: Piece): void {
  const { head, part } = piece;
  if (head?.whole === undefined || part === undefined) return;
  const text = finishPart(state, out, piece, { said: part.text, citations: part.citations });
  if (text === piece) piece.whole = firstPart(piece.text, []);
}

/** The message was cut inside a part: what was held back of it stands at the end of the text before. */
export function cutPart(out: Out, piece: Piece, reason: Reason): void {
  const { head, part } = piece;
  piece.isEnded = true;
  piece.part = undefined;
  if (head?.whole === undefined || part === undefined || head.isEnded) return;
  if (reason !== "retracted") head.whole.text += part.text;
  endText(out, head, reason === "retracted" ? undefined : reason);
}

/** Nothing more will be part of the text that is held, but what is being streamed: that ends it, or is ended with its message. */
export function releaseText(out: Out, message: Message, reason?: Reason): void {
  const { held } = message;
  if (held === undefined || message.pieces.some(({ part }) => part !== undefined)) return;
  endText(out, held, reason);
}

function endText(out: Out, piece: Piece, reason: Reason | undefined): void {
  if (piece.message.held === piece) piece.message.held = undefined;
  const { whole } = piece;
  const said = whole?.text ?? piece.text;
  const metadata = citationMetadata(whole?.cited ?? []);
  endPiece(out, piece, reason === undefined ? "done" : "error", reason, said, metadata, piece.lastAt);
  piece.whole = undefined;
}

/** A text whose line has not come ends with its message. */
export function settleText(out: Out, piece: Piece, reason: Reason | undefined): void {
  piece.whole ??= firstPart(piece.text, piece.citations);
  endText(out, piece, reason);
}
