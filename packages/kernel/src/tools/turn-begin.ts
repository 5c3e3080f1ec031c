/**
 * turn.begin: an agent's own turn, for programs that write with block.*. The agent's blocks in the conversation, until
 * it ends the turn, belong to it: it has `llm_*` events, a footer, a line in turn.list. Only the program runs it.
 */

import { z } from "zod";
import { isProblem } from "../model/problem.ts";
import { endLeased, openBlocksOf, ownTurn } from "../nodes/leased.ts";
import { randomName } from "../ports/env.ts";
import { cleanText } from "../text/sanitize.ts";
import { conversationField, tool, writer } from "./tool.ts";

const name = z.string().min(1).max(200);

const input = z.strictObject({
  conversation: conversationField,
  model: name.optional().describe("The model that answers, if already known"),
  provider: name.optional().describe("The API or agent. Default: your own name"),
  session_id: name.optional().describe("The provider's session id"),
});

export const turnBegin = tool({
  name: "turn.begin",
  description:
    "Begin your own turn: you call the model and write its output with block.create and block.append. The blocks " +
    "you create in the conversation until turn.end belong to the turn. You have one at a time per conversation: " +
    "beginning another ends the previous one as interrupted. It stays open while you keep calling or stay connected.",
  input,
  output: z.object({ turn: z.string() }),
  access: "write",
  async run(call, { conversation, model, provider, session_id }) {
    const { kernel, caller } = call;
    const turn = `turn-${randomName(kernel.env, 8)}`;
    const earlier = await openBlocksOf(kernel, conversation, () => true);
    if (isProblem(earlier)) return earlier;
    return kernel.write(conversation, {
      ...writer(call),
      plan: (draft) => {
        const before = ownTurn(draft, caller.agent);
        if (before) endLeased(draft, before, earlier, { status: "error", reason: "interrupted" });
        draft.setTurn({
          id: turn,
          provider: cleanText(provider ?? caller.agent),
          agent: caller.agent,
          status: "running",
          startedAt: draft.at,
          leased: true,
          ...(model === undefined ? {} : { model: cleanText(model) }),
          ...(session_id === undefined ? {} : { sessionId: cleanText(session_id) }),
        });
        return { turn };
      },
    });
  },
});
