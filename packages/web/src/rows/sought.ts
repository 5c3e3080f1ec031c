/**
 * The block that somebody wants to see: named by the page's address, or found. The list fetches older blocks until it is
 * there, goes to it, and forgets it. What hides it is opened first.
 */
import { type BlockId, isResult, type View } from "@blockyard/kernel";
import { Cell } from "../state/cell.ts";
import { isOpen, setOpen } from "../state/disclosure.ts";
import { chooseHead, heads } from "../state/page-state.ts";
import { nestedName, pathTo, prunedName } from "./rows.ts";
import { endOf, headOf, treeOf } from "./view-tree.ts";

export const sought = new Cell<Sought | undefined>(undefined);

interface Sought {
  readonly block: BlockId;
  /** For its ask, which is shown also if the block is closed. */
  readonly isAsk: boolean;
  /** What was found in it. */
  readonly words?: string | undefined;
}

export function seek(block: BlockId, words?: string): void {
  sought.set({ block, isAsk: false, words });
}

export function seekAsk(block: BlockId): void {
  sought.set({ block, isAsk: true });
}

/**
 * Opens what hides a block: itself, the calls of the sub-agents above it, its pruned group; and switches to its branch.
 * Returns whether anything had to be opened.
 */
export function reveal(view: View, { block: id, isAsk, words }: Sought): boolean {
  const names: string[] = [];
  const block = view.blocks.get(id);
  if (block && block.kind !== "text" && !isAsk) names.push(id);
  if (block?.kind === "tool_call" && !isAsk && !saysBelow(view, id, words)) names.push(`${id}:input`);
  for (let below = block; below?.side && below.parent !== null; ) {
    const above = view.blocks.get(below.parent);
    if (above?.kind === "tool_call") names.push(isResult(below) ? above.id : nestedName(above.id));
    below = above;
  }
  const main = mainOf(view, id);
  if (main !== undefined) {
    const path = pathTo(view, headOf(view, heads.get().get(view.conversation)));
    const at = path.findIndex((each) => each.id === main);
    if (at === -1) {
      chooseHead(view.conversation, endOf(view, main));
      return true;
    }
    const kept = path.findLastIndex((each, i) => i <= at && !each.pruned);
    if (kept < at) names.push(prunedName(path[kept + 1]?.id ?? main));
  }
  const closed = names.filter((name) => !isOpen(name, false));
  for (const name of closed) setOpen(name, true);
  return closed.length > 0;
}

/** Whether the words are in a call's command, which stands with its result. */
function saysBelow(view: View, call: BlockId, words: string | undefined): boolean {
  if (words === undefined) return false;
  return treeOf(view)
    .sides(call)
    .some((id) => {
      const { command } = view.blocks.get(id)?.metadata ?? {};
      return typeof command === "string" && command.toLowerCase().includes(words.toLowerCase());
    });
}

/** The block on the path to a head that is a block or its ancestor; none if it has no parent. */
function mainOf(view: View, id: BlockId): BlockId | undefined {
  let block = view.blocks.get(id);
  while (block?.side) block = block.parent === null ? undefined : view.blocks.get(block.parent);
  return block?.id;
}
