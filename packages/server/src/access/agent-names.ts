/**
 * Names that mean somebody already: those that the server writes under, and those of the agents that it runs or reads
 * streams of. No token and no import speaks under the first; no token under the second, because what an agent's run wrote
 * is its own to decide over.
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
