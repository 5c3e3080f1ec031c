/**
 * Asks that were open when their server went away, and that can still be answered: they are shown as what asks, although the
 * conversation does not count them any more.
 */

import { askOf, type Block, type BlockId, isAnswerableLate, type Turn, type View } from "@blockyard/kernel";
import { LATE_ASK_BLOCKS } from "./limits.ts";

type Seen = Pick<View, "order" | "blocks" | "turns">;

export function isLateAsk(view: Pick<View, "turns">, { metadata }: Block): boolean {
  const ask = askOf(metadata);
  return ask?.state === "expired" && isAnswerableLate(ask, metadata.turn, lastTurn(view));
}

export function lateAsks(view: Seen): readonly BlockId[] {
  if (lastTurn(view)?.reason !== "interrupted") return [];
  return view.order.slice(-LATE_ASK_BLOCKS).filter((id) => {
    const block = view.blocks.get(id);
    return block !== undefined && isLateAsk(view, block);
  });
}

export function lastTurn({ turns }: Pick<View, "turns">): Turn | undefined {
  let last: Turn | undefined;
  for (const turn of turns.values()) if (last === undefined || turn.startedAt >= last.startedAt) last = turn;
  return last;
}
