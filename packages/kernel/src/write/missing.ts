/**
 * Loads what a write's plan was missing, so that it can be planned again. It throws if that fails; then only this write fails.
 */

import type { BlockId } from "../model/ids.ts";
import type { BaseState } from "./base-state.ts";
import type { Missing } from "./draft-base.ts";
import type { Queued } from "./write.ts";

/** What is missing, and for which write. */
export interface MissingPart {
  readonly what: Missing["what"];
  readonly write: Queued;
}

/** `catchUp` reads other nodes' commits. */
export async function loadMissing(
  base: BaseState,
  { what, write }: MissingPart,
  catchUp: () => Promise<void>,
): Promise<void> {
  if ("news" in what) {
    write.isFresh = true;
    return catchUp();
  }
  if ("block" in what) return base.loadBlock(what.block);
  const id = "text" in what ? what.text : what.undo;
  const text = await base.loadText(id, "undo" in what);
  await loadAgain(base, write, id);
  if (await base.isBehind(text)) await catchUp();
}

/** Reloads the plan's earlier texts too: otherwise two texts could evict each other forever. */
async function loadAgain(base: BaseState, write: Queued, id: BlockId): Promise<void> {
  for (const other of write.texts ?? []) await base.loadText(other);
  write.texts = (write.texts ?? new Set()).add(id);
}
