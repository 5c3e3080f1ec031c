/**
 * What each role may do, in one table, for every tool, stream, upload and frame. Anything not in it is not allowed: a
 * new role may do nothing until it has its row. rights.ts decides whose blocks and conversations an agent may change.
 */

import { type Problem, problem } from "../model/problem.ts";

export const CALLER_ROLES = ["owner", "agent", "viewer"] as const;
export type CallerRole = (typeof CALLER_ROLES)[number];

/** What a tool does: it reads, it writes, or it decides for the owner. */
export type Access = "read" | "write" | "owner";

/**
 * Tools by their access; `edit`: frames with edits of an open editor; `upload`: pictures and other bodies that are kept; `ingest`: an
 * agent's stream; `import`: sessions and exports; `present`: what it holds stays open while it is connected or calls.
 */
export type Right = Access | "edit" | "upload" | "ingest" | "import" | "present";

const RIGHTS: Readonly<Record<CallerRole, readonly Right[]>> = {
  owner: ["read", "write", "owner", "edit", "upload", "ingest", "import", "present"],
  agent: ["read", "write", "edit", "upload", "ingest", "present"],
  viewer: ["read"],
};

export function may(role: CallerRole, right: Right): boolean {
  return Object.hasOwn(RIGHTS, role) && RIGHTS[role].includes(right);
}

/** Why a role may not do something, where it may not. */
export function mayNot(role: CallerRole, right: Right): Problem | undefined {
  if (may(role, right)) return undefined;
  const why = role === "viewer" ? "viewers can only read" : `the role ${role} does not allow this`;
  return problem("forbidden", why, { role });
}
