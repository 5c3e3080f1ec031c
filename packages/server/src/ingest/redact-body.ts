/**
 * Removes secrets from ingested and imported data before anything of it is stored, including the raw lines. Off unless
 * BLOCKYARD_REDACT_INGEST is set: what is removed is gone for good.
 *
 * A line is JSON, or an event whose data is JSON, or a text. Ids stay, or a result would not find its call. A text that
 * a provider splits over several lines has no shape here: its blocks are checked as they grow (event-redactor.ts), and
 * `withoutPieces` removes it from the raw lines.
 */

import { type Json, jsonText } from "@blockyard/kernel/plain";
import { redactField, redactId, redactKey, redactText, type Seen } from "../system/redact.ts";
import { REDACTED_LINE_CHARS } from "./limits.ts";

/** Values that providers need back byte for byte, and ids, which lose only certain secrets. */
const SEALED = /^(signature|encrypted_content|opaque|blob)$/;
const ID = /^(id|uuid|type|role|model|conversation|head|run|turn|.*(_id|Id|_uuid|Uuid))$/;
/** Marks an object as a piece: `content_block_delta`, `item/agentMessage/delta`, `agent_message_chunk` … */
const PIECE_NAMES = ["type", "method", "sessionUpdate", "object"];
const PIECE = /(delta|chunk)$/i;
/** … and the fields of it that stay besides the usual ones. */
const KEPT_OF_PIECES = /^(method|jsonrpc|sessionUpdate|object|stop_reason|finish_reason|dir)$/;

export async function* redactBody(
  body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let line: string[] = [];
  let chars = 0;
  for await (const bytes of body) {
    const [first = "", ...rest] = decoder.decode(bytes, { stream: true }).split("\n");
    line.push(first);
    chars += first.length;
    if (rest.length > 0) {
      const next = rest.pop() ?? "";
      const lines = [line.join(""), ...rest];
      yield Buffer.from(lines.map((each) => `${redactRaw(each)}\n`).join(""));
      line = [next];
      chars = next.length;
    }
    if (chars <= REDACTED_LINE_CHARS) continue;
    yield Buffer.from(redactText(line.join(""), () => undefined));
    line = [];
    chars = 0;
  }
  const rest = line.join("") + decoder.decode();
  if (rest !== "") yield Buffer.from(redactRaw(rest));
}

/** A line without its secrets; the same line if there are none. `found` may keep one, as in redactText. */
export function redactRaw(line: string, found: Seen = () => undefined): string {
  const parsed = parseLine(line);
  if (parsed === undefined) return redactText(line, found);
  const clean = redactJson(parsed.value, found);
  return clean === parsed.value ? line : `${parsed.prefix}${JSON.stringify(clean)}`;
}

/** A value without its secrets; the same value if there are none. */
export function redactJson<T extends Json>(value: T, found: Seen = () => undefined): T {
  const seen = { any: false };
  const told: Seen = (name, secret) => {
    const isTaken = found(name, secret);
    if (isTaken !== false) seen.any = true;
    return isTaken;
  };
  const clean = without("", value, told);
  return seen.any ? (clean as T) : value;
}

/** Bytes of a log that is not a text as a whole: each becomes a character of its own here. */
function redactBase64(text: string, found: Seen): string {
  const bytes = Buffer.from(text, "base64").toString("latin1");
  const clean = redactText(bytes, found);
  return clean === bytes ? text : Buffer.from(clean, "latin1").toString("base64");
}

/** A raw line without its share of a text that comes in pieces: no piece of a secret is recognizable. */
export function withoutPieces(line: string): string {
  const parsed = parseLine(line);
  if (parsed === undefined) return line;
  const seen = { any: false };
  const clean = blanked(parsed.value, false, seen);
  return seen.any ? `${parsed.prefix}${JSON.stringify(clean)}` : line;
}

function parseLine(line: string): { readonly prefix: string; readonly value: Json } | undefined {
  const prefix = /^data: ?/.exec(line)?.[0] ?? "";
  try {
    return { prefix, value: JSON.parse(line.slice(prefix.length)) as Json };
  } catch {
    return undefined;
  }
}

function without(key: string, value: Json, found: Seen): Json {
  if (Array.isArray(value)) return value.map((item: Json) => without(key, item, found));
  if (typeof value === "object" && value !== null) {
    const clean: Record<string, Json> = Object.create(null);
    for (const [name, item] of Object.entries(value))
      clean[redactKey(name, clean, found)] = without(name, item, found);
    return Object.fromEntries(Object.entries(clean));
  }
  if (typeof value !== "string" || SEALED.test(key)) return value;
  if (ID.test(key)) return redactId(value, found);
  return key === "base64" ? redactBase64(value, found) : redactField(key, value, found);
}

function blanked(value: Json, isPiece: boolean, seen: { any: boolean }): Json {
  if (Array.isArray(value)) return value.map((item: Json) => blanked(item, isPiece, seen));
  if (typeof value === "string") {
    if (!isPiece || value === "") return value;
    seen.any = true;
    return "";
  }
  if (typeof value !== "object" || value === null) return value;
  const object = value as Readonly<Record<string, Json>>;
  const isOne = isPiece || PIECE_NAMES.some((name) => PIECE.test(jsonText(object[name] ?? "")));
  const fields = Object.entries(object).map(([name, item]) => {
    const isKept =
      typeof item === "string" && (SEALED.test(name) || ID.test(name) || KEPT_OF_PIECES.test(name));
    return [name, isKept ? item : blanked(item, isOne || name === "delta", seen)] as const;
  });
  return Object.fromEntries(fields);
}
