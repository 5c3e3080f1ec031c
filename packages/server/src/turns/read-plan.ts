/**
 * A plan that is about to be approved, in the version that the approver has read. Others may edit plans too, up to the
 * last moment: changes after that version are not approved.
 */

import {
  type AgentId,
  type BlockId,
  isProblem,
  type Kernel,
  type Problem,
  problem,
  type WholeBlock,
} from "@blockyard/kernel";
import { editorsOf } from "./voices.ts";

/** `since`: the version that was read; absent: the plan as its agent wrote it, with edits by whoever approves it. */
export async function readPlan(
  kernel: Kernel,
  id: BlockId,
  by: AgentId,
  since: number | undefined,
): Promise<WholeBlock | Problem> {
  const plan = await kernel.whole(id);
  if (isProblem(plan)) return plan;
  const editors = await editorsOf(kernel, plan, since);
  if (isProblem(editors)) return editors;
  const others = editors.filter((each) => each !== by);
  return others.length === 0 ? plan : edited(id, plan.version, others);
}

function edited(block_id: BlockId, version: number, by: readonly string[]): Problem {
  return problem(
    "conflict",
    `the plan was edited by ${by.join(", ")} after you read it: read it again, and answer with its version`,
    { block_id, plan_version: version, edited_by: by },
  );
}
