/**
 * Blocks that an import has made carry the keys of their events: by these they are recognised when the same events come
 * again, and by these one import notices another.
 */

import type { Block } from "../model/block.ts";
import type { BlockKey } from "../model/event.ts";
import type { BlockId, ConversationId } from "../model/ids.ts";
import type { JsonObject } from "../model/json.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { Kernel } from "../write/kernel.ts";
import { patiently } from "../write/patience.ts";

/** The key that an import has left in a block. */
export function keyIn({ metadata }: Block): BlockKey | undefined {
  const key = (metadata.extra as JsonObject | undefined)?.["key"];
  return typeof key === "string" ? key : undefined;
}

/** What an event says of a block that was imported, without the loss of its key. */
export function withKeyOf(block: Block, metadata: JsonObject): JsonObject {
  const key = keyIn(block);
  if (key === undefined || metadata.extra === undefined) return metadata;
  return { ...metadata, extra: { ...(metadata.extra as JsonObject | null), key } };
}

/**
 * Others have added blocks to what an import has read. If these carry keys they are another import's of the same events: of
 * two that write at the same time the slower one gives way, or everything would be there twice. Otherwise: how many blocks
 * there are now.
 */
export async function countUnlessImported(
  kernel: Pick<Kernel, "env" | "allBlocks" | "heard" | "store">,
  conversation: ConversationId,
  own: ReadonlySet<BlockId>,
): Promise<number | Problem> {
  const blocks = await patiently(kernel.env, async () => {
    // What the kernel knows of the conversation may be older than its blocks, and is what an import plans on.
    const record = await kernel.store.conversation(conversation);
    await kernel.heard(conversation, record?.seq ?? 0);
    return kernel.allBlocks(conversation);
  });
  if (isProblem(blocks)) return blocks;
  if (!blocks.some((block) => keyIn(block) !== undefined && !own.has(block.id))) return blocks.length;
  return problem("conflict", "another import of this session is already running", {
    conversation,
    importing: true,
  });
}
