/**
 * Takes secrets out of what is ingested and imported before anything of it is stored, the raw lines included. Off unless it is
 * asked for (BLOCKYARD_REDACT_INGEST): what is taken out is gone for good.
 *
 * A line is JSON, or an event whose data is JSON, or a text. Ids stay, or a result would not find its call. What a provider
 * cuts into pieces, each in a line of its own, has no shape that could be recognised.
 */

import type { Json } from "@blockyard/kernel";
import { redactField, redactText } from "../system/redact.ts";

/** A line that never ends is cut here, and its parts are looked at as texts. */
const LINE_CHARS = 16 * 1024 * 1024;
const KEPT =
  /^(id|uuid|type|role|model|signature|encrypted_content|conversation|head|run|turn|.*(_id|Id|_uuid|Uuid))$/;

export async function* redactBody(
  body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split("\n");
    rest = lines.pop() ?? "";
    if (lines.length > 0) yield Buffer.from(lines.map((line) => `${redactRaw(line)}\n`).join(""));
    if (rest.length <= LINE_CHARS) continue;
    yield Buffer.from(redactText(rest, () => undefined));
    rest = "";
  }
  rest += decoder.decode();
  if (rest !== "") yield Buffer.from(redactRaw(rest));
}

/** A line without its secrets; the same line where there are none. */
export function redactRaw(line: string): string {
  const [, prefix = "", json = ""] = /^(data: ?)?(.*)$/s.exec(line) ?? [];
  let value: Json;
  try {
    value = JSON.parse(json) as Json;
  } catch {
    return redactText(line, () => undefined);
  }
  const seen = { any: false };
  const clean = without("", value, seen);
  return seen.any ? `${prefix}${JSON.stringify(clean)}` : line;
}

function without(key: string, value: Json, seen: { any: boolean }): Json {
  if (Array.isArray(value)) return value.map((item: Json) => without(key, item, seen));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, without(name, item, seen)]));
  if (typeof value !== "string" || KEPT.test(key)) return value;
  return redactField(key, value, () => {
    seen.any = true;
  });
}
