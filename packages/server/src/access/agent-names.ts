/**
 * Names that mean somebody already: those that the server writes under, and those of the agents that it runs or reads
 * streams of. No token and no import speaks under the first; no token under the second, because what an agent's run wrote
 * is its own to decide over.
 */

import { providers } from "@blockyard/providers";

export const RESERVED: readonly string[] = ["blockyard", "disk"];

/** Each provider is also the name that its agent writes under. */
export const PROVIDER_NAMES: ReadonlySet<string> = new Set(providers.keys());
