/**
 * The context of a conversation: the blocks that a model gets. The path from the root to a head, over blocks that
 * continue the conversation, each tool call followed by its results, minus pruned blocks, plus included ones. It
 * selects blocks; the sender converts them to a provider's format.
 *
 * Pruning removes a block together with everything attached to it. The blocks that continue after it stay: so old
 * context can be collapsed and the conversation still continued.
 */

import type { Block, WholeBlock } from "../model/block.ts";
import type { BlockId, ConversationId } from "../model/ids.ts";
import { RESULT_KINDS } from "../model/kind.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { Kernel } from "./kernel.ts";

export interface ContextBlock {
  readonly block: WholeBlock;
  /** Put in from elsewhere; it stands in front of the path. */
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

/** A block of the path, or a result behind its call. A result of a pruned call counts as pruned. */
export type PathBlock = Block;

/** From the root to `head`, tool calls followed by their results, pruned ones marked. A null head has no path. */
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

/** The same, where all blocks of the conversation are at hand. */
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

/** Images and errors are results where they name the call that they answer. */
function isResultByName(call: Block, { kind, metadata }: Block): boolean {
  if (kind !== "image" && kind !== "error") return false;
  return metadata.toolUseId !== undefined && metadata.toolUseId === call.metadata.toolUseId;
}
