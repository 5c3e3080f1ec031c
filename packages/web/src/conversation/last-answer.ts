/** What a screen reader announces when a turn has ended: its own last text, if it has one. */
import { isEnded, type View } from "@blockyard/kernel";
import { spokenText } from "../blocks/spoken-text.ts";
import { lastTurn } from "../rows/late-asks.ts";
import { SPOKEN_CHARS } from "./limits.ts";

type Seen = Pick<View, "order" | "blocks" | "texts" | "turns">;

export function lastAnswer(view: Seen): string {
  const turn = lastTurn(view)?.id;
  const id = view.order.findLast((known) => {
    const block = view.blocks.get(known);
    if (block?.kind !== "text" || block.role !== "model" || block.side || !isEnded(block.status))
      return false;
    return turn === undefined || block.metadata.turn === turn;
  });
  const text = id === undefined ? undefined : view.texts.get(id)?.slice(0, SPOKEN_CHARS);
  return text ? `Answer finished. ${spokenText(text)}` : "The turn has ended.";
}
