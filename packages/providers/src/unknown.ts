/**
 * The `unknown` block: what an adapter does not know, kept as it came, visible and counted.
 *
 * A whole block in two events. The text is the raw event, pretty; the type is what coverage counts it under.
 */

import type { BlockEvent, BlockKey, Json } from "@blockyard/kernel";
import { isObject } from "./framing/json.ts";
import { bounds } from "./limits.ts";

/** The type that a line which is not JSON is counted under. */
export const NOISE = "(not JSON)";

export interface UnknownPlace {
  readonly key: BlockKey;
  readonly provider: string;
  readonly parent?: BlockKey | undefined;
}

/** An event of an unknown type. `type` refines the event's own type. */
export function unknownEvent(
  place: UnknownPlace,
  event: Json,
  type: string = typeOf(event),
): readonly BlockEvent[] {
  return unknownBlock(place, pretty(event), type);
}

export function noiseBlock(place: UnknownPlace, line: string): readonly BlockEvent[] {
  return unknownBlock(place, line, NOISE);
}

/** `type` or `type/subtype` of an event. */
export function typeOf(event: Json): string {
  if (!isObject(event))
    return Array.isArray(event) ? "(array)" : `(${event === null ? "null" : typeof event})`;
  const type = typeof event.type === "string" ? event.type : "(no type)";
  return typeof event.subtype === "string" ? `${type}/${event.subtype}` : type;
}

function unknownBlock(place: UnknownPlace, whole: string, type: string): readonly BlockEvent[] {
  const cut = whole.length > bounds.unknownChars;
  const text = cut ? whole.slice(0, bounds.unknownChars) : whole;
  const metadata = {
    provider: place.provider,
    type: type.slice(0, bounds.rowChars),
    ...(cut ? { truncatedChars: whole.length - text.length } : {}),
  };
  return [
    {
      type: "block-start",
      key: place.key,
      ...(place.parent === undefined ? {} : { parent: place.parent }),
      kind: "unknown",
      role: "system",
      metadata,
      text,
    },
    { type: "block-end", key: place.key, status: "done" },
  ];
}

function pretty(event: Json): string {
  return JSON.stringify(event, null, 2);
}
