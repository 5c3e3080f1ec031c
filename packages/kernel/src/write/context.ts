/**
 * The context of a conversation: the blocks that a model receives. It is the path from the root to a head, each tool call followed
 * by its results, without pruned blocks and with included ones. This file selects blocks; drivers convert them to
 * their provider's format.
 *
 * Pruning removes a block with everything attached to it on the side. Later blocks on the path stay, so old context can be
 * removed and the conversation continued.
 */

import type { Block, WholeBlock } from "../model/block.ts";
import type { BlockId, ConversationId } from "../model/ids.ts";
import { RESULT_KINDS } from "../model/kind.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { Kernel } from "./kernel.ts";

export interface ContextBlock {
  readonly block: WholeBlock;
  /** From another conversation; included blocks come before the path. */
  readonly included: boolean;
}

export async function contextOf(
  kernel: Kernel,
  conversation: ConversationId,
  head?: BlockId,
): Promise<readonly ContextBlock[] | Problem> {
  const record = await kernel.conversation(conversation);
  if (isProblem(record)) return record;
  const outline = await pathOf(kernel, conversation, head ?? record.head);
  if (isProblem(outline)) return outline;
  const inPath = new Set(outline.map(({ id }) => id));
  const context: ContextBlock[] = [];
  for (const id of record.included) {
    const block = await kernel.whole(id);
    if (isProblem(block) && block.problem !== "not_found" && block.problem !== "gone") return block;
    if (!isProblem(block) && !inPath.has(id)) context.push({ block, included: true });
  }
  for (const { id, pruned } of outline) {
    if (pruned) continue;
    const block = await kernel.whole(id);
    if (isProblem(block)) return block;
    context.push({ block, included: false });
  }
  return context;
}

/** A block of the path, or a result after its call. Results of a pruned call count as pruned. */
export type PathBlock = Block;

/** The path from the root to `head`, with results after their calls, including pruned blocks. Empty if `head` is null. */
export async function pathOf(
  kernel: Kernel,
  conversation: ConversationId,
  head: BlockId | null,
): Promise<readonly PathBlock[] | Problem> {
  if (head === null) return [];
  const end = await kernel.block(head);
  if (isProblem(end)) return end;
  if (end.conversation !== conversation) {
    return problem("not_found", `block ${head} is not in conversation ${conversation}`, { block_id: head });
  }
  const blocks = await kernel.allBlocks(conversation);
  return isProblem(blocks) ? blocks : pathIn(blocks, head);
}

/** The same, from all blocks of the conversation. */
export function pathIn(blocks: readonly Block[], head: BlockId): readonly PathBlock[] {
  const known = new Map(blocks.map((block) => [block.id, block]));
  const results = Map.groupBy(
    blocks.filter((block) => block.side && block.parent !== null),
    ({ parent }) => parent as BlockId,
  );
  const path: Block[] = [];
  for (
    let at: Block | undefined = known.get(head);
    at;
    at = at.parent === null ? undefined : known.get(at.parent)
  ) {
    if (!at.side) path.push(at);
  }
  return path.reverse().flatMap((block) => [block, ...resultsOf(block, results.get(block.id) ?? [])]);
}

function resultsOf(call: Block, hanging: readonly Block[]): PathBlock[] {
  if (call.kind !== "tool_call") return [];
  return hanging
    .filter((block) => RESULT_KINDS.includes(block.kind) || isResultByName(call, block))
    .map((block) => (call.pruned ? { ...block, pruned: true } : block));
}

/** Images and errors are results if they name their call. */
function isResultByName(call: Block, { kind, metadata }: Block): boolean {
  if (kind !== "image" && kind !== "error") return false;
  return metadata.toolUseId !== undefined && metadata.toolUseId === call.metadata.toolUseId;
}
