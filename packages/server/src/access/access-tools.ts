/**
 * The tools of access: tokens of agents and viewers, sessions of browsers, and the audit log. They are the owner's alone, and
 * the log is only read.
 */

import { type AuditLog, type Call, problem, tool } from "@blockyard/kernel";
import type { Auth } from "./auth.ts";
import { AuthError } from "./auth-error.ts";
import { auditList, sessionList, sessionRevoke, tokenCreate, tokenRevoke } from "./contract.ts";

export function accessTools(auth: Auth, entries: AuditLog) {
  return [...tokenTools(auth), ...sessionTools(auth), auditTool(entries)] as const;
}

function tokenTools(auth: Auth) {
  const create = tool({
    ...tokenCreate,
    description: "Create a token for an agent or a viewer. It is shown once; only its hash is stored.",
    access: "owner",
    sensitive: () => true,
    async run(_call: Call, { agent, role }) {
      try {
        return { token: auth.create(agent, role) };
      } catch (error) {
        if (error instanceof AuthError) return problem("invalid", error.message);
        throw error;
      }
    },
  });

  const revoke = tool({
    ...tokenRevoke,
    description: "Revoke all tokens of an agent or viewer. Returns how many there were.",
    access: "owner",
    sensitive: () => true,
    async run(_call: Call, { agent }) {
      return { revoked: auth.revoke(agent) };
    },
  });

  return [create, revoke] as const;
}

function sessionTools(auth: Auth) {
  const sessions = tool({
    ...sessionList,
    description: "List the browsers that are signed in, newest first.",
    access: "owner",
    async run() {
      return {
        sessions: auth.sessions.list().map(({ id, name: called, role, agent, createdAt, expiresAt }) => ({
          ...{ id, name: called, role, agent, created_at: createdAt, expires_at: expiresAt },
        })),
      };
    },
  });

  const end = tool({
    ...sessionRevoke,
    description:
      "Sign one browser out, at every node: its connections close and its next request is refused.",
    access: "owner",
    sensitive: () => true,
    async run({ kernel }: Call, { id }) {
      // For another node's, its entry in the audit log ends it: every node reads that.
      const isElsewhere = kernel.store.nodes !== undefined && !auth.sessions.isOwn(id);
      if (auth.sessions.revoke(id) || isElsewhere) return { revoked: true };
      return problem("not_found", `there is no session ${id}`);
    },
  });

  return [sessions, end] as const;
}

function auditTool(entries: AuditLog) {
  return tool({
    ...auditList,
    description:
      "Read the audit log: what was allowed, run, granted, imported and revoked, by whom and when, newest first. Entries are written before the " +
      "action, and are never changed or removed.",
    access: "owner",
    async run(_call: Call, { action, agent, since, before, limit }) {
      const found = await entries.read({
        ...{ order: "last", limit },
        ...(action === undefined ? {} : { action }),
        ...(agent === undefined ? {} : { agent }),
        ...(since === undefined ? {} : { since }),
        ...(before === undefined ? {} : { before }),
      });
      return { entries: found };
    },
  });
}
