/**
 * What a model would be sent now: the blocks of a conversation's context, and the resulting exchange. The built-in loop
 * uses it, and `conversation.context` returns it to programs with their own loop: both see the same.
 */

import {
  type BlockId,
  type ContextBlock,
  type ConversationId,
  contextOf,
  isProblem,
  type Kernel,
  type Problem,
} from "@blockyard/kernel";
import { withPictures } from "../attachments.ts";
import { signed } from "../voices.ts";
import { type ContextRules, exchangeOf } from "./context.ts";
import type { Exchange } from "./exchange.ts";

interface ContextRequest extends ContextRules {
  readonly conversation: ConversationId;
  /** Up to this block; by default up to the conversation's head. */
  readonly head?: BlockId | undefined;
  /** Only what this turn has said, and what is included. */
  readonly freshTurn?: string | undefined;
}

export interface ModelContext {
  readonly blocks: readonly ContextBlock[];
  readonly exchange: Exchange;
}

export async function modelContext(
  kernel: Kernel,
  { conversation, head, freshTurn, ...rules }: ContextRequest,
): Promise<ModelContext | Problem> {
  const all = await contextOf(kernel, conversation, head);
  if (isProblem(all)) return all;
  const from = freshTurn === undefined ? -1 : all.findIndex(({ block }) => block.metadata.turn === freshTurn);
  const blocks = from === -1 ? all : all.filter(({ included }, i) => included || i >= from);
  const shown = await withPictures(kernel.store, blocks);
  const marked = rules.voices === undefined ? shown : await signed(kernel, shown, rules.voices);
  return isProblem(marked) ? marked : { blocks, exchange: exchangeOf(marked, rules) };
}
