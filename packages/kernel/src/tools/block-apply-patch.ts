/** block.apply_patch: a unified diff, applied completely or not at all. text/patch.ts parses and places it. */

import { z } from "zod";
import { limits } from "../model/limits.ts";
import { isProblem, problem } from "../model/problem.ts";
import { planPatch } from "../text/patch.ts";
import { cleanText } from "../text/sanitize.ts";
import { mayEdit } from "./rights.ts";
import { blockIdField, tool, writer } from "./tool.ts";

const input = z.strictObject({
  block_id: blockIdField,
  patch: z.string().max(limits.patchChars).describe("Unified diff of this block's text"),
  dry_run: z.boolean().default(false).describe("Only report whether and where it applies"),
});

const hunk = z.object({
  line: z.number().int().describe("Where the hunk was found, 0-based, in the text before the patch"),
  offset: z.number().int().describe("Distance from the line in its header"),
  added: z.number().int(),
  removed: z.number().int(),
});

const hunkError = z.object({
  hunk: z.number().int(),
  message: z.string(),
  expected_line: z.number().int().optional(),
  candidates: z.array(z.number().int()).optional(),
  actual: z.string().optional(),
  actual_cut: z.literal(true).optional(),
});

export const blockApplyPatch = tool({
  name: "block.apply_patch",
  description:
    "Apply a unified diff to a block: several hunks, file headers not needed, wrong counts repaired. Every context and " +
    "removed line must match exactly; a moved hunk is found, an ambiguous one is refused. All hunks apply or " +
    "none. Line numbers in @@ headers are 1-based as in any diff; those in the result are 0-based.",
  input,
  output: z.object({
    success: z.boolean(),
    version: z.number().int(),
    hunks: z.array(hunk).optional(),
    errors: z.array(hunkError).optional(),
  }),
  access: "write",
  carriesText: true,
  async run(call, { block_id, patch, dry_run }) {
    const clean = cleanText(patch);
    if (dry_run) {
      const read = await call.kernel.read(block_id);
      if (isProblem(read)) return read;
      const { version } = read.block;
      const plan = planPatch(read.text, clean);
      if ("problem" in plan) return plan;
      if ("errors" in plan) return { success: false, version, errors: plan.errors };
      return { success: true, version, hunks: [...plan.hunks] };
    }
    return call.kernel.writeBlock(block_id, {
      ...writer(call),
      plan: (draft) => {
        const block = draft.block(block_id);
        if (isProblem(block)) return block;
        const refused = mayEdit(call.caller, block);
        if (refused) return refused;
        const plan = planPatch(draft.text(block_id), clean);
        if ("problem" in plan) return plan;
        if ("errors" in plan) {
          const first = plan.errors[0];
          return problem("patch", `nothing was changed; hunk ${first?.hunk}: ${first?.message}`, {
            version: block.version,
            errors: plan.errors,
          });
        }
        const after = plan.splices.length === 0 ? block : draft.splice(block_id, plan.splices);
        return isProblem(after) ? after : { success: true, version: after.version, hunks: [...plan.hunks] };
      },
    });
  },
});
