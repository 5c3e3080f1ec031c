/**
 * The earlier provider sessions of a conversation. A fork, a change of folder, or a session that cannot be resumed starts a new
 * one; the old session's log is still on disk, and its turns are in this conversation.
 */

import type { Conversation } from "./conversation.ts";
import type { JsonObject } from "./json.ts";
import { limits } from "./limits.ts";

interface HasSessions {
  readonly sessions: Conversation["sessions"];
  readonly metadata: { readonly [key: string]: unknown };
}

/** The new value of `pastSessions` when another session of the provider begins; undefined if it had none. */
export function pastSessions(record: HasSessions, provider: string): JsonObject | undefined {
  const last = record.sessions[provider];
  if (last === undefined) return undefined;
  const past = pastOf(record);
  const others = (past[provider] ?? []).filter((id) => id !== last);
  return { ...past, [provider]: [...others, last].slice(-limits.pastSessions) };
}

/** Provider and id of all current and earlier sessions. */
export function everySession(record: HasSessions): readonly (readonly [string, string])[] {
  const past = Object.entries(pastOf(record)).flatMap(([provider, ids]) =>
    ids.map((id) => [provider, id] as const),
  );
  return [...past, ...Object.entries(record.sessions)];
}

/** Any program may write metadata: anything but a list of strings is ignored. */
function pastOf({ metadata }: HasSessions): { readonly [provider: string]: readonly string[] } {
  const past = metadata.pastSessions;
  if (typeof past !== "object" || past === null) return {};
  return Object.fromEntries(
    Object.entries(past).map(([provider, ids]) => [
      provider,
      Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [],
    ]),
  );
}
