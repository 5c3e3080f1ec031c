/** What the tools of access take and answer. Schemas only, and nothing of Node: programs that call them see these types. */

import { contract, jsonField } from "@blockyard/kernel";
import { z } from "zod";
import { AUDIT_ENTRIES } from "./limits.ts";

const name = z.string().min(1).max(64);

export const tokenCreate = contract({
  name: "token.create",
  input: z.strictObject({ agent: name, role: z.enum(["agent", "viewer"]).default("agent") }),
  output: z.object({ token: z.string() }),
});

export const tokenRevoke = contract({
  name: "token.revoke",
  input: z.strictObject({ agent: name }),
  output: z.object({ revoked: z.number().int() }),
});

const sessionSchema = z.object({
  id: z.string(),
  name: z.string(),
  role: z.string(),
  agent: z.string(),
  created_at: z.number(),
  expires_at: z.number(),
});

export const sessionList = contract({
  name: "session.list",
  input: z.strictObject({}),
  output: z.object({ sessions: z.array(sessionSchema) }),
});

export const sessionRevoke = contract({
  name: "session.revoke",
  input: z.strictObject({ id: z.string().min(1).max(64) }),
  output: z.object({ revoked: z.boolean() }),
});

const entrySchema = z.object({
  id: z.number().int(),
  at: z.number().describe("Wall clock, milliseconds"),
  agent: z.string(),
  role: z.string(),
  by: z.string().describe("How the request was made: page, token, cookie, command"),
  action: z.string(),
  details: z.record(z.string(), jsonField),
});

export const auditList = contract({
  name: "audit.list",
  input: z.strictObject({
    action: z.string().min(1).max(80).optional().describe("Only this action, such as command.run"),
    agent: z.string().min(1).max(64).optional().describe("Only entries by this agent"),
    since: z.number().min(0).optional().describe("Wall clock, milliseconds"),
    before: z.number().int().min(1).optional().describe("Only entries with a smaller id: the next page"),
    limit: z.number().int().min(1).max(AUDIT_ENTRIES).default(100),
  }),
  output: z.object({ entries: z.array(entrySchema) }),
});

/** What the owner can request of access. */
export const accessContracts = [tokenCreate, tokenRevoke, sessionList, sessionRevoke, auditList] as const;
