/** conversation.include: add a block from elsewhere (a file, another conversation's answer) to the context. */

import { z } from "zod";
import { limits } from "../model/limits.ts";
import { isProblem, problem } from "../model/problem.ts";
import { mayDirect } from "./rights.ts";
import { blockIdField, conversationField, tool, writer } from "./tool.ts";

const input = z.strictObject({
  conversation: conversationField,
  block_id: blockIdField,
  included: z.boolean().default(true).describe("false removes it again"),
});

export const conversationInclude = tool({
  name: "conversation.include",
  description:
    "Include a block from anywhere (a file, another conversation's answer) in the context that this conversation's " +
    "models are given, as it is at that time; included: false removes it again.",
  input,
  output: z.object({ included: z.array(z.string()) }),
  access: "write",
  async run(call, { conversation, block_id, included }) {
    const block = await call.kernel.block(block_id);
    if (isProblem(block)) return block;
    return call.kernel.write(conversation, {
      ...writer(call),
      plan: (draft) => {
        const refused = mayDirect(call.caller, draft.record);
        if (refused) return refused;
        const now = draft.record.included;
        if (included && !now.includes(block_id) && now.length >= limits.includedBlocks) {
          return problem("too_large", `${now.length} blocks are included, which is the limit`, {
            included: now.length,
            max: limits.includedBlocks,
          });
        }
        if (now.includes(block_id) !== included) {
          draft.conversation(included ? { include: block_id } : { exclude: block_id });
        }
        return { included: [...draft.record.included] };
      },
    });
  },
});
