/**
 * The block that somebody wants to see: named by the page's address, or found. The list fetches older blocks until it is
 * there, goes to it, and forgets it. What hides it is opened first.
 */
import type { BlockId, View } from "@blockyard/kernel";
import { Cell } from "../cell.ts";
import { isOpen, setOpen } from "../disclosure.ts";
import { isResult, nestedName } from "./rows.ts";

export const sought = new Cell<BlockId | undefined>(undefined);

/** Opens what a block is folded into: itself, and the calls whose sub-agents it is the work of. Whether anything was closed. */
export function reveal(view: View, id: BlockId): boolean {
  const names: string[] = [];
  const block = view.blocks.get(id);
  if (block && block.kind !== "text") names.push(id);
  for (let below = block; below?.side && below.parent !== null; ) {
    const above = view.blocks.get(below.parent);
    if (above?.kind === "tool_call" && !isResult(below.kind, below.metadata))
      names.push(nestedName(above.id));
    below = above;
  }
  const closed = names.filter((name) => !isOpen(name, false));
  for (const name of closed) setOpen(name, true);
  return closed.length > 0;
}
