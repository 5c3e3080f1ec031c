/** What the tools of trust take and answer. Schemas only, and nothing of Node: programs that call them see these types. */

import { contract } from "@blockyard/kernel";
import { z } from "zod";

const folder = z
  .string()
  .min(1)
  .max(4_096)
  .regex(/^[^\0]*$/, "a path has no zero character")
  .describe("An absolute path. Default: the served folder");

const output = z.object({
  folder: z.string(),
  files: z.array(
    z.object({
      path: z.string().describe("Relative to the served folder"),
      reason: z.string().describe("Why it matters"),
      state: z.enum(["trusted", "new", "changed"]),
    }),
  ),
  digest: z.string().describe("Digest of what is shown, for trust.allow"),
});

export const trustShow = contract({
  name: "trust.show",
  input: z.strictObject({ folder: folder.optional() }),
  output,
});

export const trustAllow = contract({
  name: "trust.allow",
  input: z.strictObject({ folder: folder.describe("As shown"), digest: z.string().min(1).max(100) }),
  output,
});

export const trustRevoke = contract({
  name: "trust.revoke",
  input: z.strictObject({ folder }),
  output: z.object({ revoked: z.boolean() }),
});

/** What the owner can request of trust. */
export const trustContracts = [trustShow, trustAllow, trustRevoke] as const;
