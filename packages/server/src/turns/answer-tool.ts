/**
 * The tool `turn.answer`: what somebody answers to what a running agent asks.
 */

import { type AskAnswer, askOf, type Call, isProblem, problem, type Tool, tool } from "@blockyard/kernel";
import { z } from "zod";
import type { Turns } from "./turns.ts";
import { byQuestion } from "./write-answer.ts";

const label = z.string().max(1_000);
const words = z.string().max(10_000);

const answerField = z
  .strictObject({
    questions: z
      .record(
        z.string().max(200),
        z.strictObject({
          chosen: z.array(label).max(100),
          text: words.optional(),
          notes: words.optional(),
          skipped: z.literal(true).optional(),
        }),
      )
      .optional()
      .describe("By the question's id: the labels that were chosen, own words, notes, or skipped"),
    text: words.optional().describe("Said instead of answering the questions"),
    content: z.record(z.string().max(200), z.unknown()).optional().describe("The fields of a form"),
    suggestion: z.string().max(200).optional().describe("The suggestion to take, by its id"),
  })
  .describe("What is answered, beside allow");

export function answerTool(turns: Turns): Tool<never, unknown> {
  return tool({
    name: "turn.answer",
    description:
      "Answer what a running agent asks: allow or deny a call or a plan, choose among the options of its questions, fill its form. " +
      "Only the owner can, and only once.",
    access: "owner",
    carriesText: true,
    sensitive: () => true,
    input: z.strictObject({
      block_id: z.string().max(200).describe("The block that asks"),
      ask_id: z.string().max(200).optional().describe("The id of its `ask`"),
      approval_id: z.string().max(200).optional().describe("The same, as earlier versions call it"),
      allow: z.boolean().describe("False: deny, decline, or go on planning"),
      message: z.string().max(10_000).optional().describe("Why not, for the agent"),
      answer: answerField.optional(),
      answers: z
        .record(z.string().max(1_000), z.string().max(10_000))
        .optional()
        .describe("Where the agent asks questions: the answer to each, by its question"),
    }),
    output: z.object({ state: z.enum(["allowed", "denied", "answered"]) }),
    async run(call: Call, input) {
      const { block_id: block, allow, message, answers } = input;
      const ask = input.ask_id ?? input.approval_id;
      if (ask === undefined) return problem("invalid", "ask_id is missing: the id of the block's ask");
      let answer = input.answer as AskAnswer | undefined;
      if (answer === undefined && answers !== undefined) {
        const asking = await call.kernel.block(block);
        if (isProblem(asking)) return asking;
        const asked = askOf(asking.metadata);
        answer = asked && byQuestion(asked, answers);
      }
      return turns.answer(call.caller.agent, block, ask, { allow, message, answer });
    },
  }) as unknown as Tool<never, unknown>;
}
