/**
 * JSON of a long answer, made piece by piece: JSON.stringify of a megabyte holds the thread for ten milliseconds, and in between
 * the pieces others may have it. The text is the same.
 */
import { JSON_LEAF_CHARS, JSON_PIECE_CHARS } from "./limits.ts";

/** Whether a value's text has at most this many characters, ignoring escapes. Reads no further than that. */
export function isWithin(value: unknown, chars: number): boolean {
  return roomLeft(value, chars) >= 0;
}

/** `rest`: waits until the next piece may be made. */
export async function slicedJson(value: unknown, rest: () => Promise<void>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let held: string[] = [];
  let chars = 0;
  for (const piece of jsonPieces(value)) {
    held.push(piece);
    chars += piece.length;
    if (chars < JSON_PIECE_CHARS) continue;
    pieces.push(Buffer.from(held.join("")));
    held = [];
    chars = 0;
    await rest();
  }
  pieces.push(Buffer.from(held.join("")));
  return Buffer.concat(pieces);
}

function* jsonPieces(value: unknown): Generator<string> {
  if (isWithin(value, JSON_PIECE_CHARS)) yield JSON.stringify(value) ?? "null";
  else if (typeof value === "string") yield* textPieces(value);
  else if (Array.isArray(value)) yield* listPieces(value);
  else yield* fieldPieces(value as Readonly<Record<string, unknown>>);
}

function* textPieces(text: string): Generator<string> {
  yield '"';
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + JSON_PIECE_CHARS);
    if (isHighSurrogate(text.charCodeAt(end - 1)) && end < text.length) end--;
    yield JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
  }
  yield '"';
}

function* listPieces(items: readonly unknown[]): Generator<string> {
  yield "[";
  for (const [i, item] of items.entries()) {
    if (i > 0) yield ",";
    yield* jsonPieces(item);
  }
  yield "]";
}

function* fieldPieces(fields: Readonly<Record<string, unknown>>): Generator<string> {
  yield "{";
  let isFirst = true;
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    yield `${isFirst ? "" : ","}${JSON.stringify(key)}:`;
    isFirst = false;
    yield* jsonPieces(value);
  }
  yield "}";
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function roomLeft(value: unknown, room: number): number {
  if (typeof value === "string") return room - value.length - 2;
  if (typeof value !== "object" || value === null) return room - JSON_LEAF_CHARS;
  let left = room - 2;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && left >= 0; i++) left = roomLeft(value[i], left);
    return left;
  }
  for (const key in value) {
    if (left < 0) break;
    left = roomLeft((value as Readonly<Record<string, unknown>>)[key], left - key.length - 4);
  }
  return left;
}
