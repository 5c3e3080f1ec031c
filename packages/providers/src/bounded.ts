/**
 * Holds block events within what a block may carry: metadata and text of a bounded size.
 *
 * Adapters need not think of it: every event passes here once. An ordinary event passes unchanged; an oversized one
 * loses its largest optional keys, named in `extra.omitted`, never a required one. Prototype keys are the kernel's
 * matter, which copies all metadata without them; here they are only left out of what is made smaller.
 */

import { type BlockEvent, cleanJson, type Json, type JsonObject, limits } from "@blockyard/kernel";
import { bounds, CUT_CHARS } from "./limits.ts";

/** Required strings of some kinds are cut instead of dropped. */
const CUT = new Set(["command", "toolName", "toolUseId", "path"]);

/** `isShort`: it comes from one short line; then only values that add up over lines, a tool's input, can be too long. */
export function bounded(event: BlockEvent, isShort = false): BlockEvent {
  if (event.type === "block-append" || event.type === "session" || event.type === "turn-start") return event;
  if (isShort && !("metadata" in event && event.metadata?.input !== undefined)) return event;
  if (event.type === "turn-end" || event.type === "message-usage") {
    if (event.native === undefined || fits(event.native, bounds.metadataChars)) return event;
    const { native: _, ...rest } = event;
    return rest;
  }
  const sized = event.type === "block-meta" ? event : withText(event);
  const metadata = sized.metadata;
  if (metadata === undefined || fits(metadata, bounds.metadataChars)) return sized;
  return { ...sized, metadata: shrink(metadata) };
}

function withText<E extends Extract<BlockEvent, { type: "block-start" | "block-end" }>>(event: E): E {
  if (event.text === undefined || event.text.length <= bounds.textChars) return event;
  const truncatedChars = event.text.length - bounds.textChars;
  return {
    ...event,
    text: event.text.slice(0, bounds.textChars),
    metadata: { ...event.metadata, truncatedChars },
  };
}

/** Whether the value is surely within `max` characters of JSON. */
function fits(value: Json, max: number): boolean {
  return room(value, max, limits.jsonDepth) >= 0;
}

/** The rest of `max` after the value; negative if it does not fit. */
function room(value: Json, max: number, depth: number): number {
  if (typeof value === "string") return max - value.length - 2;
  if (typeof value !== "object" || value === null) return max - 24;
  if (depth <= 0) return -1;
  let left = max - 2;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && left >= 0; i++) left = room(value[i] as Json, left - 1, depth - 1);
    return left;
  }
  // for-in creates no list of keys, and JSON has no inherited ones.
  for (const key in value) {
    left = room((value as JsonObject)[key] as Json, left - key.length - 4, depth - 1);
    if (left < 0) return left;
  }
  return left;
}

function shrink(metadata: JsonObject): JsonObject {
  const clean: Record<string, Json> = {};
  const omitted: string[] = [];
  for (const [key, value] of Object.entries(metadata)) {
    const kept = key === "__proto__" ? undefined : cleanJson(value, limits.jsonDepth - 1);
    if (kept !== undefined) clean[key] = kept;
    else if (value !== undefined) omitted.push(key);
  }
  const largestFirst = Object.keys(clean).sort((a, b) => chars(clean[b]) - chars(clean[a]));
  for (const key of largestFirst) {
    if (fits(clean, bounds.metadataChars)) break;
    omitted.push(key);
    const smaller = smallerOf(key, clean[key] as Json);
    if (smaller === undefined) delete clean[key];
    else clean[key] = smaller;
  }
  if (omitted.length === 0) return clean;
  return { ...clean, extra: { ...(clean.extra as JsonObject | undefined), omitted: omitted.sort() } };
}

/** A required key in a smaller form; undefined for an optional one. */
function smallerOf(key: string, value: Json): Json | undefined {
  if (CUT.has(key) && typeof value === "string") return value.slice(0, CUT_CHARS);
  if (key === "changes" && Array.isArray(value)) {
    return value.slice(0, 1000).map((change: Json) => {
      const { diff: _, ...rest } = change as Record<string, Json>;
      return rest;
    });
  }
  if (key === "items" && Array.isArray(value)) return value.slice(0, 100);
  return undefined;
}

function chars(value: Json | undefined): number {
  return bounds.metadataChars - room(value ?? null, bounds.metadataChars, limits.jsonDepth);
}
