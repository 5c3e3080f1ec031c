/** conversation.prune: exclude a block, with what is attached to it, from the models' context, or include it again. */

import { z } from "zod";
import { isProblem } from "../model/problem.ts";
import { blockIdField, mayDecide, tool, writer } from "./tool.ts";

const input = z.strictObject({
  block_id: blockIdField,
  pruned: z.boolean().default(true).describe("false includes it again"),
});

export const conversationPrune = tool({
  name: "conversation.prune",
  description:
    "Exclude a block and what is attached to it (a call's results, a sub-agent's work) from the context that models get, " +
    "or include it again with pruned: false. Nothing is deleted; blocks after it stay.",
  input,
  output: z.object({ version: z.number().int(), pruned: z.boolean() }),
  access: "write",
  run: (call, { block_id, pruned }) =>
    call.kernel.writeBlock(block_id, {
      ...writer(call),
      plan: (draft) => {
        const block = draft.block(block_id);
        if (isProblem(block)) return block;
        const refused = mayDecide(call, block);
        if (refused) return refused;
        const after = draft.prune(block_id, pruned);
        return isProblem(after) ? after : { version: after.version, pruned: after.pruned };
      },
    }),
});
