/** Follows the conversations that a call names, because other nodes may commit to them too. */

import { type BlockId, type ConversationId, conversationOf } from "../model/ids.ts";
import { isProblem } from "../model/problem.ts";
import type { Kernel } from "../write/kernel.ts";

/** Until the returned function is called. A conversation that cannot be followed does not exist: reading it reports that. */
export async function followAll(
  kernel: Kernel,
  blocks: readonly BlockId[],
  conversation: ConversationId | undefined,
): Promise<() => void> {
  if (!kernel.isShared) return () => undefined;
  const ids = new Set([...blocks.map(conversationOf), ...(conversation === undefined ? [] : [conversation])]);
  const followed = await Promise.all([...ids].map((id) => kernel.follow(id)));
  return () => {
    for (const stop of followed) if (!isProblem(stop)) stop();
  };
}
