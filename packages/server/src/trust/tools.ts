/** trust.show, trust.allow, trust.revoke: what acts by itself in a folder, and the owner's yes to it. The owner's alone. */

import { type Call, type Tool, tool } from "@blockyard/kernel";
import { z } from "zod";
import type { Trust } from "./trust.ts";

const folder = z.string().min(1).max(4_096).describe("A whole path. Default: the served folder");

const output = z.object({
  folder: z.string(),
  files: z.array(
    z.object({
      path: z.string().describe("From the served folder"),
      reason: z.string().describe("Why it acts by itself"),
      state: z.enum(["trusted", "new", "changed"]),
    }),
  ),
  digest: z.string().describe("Of what is shown, for trust.allow"),
});

export function trustTools(trust: Trust): readonly Tool<never, unknown>[] {
  const show = tool({
    name: "trust.show",
    description:
      "The files of a folder that act by themselves when an agent works there (hooks, MCP servers, instructions, settings), and " +
      "which of them the owner has trusted as they are.",
    access: "owner",
    input: z.strictObject({ folder: folder.optional() }),
    output,
    async run(_: Call, input) {
      return trust.show(input.folder);
    },
  });

  const allow = tool({
    name: "trust.allow",
    description:
      "Trust the files of a folder that act by themselves, exactly as trust.show or a turn's question has shown them. One that is new or " +
      "changes later is asked for again.",
    access: "owner",
    sensitive: () => true,
    input: z.strictObject({ folder: folder.describe("As shown"), digest: z.string().min(1).max(100) }),
    output,
    async run({ caller }: Call, input) {
      return trust.allow(caller.agent, input.folder, input.digest) ?? trust.show(input.folder);
    },
  });

  const revoke = tool({
    name: "trust.revoke",
    description: "Take back the trust in a folder: the next turn there asks.",
    access: "owner",
    sensitive: () => true,
    input: z.strictObject({ folder }),
    output: z.object({ revoked: z.boolean() }),
    async run(_: Call, input) {
      return { revoked: trust.revoke(input.folder) };
    },
  });

  return [show, allow, revoke] as unknown as readonly Tool<never, unknown>[];
}
