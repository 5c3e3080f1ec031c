/**
 * What one delta of a chat completion says, whoever speaks the format: vendors put reasoning, images and usage into
 * fields of their own, and content may be a text or a list of parts.
 *
 * Pure readers; which block a text goes to is chat.ts's matter.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { listOf, objectOf, textOf, wordsOf } from "../read.ts";

/** Vendors' names for reasoning; one chunk may carry the same text under two of them. */
export function thinkingText(delta: JsonObject): string {
  const plain = wordsOf(delta.reasoning_content) ?? wordsOf(delta.reasoning) ?? wordsOf(delta.thinking);
  if (plain !== undefined) return plain;
  const details = listOf(delta.reasoning_details)
    .map((detail) => textOf(objectOf(detail).text) ?? textOf(objectOf(detail).summary) ?? "")
    .join("");
  return details === "" ? listOf(delta.content).map(thinkingPart).join("") : details;
}

/** Mistral's reasoning is a part of the content that holds parts. */
function thinkingPart(native: Json): string {
  const part = objectOf(native);
  if (part.type !== "thinking") return "";
  return textOf(part.thinking) ?? contentText(part.thinking);
}

export function contentText(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((part) => textOf(objectOf(part).text) ?? textOf(objectOf(part).refusal) ?? "")
    .join("");
}

/** Parts that are no text, no reasoning and no image, each with its type. */
export function unknownParts(content: Json | undefined): readonly (readonly [Json, string])[] {
  return listOf(content).flatMap((native) => {
    const part = objectOf(native);
    if (typeof part.text === "string" || typeof part.refusal === "string") return [];
    if (imageOf(native) !== undefined || thinkingPart(native) !== "") return [];
    return [[native, `content/${textOf(part.type) ?? "(no type)"}`] as const];
  });
}

/** Generated images: beside the content, or among its parts. */
export function imagesOf(delta: JsonObject): readonly JsonObject[] {
  const images = [...listOf(delta.content), ...listOf(delta.images)].map(imageOf);
  return images.filter((image) => image !== undefined);
}

function imageOf(native: Json): JsonObject | undefined {
  const part = objectOf(native);
  const url = wordsOf(objectOf(part.image_url).url) ?? wordsOf(part.image_url);
  return url === undefined ? undefined : imageMetadata(url);
}

/** An address that holds the image itself is kept as its data. */
export function imageMetadata(url: string): JsonObject {
  const inline = /^data:([\w.+/-]+);base64,/.exec(url);
  if (inline === null) return { url };
  return { mediaType: inline[1] as string, data: url.slice(inline[0].length) };
}

/** Usage stands in the event; with some vendors in a corner of it. */
export function usageOf(event: JsonObject): JsonObject | undefined {
  const places = [
    event.usage,
    objectOf(event.x_groq).usage,
    ...listOf(event.choices).map((choice) => objectOf(choice).usage),
  ];
  return places.find(isObject);
}

/** What went wrong, where an event says so: for the whole answer or for one choice. */
export function errorOf(event: JsonObject): Json | undefined {
  const errors = [event.error, ...listOf(event.choices).map((choice) => objectOf(choice).error)];
  return errors.find((error) => isObject(error) || wordsOf(error) !== undefined);
}
