/**
 * Earlier sessions of a conversation. A fork, another folder or a failed resume starts a new session; the log of the
 * earlier one is still on disk, and its turns are here.
 */

import type { Conversation } from "./conversation.ts";
import type { JsonObject } from "./json.ts";
import { limits } from "./limits.ts";

interface HasSessions {
  readonly sessions: Conversation["sessions"];
  readonly metadata: { readonly [key: string]: unknown };
}

/** What `pastSessions` in the metadata becomes when another session of the provider begins; undefined: it has had none. */
export function pastSessions(record: HasSessions, provider: string): JsonObject | undefined {
  const last = record.sessions[provider];
  if (last === undefined) return undefined;
  const past = pastOf(record);
  const others = (past[provider] ?? []).filter((id) => id !== last);
  return { ...past, [provider]: [...others, last].slice(-limits.pastSessions) };
}

/** Provider and session of all that it has and had. */
export function everySession(record: HasSessions): readonly (readonly [string, string])[] {
  const past = Object.entries(pastOf(record)).flatMap(([provider, ids]) =>
    ids.map((id) => [provider, id] as const),
  );
  return [...past, ...Object.entries(record.sessions)];
}

/** Metadata may be anybody's: what is no list of names counts as none. */
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
