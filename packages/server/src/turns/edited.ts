/**
 * Whether a block differs from what an agent's session contains: what the agent wrote, or the prompt as it was sent. An edit that
 * was undone does not count.
 */

import {
  type Block,
  isProblem,
  type Kernel,
  type Op,
  type Problem,
  splicesOf,
  Text,
} from "@blockyard/kernel";

/** By anybody but the agent itself, which knows its own additions. */
export async function isEditedSince(
  kernel: Kernel,
  block: Pick<Block, "id" | "agent" | "role">,
  seq: number,
): Promise<boolean | Problem> {
  const since = await kernel.log(block.id, { seq });
  if (isProblem(since)) return since;
  if (since.compacted) {
    const { editors } = since.compacted;
    // Nobody knows who made it, or one of the others.
    if (editors === undefined || editors.some((by) => block.role === "user" || by !== block.agent))
      return true;
  }
  if (!since.ops.some((op) => isForeign(block, op))) return false;
  const log = await kernel.log(block.id, { version: 0 });
  if (isProblem(log)) return log;
  let text = Text.of(log.compacted?.text ?? "");
  /** As the agent knows it, from the first edit on. */
  let known: string | undefined;
  for (const op of log.ops) {
    const splices = splicesOf(op);
    if (op.seq > seq && isForeign(block, op)) known ??= text.toString();
    // It writes after its own last character, wherever that is now.
    else if (known !== undefined) known = splices.reduce((said, { ins }) => said + ins, known);
    text = text.apply(splices);
  }
  return known !== text.toString();
}

function isForeign({ agent, role }: Pick<Block, "agent" | "role">, { body, agent: by }: Op): boolean {
  return body.type === "splice" && (role === "user" || by !== agent);
}
