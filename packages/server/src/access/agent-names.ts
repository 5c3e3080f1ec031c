/**
 * Reserved names: those that the server writes under, and those of the agents that it runs or whose streams it reads.
 * No token and no import may use the first; no token the second, because an agent controls the blocks under its name.
 */

import { PROVIDER_NAMES as NAMES } from "@blockyard/providers/names";

export const RESERVED: readonly string[] = ["blockyard", "disk"];

/** Names that a reader, or a model, would take for the person at the page or for a part of a conversation. No token gets one. */
export const MISLEADING: ReadonlySet<string> = new Set([
  ...["owner", "user", "you", "me", "human", "person", "admin", "root"],
  ...["system", "assistant", "model", "tool", "server"],
]);

/** Each provider is also the name that its agent writes under. */
export const PROVIDER_NAMES: ReadonlySet<string> = new Set(NAMES);
