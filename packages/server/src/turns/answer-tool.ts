/** The tool `turn.answer`: the owner's answer to a running agent's request. */

import { type AskAnswer, askOf, type Call, isProblem, problem, tool } from "@blockyard/kernel";
import { turnAnswer } from "./contract.ts";
import type { Turns } from "./turns.ts";
import { byQuestion } from "./write-answer.ts";

export function answerTool(turns: Turns) {
  return tool({
    ...turnAnswer,
    description:
      "Answer a running agent's request: allow or deny a call or a plan, choose options of its questions, fill in its form. " +
      "Only the owner can answer, and only once.",
    access: "owner",
    carriesText: true,
    sensitive: () => true,
    async run(call: Call, input) {
      const { block_id: block, allow, message, answers, plan_version: planVersion } = input;
      const ask = input.ask_id ?? input.approval_id;
      if (ask === undefined) return problem("invalid", "ask_id is missing: the id of the block's ask");
      let answer = input.answer as AskAnswer | undefined;
      if (answer === undefined && answers !== undefined) {
        const asking = await call.kernel.block(block);
        if (isProblem(asking)) return asking;
        const asked = askOf(asking.metadata);
        answer = asked && byQuestion(asked, answers);
      }
      return turns.answer(call.caller.agent, block, ask, { allow, message, answer, planVersion });
    },
  });
}
