/** What the tools of running a command again take and answer. Schemas only, and nothing of Node: programs that call them see these types. */

import { contract } from "@blockyard/kernel";
import { z } from "zod";
import { RERUN_MS } from "./limits.ts";

const block_id = z.string().min(1).max(200).describe("A command block");

export const commandConfirm = contract({
  name: "command.confirm",
  input: z.strictObject({
    block_id,
    cwd: z
      .string()
      .min(1)
      .max(4_096)
      .optional()
      .describe("Run it in this folder (absolute path) instead of its own"),
    network: z
      .boolean()
      .optional()
      .describe("Allow network access this once, or not. Default: the server's setting"),
  }),
  output: z.object({
    confirmation: z.string(),
    command: z.string().describe("The exact bytes that run"),
    command_visible: z.string().describe("The same, with invisible characters as ⟨U+…⟩"),
    cwd: z.string(),
    cwd_visible: z.string(),
    version: z.number().int().describe("Of the block"),
    sandbox: z.string().describe("How it would be sandboxed: with or without network; or why not"),
    expires_at: z.number().describe("Wall clock, milliseconds"),
  }),
});

export const commandRun = contract({
  name: "command.run",
  input: z.strictObject({
    block_id,
    confirmation: z.string().min(1).max(100).describe("From command.confirm"),
    limit_ms: z
      .number()
      .int()
      .min(100)
      .max(6 * 60 * 60_000)
      .default(RERUN_MS)
      .describe("Stop the command after this time"),
  }),
  output: z.object({ block_id: z.string() }),
});

export const commandStop = contract({
  name: "command.stop",
  input: z.strictObject({ block_id: block_id.describe("The new block, as returned by command.run") }),
  output: z.object({ stopped: z.boolean() }),
});

/** What the owner can request of commands. */
export const rerunContracts = [commandConfirm, commandRun, commandStop] as const;
