/** What the tools of rules take and answer. Schemas only, and nothing of Node: programs that call them see these types. */

import { contract, conversationField } from "@blockyard/kernel";
import { z } from "zod";

export const patternSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("command"),
    words: z.array(z.string().min(1).max(1_000)).min(1).max(50),
    /** Nothing may follow the words. */
    exact: z.literal(true).optional(),
  }),
  z.strictObject({ type: z.literal("path"), folder: z.string().min(1).max(4_096) }),
  z.strictObject({ type: z.literal("domain"), domain: z.string().min(1).max(255) }),
  z.strictObject({
    type: z.literal("tool"),
    tool: z.string().min(1).max(200),
    server: z.string().max(200).optional(),
  }),
]);
export type Pattern = z.infer<typeof patternSchema>;

const effect = z.enum(["allow", "deny"]);
const workspace = z.string().min(1).max(4_096).describe("An absolute path");

export const ruleView = z.object({
  id: z.string(),
  effect,
  words: z.string().describe("What it covers, for people"),
  conversation: z.string().optional(),
  workspace: z.string().optional(),
  pattern: patternSchema,
  by: z.string(),
  at: z.number(),
});

export const ruleList = contract({
  name: "rule.list",
  input: z.strictObject({ conversation: conversationField.optional(), workspace: workspace.optional() }),
  output: z.object({ rules: z.array(ruleView) }),
});

export const ruleSet = contract({
  name: "rule.set",
  input: z.strictObject({
    id: z.string().max(40).optional().describe("The rule to change. Default: a new one"),
    effect,
    conversation: conversationField.optional(),
    workspace: workspace.optional(),
    pattern: patternSchema,
  }),
  output: ruleView,
});

export const ruleRemove = contract({
  name: "rule.remove",
  input: z.strictObject({ id: z.string().max(40) }),
  output: z.object({ removed: z.boolean() }),
});
