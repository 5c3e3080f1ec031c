/**
 * The block that a piece of a message is: its one start and its one end.
 */

import type { JsonObject, Reason } from "@blockyard/kernel";
import type { Out, Piece, State } from "./state.ts";
import { currentTurn } from "./turn.ts";

export function startPiece(
  state: State,
  out: Out,
  piece: Piece,
  metadata: JsonObject,
  said?: string,
  kind: "text" | "thinking" | "error" = piece.type === "thinking" ? "thinking" : "text",
  role: "model" | "system" = kind === "error" ? "system" : "model",
  at?: number,
): void {
  const { message } = piece;
  piece.isStarted = true;
  piece.text = said ?? "";
  currentTurn(state, out, message.scope).hasSpoken = true;
  out.push({
    type: "block-start",
    key: piece.key,
    ...(message.scope.parent === undefined ? {} : { parent: message.scope.parent }),
    kind,
    role,
    metadata: {
      messageId: message.id,
      index: piece.index,
      ...(message.scope.label === undefined ? {} : { label: message.scope.label }),
      ...metadata,
    },
    ...(said === undefined || said === "" ? {} : { text: said }),
    ...(at === undefined ? {} : { at }),
  });
}

export function endPiece(
  out: Out,
  piece: Piece,
  status: "done" | "error",
  reason?: Reason,
  said?: string,
  metadata?: JsonObject,
  at?: number,
): void {
  if (piece.isEnded) return;
  piece.isEnded = true;
  out.push({
    type: "block-end",
    key: piece.key,
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(said === undefined || said === piece.text ? {} : { text: said }),
    ...(metadata === undefined || Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(at === undefined ? {} : { at }),
  });
  piece.text = "";
  piece.citations = [];
}
