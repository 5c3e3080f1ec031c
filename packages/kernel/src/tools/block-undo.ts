/** block.undo and block.redo: revert or reapply the caller's own last undo steps in a block, and nobody else's. */

import { z } from "zod";
import type { BlockId } from "../model/ids.ts";
import { isProblem, type Problem } from "../model/problem.ts";
import { mayEdit } from "./rights.ts";
import { blockIdField, type Call, tool, writer } from "./tool.ts";

const input = z.strictObject({
  block_id: blockIdField,
  count: z
    .number()
    .int()
    .min(1)
    .max(100)
    .default(1)
    .describe("How many of your undo steps; fewer if there are fewer"),
});

const output = z.object({
  version: z.number().int(),
  units: z
    .array(z.object({ unit: z.number().int(), inserted: z.number().int(), deleted: z.number().int() }))
    .describe("The steps that were reverted, in order, with the characters inserted and removed now"),
});

type Output = z.infer<typeof output>;

export const blockUndo = tool({
  name: "block.undo",
  description:
    "Undo your own last edit of a block (one tool call, one append session or one burst of typing is one step). Edits " +
    "by others stay, whatever came after. Fails with `nothing` if you have nothing to undo.",
  input,
  output,
  access: "write",
  run: (call, { block_id, count }) => flip(call, block_id, "undo", count),
});

export const blockRedo = tool({
  name: "block.redo",
  description: "Redo what you last undid with block.undo, unless you have edited the block since.",
  input,
  output,
  access: "write",
  run: (call, { block_id, count }) => flip(call, block_id, "redo", count),
});

function flip(call: Call, id: BlockId, type: "undo" | "redo", count: number): Promise<Output | Problem> {
  return call.kernel.writeBlock(id, {
    ...writer(call),
    plan: (draft) => {
      const block = draft.block(id);
      if (isProblem(block)) return block;
      // Taking back what it once wrote there leaves the owner's words; putting it back would not.
      const refused = type === "redo" ? mayEdit(call.caller, block) : undefined;
      if (refused) return refused;
      const units: Output["units"] = [];
      let version = 0;
      for (let i = 0; i < count; i++) {
        const done = draft.undo(id, type);
        if (isProblem(done)) {
          if (done.problem === "nothing" && units.length > 0) break;
          return done;
        }
        const inserted = done.splices.reduce((sum, { ins }) => sum + ins.length, 0);
        const deleted = done.splices.reduce((sum, { del }) => sum + del.length, 0);
        units.push({ unit: done.unit, inserted, deleted });
        version = done.block.version;
      }
      return { version, units };
    },
  });
}
