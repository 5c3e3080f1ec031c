/**
 * What one delta of a chat completion says, whoever speaks the format: vendors put reasoning, images and usage into
 * fields of their own, and content may be a text or a list of parts.
 *
 * Pure readers; which block a text goes to is chat.ts's matter.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { given, listOf, numberOf, objectOf, textOf, wordsOf } from "../read.ts";

/** Vendors' names for reasoning, and those that they will come up with; the last word tells what is no text of it. */
const THOUGHT = /^(reasoning|thinking|thoughts?)(_|$)/;
const SEALED = /_(opaque|signature|encrypted\w*|data)$/;
const ABOUT = /_(id|ids|effort|format|tokens|type|status)$/;

/** One chunk may carry the same text under two names. */
export function thinkingText(delta: JsonObject): string {
  const named = thoughtFields(delta).filter(([name]) => !SEALED.test(name) && !ABOUT.test(name));
  const plain = named.map(([, value]) => wordsOf(value)).find((text) => text !== undefined);
  if (plain !== undefined) return plain;
  const listed = named.map(([, value]) => listOf(value).map(detailText).join(""));
  return listed.find((text) => text !== "") ?? listOf(delta.content).map(thinkingPart).join("");
}

function thoughtFields(delta: JsonObject): readonly (readonly [string, Json])[] {
  const found: (readonly [string, Json])[] = [];
  for (const name in delta) if (THOUGHT.test(name)) found.push([name, delta[name] ?? null]);
  return found;
}

/** A step of the reasoning, or a piece of it. */
function detailText(native: Json): string {
  const { text, summary, thinking, thought } = objectOf(native);
  return [text, summary, thinking, thought].map(wordsOf).find((words) => words !== undefined) ?? "";
}

export interface Seal {
  readonly signature?: string;
  readonly opaque?: string;
}

/** What seals the reasoning: a signature of its text, or the reasoning itself where nobody can read it. */
export function sealOf(delta: JsonObject): Seal {
  const fields = thoughtFields(delta);
  if (fields.length === 0) return {};
  const details = fields.flatMap(([, value]) => listOf(value).map(objectOf));
  const sealed = fields.filter(([name]) => SEALED.test(name));
  const signatures = [
    ...details.map(({ signature }) => signature),
    ...sealed.filter(([name]) => name.endsWith("signature")).map(([, value]) => value),
  ];
  const opaque = [
    ...details.map(({ data, encrypted_content }) => data ?? encrypted_content),
    ...sealed.filter(([name]) => !name.endsWith("signature")).map(([, value]) => value),
  ];
  return given({ signature: joined(signatures), opaque: joined(opaque) });
}

/** Gemini's reasoning is marked content in tags; the one that ends it stands in front of the answer. */
export function thoughtApart(delta: JsonObject, isThinking: boolean): JsonObject {
  const content = textOf(delta.content) ?? "";
  const isThought = objectOf(objectOf(delta.extra_content).google).thought === true;
  if (!isThought && !(isThinking && content.startsWith("</thought>"))) return delta;
  const parts = /^(?:<thought>)?([\s\S]*?)(?:<\/thought>([\s\S]*))?$/.exec(content);
  return { ...delta, reasoning: parts?.[1] ?? "", content: parts?.[2] ?? "" };
}

function joined(pieces: readonly (Json | undefined)[]): string | undefined {
  return wordsOf(pieces.map((piece) => textOf(piece) ?? "").join(""));
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
    if (part.type === "reference") return [];
    return [[native, `content/${textOf(part.type) ?? "(no type)"}`] as const];
  });
}

/** Generated images: beside the content, or among its parts. */
export function imagesOf(delta: JsonObject): readonly JsonObject[] {
  const images = [...listOf(delta.content), ...listOf(delta.images)].map(imageOf);
  return images.filter((image) => image !== undefined);
}

/** The image that a part is, or holds. */
export function imageOf(native: Json): JsonObject | undefined {
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

/** What it cost, where the vendor says so: a sum, or a bill that has one. */
export function costOf(usage: JsonObject | undefined): number | undefined {
  const cost = usage?.cost;
  return numberOf(cost) ?? numberOf(objectOf(cost).total_cost);
}

/** Web pages that the answer rests on, as some vendors list them once for all of it. */
export function sourcesOf(event: JsonObject): readonly Json[] {
  const lists = [event.search_results, event.web_search, event.citations].map(listOf);
  return lists.find((list) => list.length > 0) ?? [];
}

/** What went wrong, where an event says so: for the whole answer or for one choice. */
export function errorOf(event: JsonObject): Json | undefined {
  const errors = [event.error, ...listOf(event.choices).map((choice) => objectOf(choice).error)];
  const status = objectOf(event.base_resp);
  const isRefused = (numberOf(status.status_code) ?? 0) !== 0;
  return [...errors, isRefused ? status : undefined].find(
    (error) => isObject(error) || wordsOf(error) !== undefined,
  );
}

/** How an answer ended, by the vendor's word for it. */
export function endingOf(finish: string): "whole" | "truncated" | "failed" | "cancelled" {
  if (/length|max_?(\w+_)?tokens|context_window/i.test(finish)) return "truncated";
  if (/cancel|abort/i.test(finish)) return "cancelled";
  return /error|fail|time_?d?_?out|insufficient|overload/i.test(finish) ? "failed" : "whole";
}
