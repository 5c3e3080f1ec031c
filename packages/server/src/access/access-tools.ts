/**
 * The tools of access: tokens of agents and viewers, sessions of browsers, and the audit log. They are the owner's alone, and
 * the log is only read.
 */

import { type AuditLog, type Call, problem, type Tool, tool } from "@blockyard/kernel";
import { z } from "zod";
import { type Auth, AuthError } from "./auth.ts";

const MOST = 1_000;
const name = z.string().min(1).max(64);

export function accessTools(auth: Auth, entries: AuditLog): readonly Tool<never, unknown>[] {
  const create = tool({
    name: "token.create",
    description: "Make a token for an agent or a viewer. It is shown once; only its hash is kept.",
    access: "owner",
    sensitive: () => true,
    input: z.strictObject({ agent: name, role: z.enum(["agent", "viewer"]).default("agent") }),
    output: z.object({ token: z.string() }),
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
    name: "token.revoke",
    description: "Take back every token of an agent or viewer. Answers with how many there were.",
    access: "owner",
    sensitive: () => true,
    input: z.strictObject({ agent: name }),
    output: z.object({ revoked: z.number().int() }),
    async run(_call: Call, { agent }) {
      return { revoked: auth.revoke(agent) };
    },
  });

  const sessions = tool({
    name: "session.list",
    description: "The browsers that this server has let in, newest first.",
    access: "owner",
    input: z.strictObject({}),
    output: z.object({ sessions: z.array(sessionSchema) }),
    async run() {
      return {
        sessions: auth.sessions.list().map(({ id, name: called, role, agent, createdAt, expiresAt }) => ({
          ...{ id, name: called, role, agent, created_at: createdAt, expires_at: expiresAt },
        })),
      };
    },
  });

  const end = tool({
    name: "session.revoke",
    description:
      "Put one browser out, at every node: its next request is refused, and what it has open is cut.",
    access: "owner",
    sensitive: () => true,
    input: z.strictObject({ id: z.string().min(1).max(64) }),
    output: z.object({ revoked: z.boolean() }),
    async run({ kernel }: Call, { id }) {
      // Of another node's the entry in the audit log is what ends it: every node reads that.
      const isElsewhere = kernel.store.nodes !== undefined && !auth.sessions.isOwn(id);
      if (auth.sessions.revoke(id) || isElsewhere) return { revoked: true };
      return problem("not_found", `there is no session ${id}`);
    },
  });

  const list = tool({
    name: "audit.list",
    description:
      "What was allowed, run, granted, imported and revoked, by whom and when, newest first. Entries are written before the " +
      "deed, and nothing changes or removes one.",
    access: "owner",
    input: z.strictObject({
      action: z.string().min(1).max(80).optional().describe("Only this, such as command.run"),
      agent: z.string().min(1).max(64).optional().describe("Only what this one did"),
      since: z.number().min(0).optional().describe("Wall clock, milliseconds"),
      before: z.number().int().min(1).optional().describe("Only entries with a smaller id: the next page"),
      limit: z.number().int().min(1).max(MOST).default(100),
    }),
    output: z.object({ entries: z.array(entrySchema) }),
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

  return [create, revoke, sessions, end, list] as unknown as readonly Tool<never, unknown>[];
}

const sessionSchema = z.object({
  id: z.string(),
  name: z.string(),
  role: z.string(),
  agent: z.string(),
  created_at: z.number(),
  expires_at: z.number(),
});

const entrySchema = z.object({
  id: z.number().int(),
  at: z.number().describe("Wall clock, milliseconds"),
  agent: z.string(),
  role: z.string(),
  by: z.string().describe("How it came in: page, token, cookie, command"),
  action: z.string(),
  details: z.record(z.string(), z.unknown()),
});
