/**
 * The tools of running a command again: confirm, run, stop. They stand in the same table as the kernel's, and are the
 * owner's alone.
 */

import { type Call, isProblem, type Tool, tool } from "@blockyard/kernel";
import { z } from "zod";
import type { Reruns } from "./rerun.ts";

const LIMIT_MS = 10 * 60_000;
const block_id = z.string().min(1).max(200).describe("A command block");

export function rerunTools(reruns: Reruns): readonly Tool<never, unknown>[] {
  const confirm = tool({
    name: "command.confirm",
    description:
      "Ask to run the command of a block again. Answers with exactly what would run and where, also with everything spelt " +
      "out that does not show, and with a confirmation for command.run: good once, for a minute, as long as nothing changes. " +
      "It runs where it ran before; where that folder is gone or not inside the served one, name another one with cwd.",
    access: "owner",
    input: z.strictObject({
      block_id,
      cwd: z
        .string()
        .min(1)
        .max(4_096)
        .optional()
        .describe("Run it in this folder, a whole path, instead of its own"),
      network: z
        .boolean()
        .optional()
        .describe("Give it the network, or not, this once. Default: as the server is set"),
    }),
    output: z.object({
      confirmation: z.string(),
      command: z.string().describe("The bytes that run, no others"),
      command_visible: z.string().describe("The same, with what does not show as ⟨U+…⟩"),
      cwd: z.string(),
      cwd_visible: z.string(),
      version: z.number().int().describe("Of the block"),
      sandbox: z
        .string()
        .describe("How it would be confined: sandboxed, with or without network; or not, and why"),
      expires_at: z.number().describe("Wall clock, milliseconds"),
    }),
    async run(call: Call, input) {
      const confirmed = await reruns.confirm(call.caller.agent, input.block_id, {
        chosen: input.cwd,
        network: input.network,
      });
      if (isProblem(confirmed)) return confirmed;
      const { commandVisible, cwdVisible, expiresAt, ...rest } = confirmed;
      return { ...rest, command_visible: commandVisible, cwd_visible: cwdVisible, expires_at: expiresAt };
    },
  });

  const run = tool({
    name: "command.run",
    description:
      "Run the command of a block again, as it was confirmed, with /bin/bash and no start-up files. Its output appears in a " +
      "new command block below.",
    access: "owner",
    sensitive: () => true,
    input: z.strictObject({
      block_id,
      confirmation: z.string().min(1).max(100).describe("From command.confirm"),
      limit_ms: z
        .number()
        .int()
        .min(100)
        .max(6 * 60 * 60_000)
        .default(LIMIT_MS)
        .describe("It is stopped after this time"),
    }),
    output: z.object({ block_id: z.string() }),
    async run(call: Call, { block_id: id, confirmation, limit_ms }) {
      const created = await reruns.run(call.caller.agent, id, confirmation, limit_ms);
      return isProblem(created) ? created : { block_id: created };
    },
  });

  const stop = tool({
    name: "command.stop",
    description: "Stop a command that command.run has started, with everything that it started.",
    access: "owner",
    input: z.strictObject({ block_id: block_id.describe("The new block, as command.run answered") }),
    output: z.object({ stopped: z.boolean() }),
    async run(_call: Call, input) {
      return reruns.stop(input.block_id);
    },
  });

  return [confirm, run, stop] as unknown as readonly Tool<never, unknown>[];
}
