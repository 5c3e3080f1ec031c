/**
 * How the rules show a result on the page: in full, cut, or only as its call's line. The rules are the kernel's; this
 * file adds what the page knows: what the reader has expanded, and what is attached to it.
 */
import { type Block, type BlockId, type Extent, type Form, formOf } from "@blockyard/kernel";
import { createContext, useContext } from "react";
import { useSides } from "../rows/view-tree.ts";
import { useOpen } from "../state/disclosure.ts";
import { useView } from "../state/session.tsx";

/** The list that is shown in place of a call's own: the latest of its turn. Undefined where the call has no such place. */
const LivingTodo = createContext<BlockId | undefined>(undefined);
export const LivingTodoProvider = LivingTodo.Provider;

export function useLivingTodo(): BlockId | undefined {
  return useContext(LivingTodo);
}

export function useForm(block: Block, extent: Extent): Form {
  const view = useView();
  // A result that is none of the call before it stands on the way itself.
  const above = block.side ? view.blocks.get(block.parent ?? "") : undefined;
  const call = above?.kind === "tool_call" ? above : undefined;
  const [isOpened] = useOpen(call?.id ?? "", false);
  const isFollowed = useSides(block.id).length > 0;
  const isLivingTodo = useLivingTodo() !== undefined;
  const known = { isFollowed, isLivingTodo, isOpened: call !== undefined && isOpened };
  return formOf({ ...block, ...known }, call, extent);
}

/** What is shown of a result, as far as its length does not matter; only whether it has a text. */
export function shortForm(
  result: Block,
  call: Block,
  known: { readonly isFollowed: boolean; readonly isLivingTodo: boolean; readonly isOpened: boolean },
): Form {
  return formOf({ ...result, ...known }, call, { lines: 1, chars: Math.min(1, result.chars) });
}
