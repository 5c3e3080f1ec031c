/** file.grant, file.revoke, file.grants: which guarded files the owner lets others read and write. */

import { type Call, isProblem, tool } from "@blockyard/kernel";
import { z } from "zod";
import { pathField } from "./file-view.ts";
import type { Files } from "./files.ts";

const agentField = z
  .string()
  .min(1)
  .max(64)
  .optional()
  .describe("For this agent or viewer alone. Default: for every one");

const grantSchema = z.object({
  path: z.string(),
  agent: z.string().optional().describe("Absent: every agent and viewer"),
  by: z.string(),
  at: z.number(),
  reason: z.string().describe("Why the file is guarded; empty where it is not any more"),
});

const output = z.object({ grants: z.array(grantSchema) });

function answer(files: Files): z.infer<typeof output> {
  return { grants: files.grants.map((grant) => ({ ...grant, reason: files.reasonOf(grant.path) ?? "" })) };
}

export const fileGrant = (files: Files) =>
  tool({
    name: "file.grant",
    description:
      "Let agents and viewers read and edit one guarded file (see file.list: guarded). Answers with all grants. " +
      "Opening a file as the owner allows nobody else anything.",
    access: "owner",
    sensitive: () => true,
    input: z.strictObject({ path: pathField, agent: agentField }),
    output,
    async run({ caller }: Call, { path, agent }) {
      const refused = await files.grant(path, agent, caller.agent);
      return isProblem(refused) ? refused : answer(files);
    },
  });

export const fileRevoke = (files: Files) =>
  tool({
    name: "file.revoke",
    description:
      "Take a grant of file.grant back; it counts from the next call on. Answers with the grants that are left.",
    access: "owner",
    sensitive: () => true,
    input: z.strictObject({ path: pathField, agent: agentField }),
    output,
    async run({ caller }: Call, { path, agent }) {
      const refused = await files.revoke(path, agent, caller.agent);
      return isProblem(refused) ? refused : answer(files);
    },
  });

export const fileGrants = (files: Files) =>
  tool({
    name: "file.grants",
    description: "Which guarded files agents and viewers may read and edit, who allowed it and when.",
    access: "read",
    input: z.strictObject({}),
    output,
    async run() {
      await files.ready();
      return answer(files);
    },
  });
