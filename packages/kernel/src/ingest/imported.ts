/**
 * Imported blocks store the keys of their events. By these keys a repeated import recognizes its blocks, and concurrent imports
 * notice each other.
 */

import type { Block } from "../model/block.ts";
import type { BlockKey } from "../model/event.ts";
import type { BlockId, ConversationId } from "../model/ids.ts";
import type { JsonObject } from "../model/json.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { Kernel } from "../write/kernel.ts";
import { patiently } from "../write/patience.ts";

/** The key that an import stored in a block. */
export function keyIn({ metadata }: Block): BlockKey | undefined {
  const key = (metadata.extra as JsonObject | undefined)?.["key"];
  return typeof key === "string" ? key : undefined;
}

/** An event's metadata for an imported block, with the block's key kept. */
export function withKeyOf(block: Block, metadata: JsonObject): JsonObject {
  const key = keyIn(block);
  if (key === undefined || metadata.extra === undefined) return metadata;
  return { ...metadata, extra: { ...(metadata.extra as JsonObject | null), key } };
}

/**
 * For an import that finds blocks it did not write. If those have keys, another import is writing the same events, and this one
 * must stop, or everything would be there twice. Otherwise returns the current number of blocks.
 */
export async function countUnlessImported(
  kernel: Pick<Kernel, "env" | "allBlocks" | "catchUp" | "store">,
  conversation: ConversationId,
  own: ReadonlySet<BlockId>,
): Promise<number | Problem> {
  const blocks = await patiently(kernel.env, async () => {
    // An import is planned on the kernel's state, so that must be as new as the blocks that are read.
    const record = await kernel.store.conversation(conversation);
    await kernel.catchUp(conversation, record?.seq ?? 0);
    return kernel.allBlocks(conversation);
  });
  if (isProblem(blocks)) return blocks;
  if (!blocks.some((block) => keyIn(block) !== undefined && !own.has(block.id))) return blocks.length;
  return problem("conflict", "another import of this session is already running", {
    conversation,
    importing: true,
  });
}
