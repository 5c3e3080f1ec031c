/**
 * What the owner has allowed others to do with guarded files: file by file, for one agent or viewer by name, or for all.
 * Nothing else is a grant: that the owner has opened a file allows nobody anything. Kept in the record of the workspace's
 * files, so that it outlives restarts and counts on every node.
 */

import type { Json, JsonObject } from "@blockyard/kernel";

/** A type, not an interface: it is stored as JSON. */
export type Grant = {
  /** From the workspace's root. */
  readonly path: string;
  /** The grantee; absent: every agent and viewer. */
  readonly agent?: string;
  readonly by: string;
  readonly at: number;
};

/** The key of the record's metadata. */
export const GRANTS = "grants";

export function grantsIn(metadata: JsonObject): readonly Grant[] {
  const kept = metadata[GRANTS];
  return Array.isArray(kept) ? (kept as readonly Json[]).filter(isGrant) : [];
}

export function isGranted(grants: readonly Grant[], agent: string, path: string): boolean {
  return grants.some((grant) => grant.path === path && (grant.agent === undefined || grant.agent === agent));
}

/** With one more; an equal one is replaced. */
export function withGrant(grants: readonly Grant[], grant: Grant): readonly Grant[] {
  return [...withoutGrant(grants, grant.path, grant.agent), grant];
}

export function withoutGrant(
  grants: readonly Grant[],
  path: string,
  agent: string | undefined,
): readonly Grant[] {
  return grants.filter((each) => each.path !== path || each.agent !== agent);
}

function isGrant(value: Json): value is Json & Grant {
  const { path, agent, by } = (value ?? {}) as Partial<Record<keyof Grant, unknown>>;
  return (
    typeof path === "string" && typeof by === "string" && (agent === undefined || typeof agent === "string")
  );
}
