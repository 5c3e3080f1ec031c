/**
 * The tool `turn.answer`: what somebody answers to what a running agent asks.
 */

import { type Call, problem, type Tool, tool } from "@blockyard/kernel";
import { z } from "zod";
import type { Turns } from "./turns.ts";

export function answerTool(turns: Turns): Tool<never, unknown> {
  return tool({
    name: "turn.answer",
    description: "Allow or deny what a running agent asks permission for. Only the owner can, and only once.",
    access: "owner",
    carriesText: true,
    sensitive: () => true,
    input: z.strictObject({
      block_id: z.string().max(200).describe("The tool call that waits"),
      ask_id: z.string().max(200).optional().describe("The id of its `ask`"),
      approval_id: z.string().max(200).optional().describe("The same, as earlier versions call it"),
      allow: z.boolean(),
      message: z.string().max(10_000).optional().describe("Why not, for the agent"),
      answers: z
        .record(z.string().max(1_000), z.string().max(10_000))
        .optional()
        .describe("Where the agent asks questions: the answer to each, by its question"),
    }),
    output: z.object({ state: z.enum(["allowed", "denied"]) }),
    async run(call: Call, input) {
      const { block_id: block, allow, message, answers } = input;
      const ask = input.ask_id ?? input.approval_id;
      if (ask === undefined) return problem("invalid", "ask_id is missing: the id of the block's ask");
      return turns.answer(call.caller.agent, block, ask, allow, message, answers);
    },
  }) as unknown as Tool<never, unknown>;
}
